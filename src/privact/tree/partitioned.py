"""A start for many users: learn a sketch tree on a sample, send everyone to their nearest sampled user, then learn each part.

Where a node of the sketch holds few enough users it is replaced by the average linkage tree of all of them, so the result is
one tree over everybody. Memory is linear in the number of users, and the parts are independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.tree.embedding import Embedding
from privact.tree.linkage import average_linkage

SAMPLE = 2_000
"""How many users a sketch is learned on."""

PART = 1_000
"""The most users that are learned as one part."""

IntArray = NDArray[np.integer[Any]]


class Partitioned:
    """A tree over all users under construction; internal nodes are numbered as they are made, children first.

    embedding: the users. rng: draws the samples. progress: is told how many users are in the tree.
    """

    def __init__(self, embedding: Embedding, rng: np.random.Generator, progress: Callable[[int], None]) -> None:
        self.embedding = embedding
        self.rng = rng
        self.progress = progress
        self.left = np.empty(len(embedding) - 1, np.int32)
        self.right = np.empty(len(embedding) - 1, np.int32)
        self.made = 0

    def learn(self, users: IntArray) -> int:
        """Make the tree of some users; returns its root. It calls itself for parts, at most some tens of levels deep."""
        if len(users) == 1:
            return int(users[0])
        if len(users) <= PART:
            left, right = average_linkage(self.embedding.take(users))
            root = self._join(left, right, users)
            self.progress(self.made)
            return root
        return self._learn_parts(users)

    def _learn_parts(self, users: IntArray) -> int:
        """Sketch, cut where parts are small enough, learn them, and join their roots as the sketch does."""
        sample = np.sort(self.rng.choice(len(users), min(SAMPLE, len(users) // 2), replace=False))
        points = self.embedding.take(users[sample])
        left, right = average_linkage(points)
        nearest = _nearest(points, self.embedding, users)
        nearest[sample] = np.arange(len(sample))  # also where several of the sample are the same
        part = _parts(left, right, np.bincount(nearest, minlength=len(sample)))[nearest]
        if np.bincount(part).max() > 0.9 * len(users):  # hardly anybody can be told apart: halve
            halves = [self.learn(half) for half in np.array_split(users, 2)]
            return self._join(np.array([0]), np.array([1]), np.array(halves))
        by_part = np.argsort(part, kind="stable")
        names, firsts = np.unique(part[by_part], return_index=True)
        roots = np.full(2 * len(sample) - 1, -1)
        for name, members in zip(names, np.split(users[by_part], firsts[1:]), strict=True):
            roots[name] = self.learn(members)
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            if roots[a] >= 0 and roots[b] >= 0:  # both outside any part, or parts themselves
                roots[len(sample) + i] = self._join(np.array([0]), np.array([1]), roots[[a, b]])
        return int(roots[-1])

    def _join(self, left: IntArray, right: IntArray, names: IntArray) -> int:
        """Add merges whose leaves are called `names` to the tree; returns the root of what they join."""
        first = len(self.embedding) + self.made
        nodes = np.concatenate([names, np.arange(first, first + len(left))])
        self.left[self.made : self.made + len(left)] = nodes[left]
        self.right[self.made : self.made + len(left)] = nodes[right]
        self.made += len(left)
        return int(nodes[-1])


def partitioned(
    embedding: Embedding, rng: np.random.Generator, progress: Callable[[int], None]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The children of each internal node of a tree over all users, children before parents, the root last.

    progress: is told how many users are in the tree.
    """
    tree = Partitioned(embedding, rng, progress)
    tree.learn(np.arange(len(embedding)))
    return tree.left, tree.right


def _nearest(sample: Embedding, embedding: Embedding, users: IntArray) -> NDArray[np.int64]:
    """For each user the sampled user whose point is nearest; the first of several.

    Points of uncertain counts are less than 1 long, and the lowest expected dissimilarity would send everyone to the few
    users whose counts are certain. The distance between points does not, and is the same where counts are exact.
    """
    weighted = (sample.points * sample.weights).T
    half = (weighted * sample.points.T).sum(axis=0) / 2.0
    out = np.empty(len(users), np.int64)
    for first in range(0, len(users), 4096):
        block = embedding.points[users[first : first + 4096]].astype(np.float64)
        out[first : first + 4096] = (block @ weighted - half).argmax(axis=1)
    return out


def _parts(left: IntArray, right: IntArray, weight: NDArray[np.int64]) -> NDArray[np.int64]:
    """The node of the sketch whose users form one part with each sampled user: the highest with at most PART of them.

    weight: how many users each sampled user stands for.
    """
    m = len(weight)
    weight = np.concatenate([weight, np.zeros(m - 1, np.int64)])
    part = np.arange(2 * m - 1)
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        weight[m + i] = weight[a] + weight[b]
    for i in range(m - 2, -1, -1):
        if weight[m + i] <= PART:
            part[[left[i], right[i]]] = part[m + i]
    return part[:m]
