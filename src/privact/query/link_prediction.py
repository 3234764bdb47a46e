"""Link prediction by tree distance: how often two contacts are nearer in the tree than two users who are none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.tree.hct import HierarchicalClusterTree

__all__ = ["find_community_sizes", "measure_link_auc"]


def measure_link_auc(tree: HierarchicalClusterTree, one: NDArray[Any], other: NDArray[Any]) -> float:
    """The chance that a pair of contacts is nearer in the tree than a pair who are none, ties counted half; exact.

    It is the area under the ROC curve of all pairs, ranked by the size of the smallest cluster that holds both: 0.5 for a tree
    that knows nothing, 1 for one that tells contacts from all others. NaN if there are no pairs of one kind. No pair of users
    who are not contacts is visited: how many pairs a cluster holds first follows from its size.

    one, other: (c) leaves of the contacts, each pair of users once.
    """
    n = tree.n_users
    inside = tree.size[n:]
    across = tree.size[tree.left].astype(np.float64) * tree.size[tree.right]
    pairs = np.bincount(inside, weights=across, minlength=n + 1)
    linked = np.bincount(find_community_sizes(tree, one, other), minlength=n + 1).astype(np.float64)
    apart = pairs - linked
    if linked.sum() == 0.0 or apart.sum() == 0.0:
        return float("nan")
    farther = apart.sum() - np.cumsum(apart)
    return float((linked * (farther + apart / 2.0)).sum() / (linked.sum() * apart.sum()))


def find_community_sizes(tree: HierarchicalClusterTree, one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.int64]:
    """(c) how many users the smallest cluster holds that holds both of two different leaves.

    Between two places of the leaf order the lowest common node is the largest of the nodes that join neighbours. Maxima over
    stretches of 1, 2, 4, ... neighbours answer all pairs, the nearest first, with one table in memory at a time.
    """
    places = np.sort(np.stack([tree.start[one], tree.start[other]]).astype(np.int64), axis=0)
    length = places[1] - places[0]
    level = np.frexp(length.astype(np.float64))[1] - 1  # floor of the binary logarithm
    by_level = np.argsort(level, kind="stable")
    bounds = np.searchsorted(level[by_level], np.arange(int(level.max(initial=-1)) + 2))
    found = np.empty(len(length), np.int64)
    largest = tree.joins
    for k in range(len(bounds) - 1):
        chosen = by_level[bounds[k] : bounds[k + 1]]
        found[chosen] = np.maximum(largest[places[0, chosen]], largest[places[1, chosen] - (1 << k)])
        if k + 2 < len(bounds):
            largest = np.maximum(largest[: -(1 << k)], largest[1 << k :])
    return np.asarray(tree.size[found], dtype=np.int64)
