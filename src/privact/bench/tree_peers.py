"""Other ways to learn a tree, on the vectors that our default search gets: utility, seconds, and the contacts that they find."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from privact.baselines.linkage_peers import GRAPH_LEARNERS, TREE_LEARNERS
from privact.experiments.running.seeded_trees import SeededNetwork
from privact.network.graph import ContactGraph
from privact.protocol.round import default_bins
from privact.query.quality import measure_contact_share
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["compare_peers"]


def compare_peers(graph: ContactGraph, show: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """One row for each way to learn a tree, on exact vectors in one random partition.

    `method`; `sees`: "counts" in bins, or "contacts" themselves, which is not private; `relative_utility`; `share_of_contacts`
    among a user's nearest users; `seconds`, after everything is compiled.
    """
    run = SeededNetwork(graph, default_bins(graph.n_users), 0)
    adjacency = graph.to_scipy()
    learners: dict[tuple[str, str], tuple[Callable[..., HierarchicalClusterTree], Any]] = {
        **{("counts", name): (learn, run.vectors) for name, learn in TREE_LEARNERS.items()},
        **{("contacts", name): (learn, graph) for name, learn in GRAPH_LEARNERS.items()},
    }
    for (sees, name), (learn, users) in learners.items():
        show(f"trees by {name}")
        if sees == "counts":
            learn(run.vectors[:64], random_state=0)  # compile and import before the clock starts
        begin = time.perf_counter()
        tree = learn(users, random_state=0)
        seconds = time.perf_counter() - begin
        yield {
            "method": name,
            "sees": sees,
            "relative_utility": run.utility(tree),
            "share_of_contacts": measure_contact_share(tree, adjacency),
            "seconds": seconds,
        }
