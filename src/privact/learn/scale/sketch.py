"""A sketch of all users: the average linkage tree of a sample, and where its branches are cut so that parts are small.

Each user is assigned to the nearest sampled user, and with it to a part. Each user's point is looked at once, in any order and on
any worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.tree.embedding import Embedding

IntArray = NDArray[np.integer[Any]]

BLOCK = 2_048
"""Users compared with the sample at a time."""

LOPSIDED = 0.9
"""Where one part keeps more than this fraction of the users, their points hardly differ, and they are split in half."""


@dataclass(frozen=True, eq=False)
class Split:
    """Users in parts, and how the parts hang together.

    order: the users by part, first part first; inside a part as they came.
    bounds: (parts + 1) where each part begins in `order`, and where the last ends.
    left, right: children of the tree over the parts: its leaves are the parts, its root comes last.
    """

    order: NDArray[np.int64]
    bounds: NDArray[np.int64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.bounds) - 1


def draw_sample(n_users: int, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the users that a sketch is learned on, ascending: at most `most` of them, and at most half of all."""
    return np.sort(rng.choice(n_users, min(most, n_users // 2), replace=False))


def assign_to_sample(sample: Embedding, users: Embedding, block: int = BLOCK) -> NDArray[np.int32]:
    """Find the sampled user whose point is nearest to each user; the first of several.

    Points of uncertain counts are less than 1 long, and the lowest expected dissimilarity would send everyone to the few
    users whose counts are certain. The distance between points does not, and is the same where counts are exact. Points lie on
    a grid and weights are whole or half numbers, so that sums are exact and no order of additions can change the result.

    block: users compared at a time.
    """
    from threadpoolctl import threadpool_limits

    weighted = (sample.points * sample.weights).T
    half = (weighted * sample.points.T).sum(axis=0) / 2.0
    out = np.empty(len(users), np.int32)
    with threadpool_limits(1, "blas"):
        for first in range(0, len(users), block):
            products = users.points[first : first + block].astype(np.float64) @ weighted
            products -= half
            out[first : first + block] = products.argmax(axis=1)
    return out


def cut_sketch(left: IntArray, right: IntArray, near: NDArray[np.int32], most: int) -> Split:
    """Cut a sketch into its largest branches of at most `most` users, or halve users who look the same.

    left, right: of the sketch. near: the sampled user nearest to each user. most: users of a part,
    unless a single sampled user stands for more.
    """
    m = len(left) + 1
    weight = np.concatenate([np.bincount(near, minlength=m), np.zeros(m - 1, np.int64)])
    for i, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        weight[m + i] = weight[a] + weight[b]
    top = np.arange(2 * m - 1)  # the node at which the branch of each node is cut
    for i in range(m - 2, -1, -1):
        if weight[m + i] <= most:
            top[[left[i], right[i]]] = top[m + i]
    cut = np.unique(top[:m])
    if weight[cut].max() > LOPSIDED * len(near):
        return split_in_half(len(near))
    number = np.full(2 * m - 1, -1)
    number[cut] = np.arange(len(cut))
    part = number[top[:m]][near]
    order = np.argsort(part, kind="stable")
    bounds = np.append(0, np.cumsum(np.bincount(part, minlength=len(cut))))
    return Split(order, bounds, *_tree_over(left, right, top, number, len(cut)))


def split_in_half(n_users: int) -> Split:
    """Split the users into two halves, in their order."""
    one = np.array([0], np.int32)
    return Split(np.arange(n_users), np.array([0, (n_users + 1) // 2, n_users]), one, one + np.int32(1))


def _tree_over(
    left: IntArray, right: IntArray, top: NDArray[np.int64], number: NDArray[np.int64], n_parts: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The children of the nodes of a sketch above the cuts, with the parts as leaves."""
    m = len(left) + 1
    above = [i for i in range(m - 1) if number[top[m + i]] < 0]
    number[[m + i for i in above]] = n_parts + np.arange(len(above))
    return number[left[above]].astype(np.int32), number[right[above]].astype(np.int32)
