"""Late joiners: are the communities of users placed afterwards like those of a tree that was learned with them?"""

from __future__ import annotations

from typing import Any

import numpy as np

from privact.experiments.running.seeded_trees import denoise, random_partition
from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.placement import place
from privact.learn.search.learn_tree import learn_tree
from privact.network.graph import ContactGraph
from privact.protocol.round import default_bins, epsilon_per_report
from privact.simulate.reports import degree_vectors, simulate_reports
from privact.tree.cost import dasgupta_cost

COMMUNITY = 50


def compare_joiners(graph: ContactGraph, epsilon: float, seed: int, share: float = 0.1) -> dict[str, Any]:
    """Hold out a share of users, place them by their reports, and compare with a tree learned from all reports.

    Returns, averaged over the held-out users, the noise-free dissimilarity to their community of at least 50 users when
    placed, when learned together, and to anybody; how much of the learned community the placed one shares (Jaccard),
    beside what two halves of chance would share; and the cost of the grafted tree over that of the relearned one.
    """
    rng = np.random.default_rng(seed)
    n, n_bins = graph.n_users, default_bins(graph.n_users)
    vectors = degree_vectors(graph, random_partition(n, n_bins, rng), n_bins)
    reports = simulate_reports(vectors, epsilon, rng)
    order = rng.permutation(n)
    late, early = order[: int(share * n)], order[int(share * n) :]

    posterior = CountPosterior.fit(reports[early], epsilon_per_report(epsilon), equal_bins=True)
    embedding = posterior.embed(reports[early])
    tree = learn_tree(embedding, random_state=seed)
    placed = place(tree, embedding, posterior.embed(reports[late]))
    together = learn_tree(denoise(reports, epsilon), random_state=seed)

    rows: dict[str, list[float]] = {"placed": [], "relearned": [], "anybody": [], "shared": [], "shared_by_chance": []}
    for i, user in enumerate(late):
        found = early[placed.community(i, COMMUNITY).leaves]
        learned = together.community(int(user), COMMUNITY).leaves
        learned = learned[learned != user]
        for name, members in (("placed", found), ("relearned", learned), ("anybody", early)):
            rows[name].append(float(np.maximum(1, np.abs(vectors[members] - vectors[user]).sum(axis=1)).mean()))
        rows["shared"].append(_jaccard(found, np.setdiff1d(learned, late)))
        rows["shared_by_chance"].append(_jaccard(rng.choice(early, len(found), replace=False), np.setdiff1d(learned, late)))
    grafted, everyone = placed.grafted(), np.concatenate([early, late])
    ratio = dasgupta_cost(grafted, vectors[everyone]) / dasgupta_cost(together, vectors)
    return {"epsilon": epsilon, "held_out": len(late), **{k: float(np.mean(v)) for k, v in rows.items()}, "cost_ratio": ratio}


def _jaccard(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    return len(np.intersect1d(a, b)) / max(1, len(np.union1d(a, b)))
