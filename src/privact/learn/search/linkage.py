"""Average linkage: the start of the default search, exact up to a few thousand users.

A node that average linkage makes never gains from a local swap: when it joins A and B, their average dissimilarity is at
most that of A or B to any other cluster C, so |C| W(A,B) <= |B| W(A,C). Its trees are local optima of the swap chain;
what improves them is a wider move (regrafts.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.learn.limits import LIMITS, Limits
from privact.learn.scale.population import Population
from privact.learn.search._swaps import fill
from privact.learn.search.search import FoundTree, SearchOptions
from privact.learn.search.search_state import found_tree, hold_points, state_of
from privact.tree.embedding import Embedding


def average_linkage(embedding: Embedding, limits: Limits = LIMITS) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The children of each internal node of the average linkage tree, merges in order, the root last."""
    if len(embedding) > limits.linkage:
        raise InputError(
            f"search='linkage' keeps all pairs and takes at most {limits.linkage:,} users, not {len(embedding):,}: "
            "use search='linkage+gentree'"
        )
    return linkage_children(embedding.condensed())


def other_average_linkage(embedding: Embedding) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Average linkage as SciPy takes it: where dissimilarities are equal, other pairs are joined first."""
    from scipy.cluster.hierarchy import linkage

    condensed = embedding.condensed()
    merges = linkage(condensed - condensed.min(), method="average")  # a constant more or less changes no merge
    return merges[:, 0].astype(np.int32), merges[:, 1].astype(np.int32)


def linkage_children(condensed: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Average linkage of condensed dissimilarities, which are overwritten."""
    import fastcluster

    merges: NDArray[Any] = fastcluster.linkage(condensed, method="average", preserve_input=False)
    left, right = merges[:, 0].astype(np.int32), merges[:, 1].astype(np.int32)
    same = int(np.searchsorted(merges[:, 2], 0.0, side="right")) if merges[0, 2] == 0.0 else 0
    return _balance_same(left, right, same) if same else (left, right)


def _balance_same(left: NDArray[np.int32], right: NDArray[np.int32], same: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The same merges, but users who do not differ at all are joined two by two instead of one after the other.

    same: how many of the first merges join users who do not differ.
    """
    n = len(left) + 1
    groups: dict[int, list[int]] = {}  # by the node that holds the whole group so far
    for i in range(same):
        a, b = int(left[i]), int(right[i])
        groups[n + i] = groups.pop(a, [a]) + groups.pop(b, [b])
    left, right = left.copy(), right.copy()
    names = np.arange(2 * n - 1, dtype=np.int32)
    made = 0
    for node, members in groups.items():
        while len(members) > 1:
            pairs = [(members[i], members[i + 1]) for i in range(0, len(members) - 1, 2)]
            odd = members[len(members) - len(members) % 2 :]
            members = []
            for a, b in pairs:
                left[made], right[made] = a, b
                members.append(n + made)
                made += 1
            members += odd
        names[node] = members[0]
    left[same:], right[same:] = names[left[same:]], names[right[same:]]
    return left, right


def search_by_linkage(population: Population, options: SearchOptions) -> FoundTree:
    """Average linkage of all pairs, as it is."""
    points = hold_points(population)
    options.progress("average linkage", 0, len(points))
    state = state_of(points, *average_linkage(points, options.limits))
    return found_tree(state, [fill(state)])
