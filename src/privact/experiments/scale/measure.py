"""What the experiment on scale measures: a modest part of `privact bench scale`."""

from __future__ import annotations

from typing import Any

from privact.experiments.experiment import Task
from privact.experiments.scale.sizes import measure_sizes

__all__ = ["LARGEST", "PEER_SIZE", "measure"]

PEER_SIZE = 10_000
"""Peers are measured at this size alone: most of them visit every pair of users."""

LARGEST = 100_000
"""Where the paper's authors say that theirs stops."""

PATIENCE = 120.0
"""Seconds that a peer is given."""


def measure(task: Task) -> dict[str, Any]:
    """Seconds, memory and utility of trees over made-up networks.

    quick: 2,000 and 10,000 users without peers, rather than 10,000 with peers and 100,000.
    """

    def show(text: str) -> None:
        task.progress(text, 0, 0)

    if task.quick:
        found = measure_sizes(show, (2_000, PEER_SIZE), peers=False)
    else:
        found = measure_sizes(show, (PEER_SIZE,), PATIENCE)
        found["rows"] += measure_sizes(show, (LARGEST,), peers=False)["rows"]
    return {"quick": task.quick, **found}
