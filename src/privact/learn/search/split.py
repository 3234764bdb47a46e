"""Splits clusters from the top down, every split at or above the balance floor: the start of the default search.

A split is an order of the users and a cut in it. Users are ordered by their scores along a direction, and the cut of the
highest value is taken among those that the floor allows. The next direction is the one along which users gain most by
changing sides; this is repeated until the value no longer rises. Where clusters are split by cost, the first direction
is the sum of all points, which puts the users who differ most first, then the first principal component, which is given up early
if it is worse; by two means, the component alone. Everything is computed from sums of points: no pair of users is visited.

The value of a split (A, B) of s users looks ahead. The split itself adds s W(A, B) to Dasgupta's cost, W the sum of
dissimilarities across, and the trees below add more: a random tree of a users adds 2/3 (a + 1) W(A), W(A) over the pairs
inside; the trees that the search finds add more, and the more the larger they are: the *outlook* times (a + 1) W(A). Small
clusters hardly count in the cost, and there two means finds more contacts, unless points differ in length by how many contacts
users have (`Embedding.split_by`). Such points are split with the outlook of a random tree at every size: a larger one would part
users with few contacts from the groups that they belong to.

_split.py is the fast version. The functions here say the same in plain NumPy, and tests hold the fast version to them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.learn.search._split import split_all
from privact.tree.embedding import Embedding, SplitBy

__all__ = ["split_users", "split_value", "two_means_value"]

OUTLOOK = 0.82
"""What a tree adds to the cost, over (size + 1) times the sum of dissimilarities inside: 2/3 for a random tree, at most 1."""

FIRST_OUTLOOK = 0.87
"""The same for nearly all users: the trees of the first splits are better than those below."""

RANDOM_OUTLOOK = 2.0 / 3.0
"""The same for a random tree."""

TWO_MEANS = -1.0
"""The outlook that stands for two means."""

NEARLY_ALL = 0.9
"""Clusters of more than this share of all users have the first outlook."""

LARGE = 0.3
"""Clusters of more than this share of all users are split by cost, smaller ones by two means."""


def choose_outlooks(sizes: NDArray[np.floating[Any]], n_users: int, split_by: SplitBy) -> NDArray[np.float64]:
    """The outlook of clusters of some sizes.

    n_users: users of the whole tree. split_by: of the embedding.
    """
    if split_by != "size":
        return np.full(len(sizes), RANDOM_OUTLOOK if split_by == "cost" else TWO_MEANS)
    return np.select([sizes > NEARLY_ALL * n_users, sizes > LARGE * n_users], [FIRST_OUTLOOK, OUTLOOK], TWO_MEANS)


def split_users(embedding: Embedding, floor: NDArray[np.int32], n_users: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The children of each internal node of the tree, children before parents, the root last.

    floor: the fewest users on the smaller side, by size of the cluster. n_users: users of the whole tree, which these may be
    a part of.
    """
    found: tuple[NDArray[np.int32], NDArray[np.int32]] = split_all(
        embedding.points,
        np.ascontiguousarray(embedding.weights, dtype=np.float64),
        float(embedding.constant),
        floor,
        choose_outlooks(np.arange(len(embedding) + 1.0), n_users, embedding.split_by),
        0,
        np.empty((0, len(embedding.weights))),
        np.empty(0),
    )
    return found


def split_value(dissimilarity: NDArray[np.float64], first: NDArray[np.bool_], outlook: float) -> float:
    """The value of a split, from the dissimilarities of all pairs.

    dissimilarity: (s, s), up to a constant. first: who is on the first side. outlook: see OUTLOOK.
    """
    pairs = np.triu(dissimilarity, 1)
    across = pairs[np.ix_(first, ~first)].sum() + pairs[np.ix_(~first, first)].sum()
    inside = [(side.sum() + 1) * pairs[np.ix_(side, side)].sum() for side in (first, ~first)]
    return float(len(first) * across + outlook * sum(inside))


def two_means_value(points: NDArray[np.float64], first: NDArray[np.bool_]) -> float:
    """The value of a split to two means: how much closer users are to the mean of their side than to zero, squared."""
    return float(sum(np.square(side.sum(axis=0)).sum() / len(side) for side in (points[first], points[~first])))


def best_cut(values: list[float], least: int) -> int:
    """How many users come first at the best cut that leaves `least` on each side; the most even of equal ones.

    values: of the cuts after 1, 2, ... users.
    """
    k = len(values) + 1
    allowed = range(least, k - least + 1)
    return max(allowed, key=lambda cut: (values[cut - 1], min(cut, k - cut), -cut))
