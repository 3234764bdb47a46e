"""Taste circles: about ten users of one public group who rate alike.

A report counts contacts by the few groups of its round. Circles say where inside a group a user is: users near another group in
taste may have more contacts there. How much that counts is learned from the reports (`circle_lifts`). Circles come from ratings
that the service holds, never from contacts. Lists see nothing of a user's ratings but the circle.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.recommend.k_means import cluster_points

__all__ = ["TasteCircles", "find_taste_circles"]

SIZE = 10
"""Users in a circle, on average."""

LEAST = 5
"""The fewest users in a circle; users of smaller ones join the nearest circle of their group."""

MOST = 512
"""The most circles of a network."""


class TasteCircles(NamedTuple):
    """Which circle each user is in.

    circle: (n,) number of the circle, -1 for users in no group. group: (C,) the public group that each circle is part of.
    similarity: (C, C) cosine of the mean tastes of two circles.
    """

    circle: NDArray[np.int64]
    group: NDArray[np.int64]
    similarity: NDArray[np.float64]


def find_taste_circles(vectors: NDArray[np.float64], group: NDArray[np.integer[Any]], rng: np.random.Generator) -> TasteCircles:
    """Part each public group into circles.

    vectors: (n, f) taste of each user, 0 for users without ratings (`make_taste_vectors`). They are put in a circle of their
        own in each group, with the group's mean taste.
    group: (n,) public group of each user, -1 for none.
    """
    rated = np.any(vectors != 0.0, axis=1)
    size = max(SIZE, int((group >= 0).sum()) / MOST)
    circle = np.full(len(group), -1)
    of_group: list[int] = []
    centres: list[NDArray[np.float64]] = []
    everybody = vectors[rated].mean(axis=0) if rated.any() else np.zeros(vectors.shape[1])
    for each in np.unique(group[group >= 0]).tolist():
        members = np.flatnonzero((group == each) & rated)
        parts = _divide(vectors[members], size, rng)
        for part in range(parts.max(initial=-1) + 1):
            circle[members[parts == part]] = len(centres)
            centres.append(vectors[members[parts == part]].mean(axis=0))
            of_group.append(each)
        unknown = np.flatnonzero((group == each) & ~rated)
        if len(unknown):
            circle[unknown] = len(centres)
            centres.append(vectors[members].mean(axis=0) if len(members) else everybody)
            of_group.append(each)
    found = np.array(centres).reshape(len(centres), vectors.shape[1])
    found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
    return TasteCircles(circle, np.array(of_group, np.int64), found @ found.T)


def _divide(points: NDArray[np.float64], size: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """The circle of each user of a group, numbered from 0; none has fewer than LEAST users unless the group has."""
    parts = cluster_points(points, max(1, round(len(points) / size)), rng) if len(points) else np.zeros(0, np.int64)
    while True:
        used, parts, many = np.unique(parts, return_inverse=True, return_counts=True)
        if len(used) < 2 or many.min() >= LEAST:
            return np.asarray(parts, dtype=np.int64)
        smallest = int(many.argmin())
        centres = np.stack([points[parts == part].mean(axis=0) for part in range(len(used))])
        away = ((centres - centres[smallest]) ** 2).sum(axis=1)
        away[smallest] = np.inf
        parts[parts == smallest] = int(away.argmin())
