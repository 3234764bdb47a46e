"""Which missing links are likely: pi at the lowest common node, averaged over sampled trees (Clauset, Moore, Newman 2008).

>>> from privact.baselines.cmn import sample_cmn
>>> from privact.baselines.random_graph_model import HierarchicalRandomGraph
>>> from privact.simulate.known_graphs import cliques
>>> graph = cliques([4, 5]).graph
>>> models = [HierarchicalRandomGraph.fit(tree, graph) for tree in sample_cmn(graph, 20, random_state=0)]
>>> inside, between = link_scores(models, [(0, 1), (0, 8)])
>>> bool(inside > between)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.baselines.likelihood import require_same_users
from privact.baselines.random_graph_model import HierarchicalRandomGraph
from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.tree.counts import check_count

__all__ = ["MissingLinks", "link_scores", "missing_links"]

_CELLS = 4_000_000  # scores in memory at a time


@dataclass(frozen=True, eq=False)
class MissingLinks:
    """The likeliest pairs that are not linked, likeliest first.

    pairs: (m, 2) row numbers u < v; of equally likely pairs the smaller comes first.
    scores: (m) average probability of each.
    """

    pairs: NDArray[np.int64]
    scores: NDArray[np.float64]


def link_scores(models: Sequence[HierarchicalRandomGraph], pairs: ArrayLike) -> NDArray[np.float64]:
    """(q) how likely each pair of users is linked, averaged over models.

    models: one per sampled tree, over the same users.
    pairs: (q, 2) leaf numbers of different users.
    """
    _require_models(models)
    return np.asarray(sum(model.link_probabilities(pairs) for model in models) / len(models))


def missing_links(models: Sequence[HierarchicalRandomGraph], graph: ContactGraph, m: int) -> MissingLinks:
    """The m likeliest links that the graph does not have. Every pair is scored: O(models n^2).

    models: one per sampled tree, over the users of the graph.
    m: how many; more than there are gives all.
    """
    from privact.baselines._random_graph import add_row

    m = check_count("m", m)
    _require_models(models)
    for model in models:
        require_same_users(model.tree, graph)
    n = graph.n_users
    rows, columns, best = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    block = max(1, _CELLS // n)
    for begin in range(0, n, block):
        users = np.arange(begin, min(begin + block, n))
        scores = np.zeros((len(users), n))
        for model in models:
            tree = model.tree
            for user, row in zip(users, scores, strict=True):
                add_row(tree.order, tree.start[user], tree.joins, model.probabilities, row)
        scores /= len(models)
        scores[np.arange(n) <= users[:, None]] = -1.0
        for user, row in zip(users, scores, strict=True):
            row[graph.indices[graph.indptr[user] : graph.indptr[user + 1]]] = -1.0
        # Pairs come in ascending order, so one that merely equals the last of the best so far is not among the best.
        found = np.nonzero(scores > (best[-1] if len(best) == m else -0.5))
        rows, columns = np.append(rows, users[found[0]]), np.append(columns, found[1])
        best = np.append(best, scores[found])
        keep = np.argsort(-best, kind="stable")[:m]
        rows, columns, best = rows[keep], columns[keep], best[keep]
    return MissingLinks(np.column_stack((rows, columns)), best)


def _require_models(models: Sequence[HierarchicalRandomGraph]) -> None:
    if len(models) == 0:
        raise InputError("no models were given: fit at least one to a tree")
