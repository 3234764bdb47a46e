"""Bisecting k-means down to single users: two means again and again, the peer that scales of those that are not linkages.

scikit-learn's BisectingKMeans makes a few clusters; asked for as many as users it takes minutes for a thousand. This is the same
idea with nothing around it: split a cluster by two means, then each side, without recursion and without a matrix of pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError
from privact.tree.embedding import as_vectors
from privact.tree.hct import HierarchicalClusterTree

STEPS = 10
"""The most steps of two means at a split."""


def bisecting_kmeans(vectors: ArrayLike, random_state: int | np.random.Generator | None = None) -> HierarchicalClusterTree:
    """The tree of bisecting k-means.

    vectors: (n, D) numbers, compared by Euclidean distance; at least two users.
    random_state: seed or generator of the users that splits begin with; the same seed gives the same tree.
    """
    points = as_vectors(vectors).astype(np.float64)
    n = len(points)
    if n < 2:
        raise InputError(f"{n} users, but at least 2 are needed: give more vectors")
    rng = np.random.default_rng(random_state)
    left, right = np.empty(n - 1, np.int32), np.empty(n - 1, np.int32)
    clusters, unused = [(n - 2, np.arange(n))], n - 3  # the root has the last number
    while clusters:
        node, members = clusters.pop()
        first = two_means(points[members], rng)
        for children, side in ((left, members[first]), (right, members[~first])):
            if len(side) == 1:
                children[node] = side[0]
            else:
                children[node] = n + unused
                clusters.append((unused, side))
                unused -= 1
    return HierarchicalClusterTree.from_children(left, right)


def two_means(points: NDArray[Any], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which points are on the first side; neither side is empty.

    It begins with a user drawn at random and the one farthest away. Points that are all the same are halved as they come.
    """
    m = len(points)
    first = points[int(rng.integers(m))]
    second = points[int(np.square(points - first).sum(axis=1).argmax())]
    side = np.zeros(m, np.bool_)
    for _ in range(STEPS):
        # Nearer to `first` than to `second`: on its side of the plane in the middle between them.
        along = second - first
        found = points @ along <= 0.5 * (first + second) @ along
        if not 0 < np.count_nonzero(found) < m:
            break
        if np.array_equal(found, side):
            return side
        side = found
        first, second = points[side].mean(axis=0), points[~side].mean(axis=0)
    if not 0 < np.count_nonzero(side) < m:
        side = np.arange(m) < (m + 1) // 2
    return side
