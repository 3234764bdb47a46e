"""Table 1 of the paper: the sizes of the three networks."""

from __future__ import annotations

from typing import Any

from privact.experiments.experiment import Task
from privact.network.datasets import TABLE_1

__all__ = ["measure"]

DENSITY = {"lastfm": 0.0075, "delicious": 0.0056, "douban": 0.0062}
"""Densities that the paper states, to four places."""


def measure(task: Task) -> dict[str, Any]:
    """Count users, contacts and density of the largest component of each network, beside what the paper states."""
    rows: list[dict[str, Any]] = []
    for name, stated in TABLE_1.items():
        task.progress(name, 0, 0)
        graph = task.networks.graph(name)
        density = 2 * graph.n_edges / (graph.n_users * (graph.n_users - 1))
        rows.append(
            {
                "dataset": name,
                "n_users": graph.n_users,
                "n_edges": graph.n_edges,
                "density": density,
                "paper_n_users": stated.n_users,
                "paper_n_edges": stated.n_edges,
                "paper_density": DENSITY[name],
            }
        )
    return {"rows": rows}
