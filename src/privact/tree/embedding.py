"""Users as threshold vectors, so that the dissimilarity across two clusters is one dot product.

Write F_x(t) for the probability that user x has at most t contacts in a bin, and s_x(t) = 1 - 2 F_x(t).
Then for one bin

    E|X - Y| = sum_t F_x + F_y - 2 F_x F_y = sum_t (1 - s_x s_y) / 2,

which is bilinear. A cluster is therefore fully described by its size and the sum of its users' points, and the
sum of dissimilarities across two clusters A and B is

    W(A, B) = constant * |A| * |B|  -  sum_t weights[t] * points_A[t] * points_B[t]

whatever the sizes of A and B. When counts are known exactly, F is a step from 0 to 1 and W is the exact sum of L1
distances, in integers and halves, without rounding. Every symmetric matrix has this form too, through its eigenvectors.

The paper's dissimilarity is max(1, L1): the clip lifts only pairs of users with identical vectors, from 0 to 1. The search
works without the clip, which would not be bilinear; cost.py adds it exactly when a cost is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError

SplitBy = Literal["size", "cost", "means"]
"""What clusters are split by, see `Embedding`."""

GRID = 1024.0
"""Points are multiples of 1 / GRID, so that sums of points are exact in any order."""

LARGEST = np.float64(1e100)
"""Numbers beyond this would overflow when they are added up."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """Users as points whose weighted dot products give the dissimilarity of any two clusters.

    points: (n, D), one row a user.
    weights: (D,), what each coordinate counts.
    constant: the dissimilarity of two users whose weighted dot product is zero.
    counts: (n, K), the vectors behind the points where dissimilarity is exactly their L1 distance; else None.
    matrix: (n, n), the dissimilarities themselves where the points come from them; else None.
    split_by: what clusters are split by, see privact.learn.search.split. "size": large ones by cost, small ones by two means.
        "cost": where points differ in length, users with long ones are near to many, and two means would part them from those
        they are near to. "means": where points tell a single number, two means finds more contacts at every size.
    """

    points: NDArray[np.floating[Any]]
    weights: NDArray[np.float64]
    constant: float
    counts: NDArray[np.float64] | None = None
    matrix: NDArray[np.float64] | None = None
    split_by: SplitBy = "size"

    def with_split(self, split_by: SplitBy) -> Embedding:
        """The same points, split by something else."""
        return replace(self, split_by=split_by)

    def __len__(self) -> int:
        return len(self.points)

    def take(self, users: NDArray[np.integer[Any]]) -> Embedding:
        """The embedding of some of the users, in the given order."""
        counts = None if self.counts is None else self.counts[users]
        matrix = None if self.matrix is None else self.matrix[np.ix_(users, users)]
        return Embedding(self.points[users], self.weights, self.constant, counts, matrix, self.split_by)

    def condensed(self) -> NDArray[np.float64]:
        """The dissimilarities of all pairs of users in SciPy's condensed order: (0,1), (0,2), ..., (n-2,n-1)."""
        if self.matrix is not None:
            return np.asarray(self.matrix[np.triu_indices(len(self), 1)])
        if self.counts is not None:
            from scipy.spatial.distance import pdist

            return np.asarray(pdist(self.counts, "cityblock"))
        from threadpoolctl import threadpool_limits

        n = len(self)
        out = np.empty(n * (n - 1) // 2)
        weighted = self.points * self.weights
        points = self.points.astype(np.float64)
        at = 0
        with threadpool_limits(1, "blas"):  # blocks this small lose more by waiting for each other than they gain
            for first in range(0, n, 256):
                block = weighted[first : first + 256] @ points[first:].T
                for row in range(len(block)):
                    count = n - first - row - 1
                    np.subtract(self.constant, block[row, row + 1 :], out=out[at : at + count])
                    at += count
        return out

    @classmethod
    def from_counts(cls, vectors: ArrayLike, max_thresholds: int | None = None) -> Embedding:
        """Users by their degree vectors; dissimilarity is the L1 distance, without the paper's max(1, .).

        vectors: (n, K) numbers, one row a user.
        max_thresholds: see `Thresholds.of`.
        """
        return Thresholds.of(vectors, max_thresholds).embed(vectors)

    @classmethod
    def from_matrix(cls, matrix: NDArray[np.float64]) -> Embedding:
        """Users by any symmetric dissimilarity matrix: its eigenvectors are the points, its eigenvalues the weights."""
        values, vectors = np.linalg.eigh(matrix)
        return cls(np.ascontiguousarray(vectors), -values, 0.0, matrix=matrix)


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Where the counts of each bin are compared with a threshold; turns vectors of counts into an embedding.

    lower: for each bin, the thresholds in use.
    width: for each bin, how many counts each threshold stands for: it covers lower to lower + width.
    """

    lower: tuple[NDArray[np.float64], ...]
    width: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, vectors: ArrayLike, max_thresholds: int | None = None) -> Thresholds:
        """The thresholds that tell all given counts apart.

        max_thresholds: how many there may be in all. Past that, neighbouring thresholds that separate few users are
            pooled, which is exact for all pairs of users but those with both inside one pool.
        """
        counts = as_vectors(vectors)
        room = None if max_thresholds is None else max(1, max_thresholds // counts.shape[1])
        edges = [_pool_edges(column, room) for column in counts.T]
        return cls(tuple(edge[:-1] for edge in edges), tuple(np.diff(edge) for edge in edges))

    def __iter__(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        return zip(self.lower, self.width, strict=True)

    def embed(self, vectors: ArrayLike) -> Embedding:
        """The points of users with these counts; a count outside the range counts as its nearest end."""
        counts = as_vectors(vectors, fewest=1)
        if counts.shape[1] != len(self.lower):
            raise InputError(f"vectors have {counts.shape[1]} bins, not the {len(self.lower)} learned: use the same bins")
        weights = np.concatenate(self.width) / 2.0
        points = np.empty((len(counts), len(weights)), np.float32)
        at = 0
        for column, (lower, width) in zip(counts.T, self, strict=True):
            # -1 below the threshold, +1 above it, in between inside a pool.
            share = np.clip((column[:, None] - lower) / width, 0.0, 1.0)
            points[:, at : at + len(lower)] = on_grid(2.0 * share - 1.0)
            at += len(lower)
        exact = bool((np.abs(points) == 1.0).all())
        return Embedding(points, weights, float(weights.sum()), self._inside(counts) if exact else None)

    def _inside(self, counts: NDArray[Any]) -> NDArray[np.float64]:
        """The counts, moved to the nearest end where they are outside the range of the thresholds."""
        ends = [(lower[0], lower[-1] + width[-1]) if len(lower) else (0.0, 0.0) for lower, width in self]
        low, high = np.array(ends).T
        return np.asarray(np.clip(counts.astype(np.float64), low, high))


def on_grid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values rounded to multiples of 1 / GRID."""
    return np.asarray(np.round(values * GRID) / GRID)


def thresholds_for(n_users: int) -> int:
    """How many thresholds an embedding of that many users may have, so that memory stays within about 2 GB."""
    return int(np.clip(2**26 // n_users, 128, 1024))


def as_vectors(vectors: ArrayLike, fewest: int = 2) -> NDArray[Any]:
    """Degree vectors as an (n, K) array of finite numbers, or InputError."""
    try:
        counts = np.asarray(vectors)
    except ValueError:
        raise InputError("vectors have rows of unequal length, not the shape (users, bins): give one row a user") from None
    if hasattr(vectors, "tocoo"):
        raise InputError("vectors are a sparse matrix: give degree vectors as a dense array, or a graph to PrivaCT().fit")
    if hasattr(vectors, "adj"):
        raise InputError("vectors are a graph: PrivaCT().fit learns from a graph, learn_tree from vectors, one row a user")
    if counts.ndim != 2 or counts.shape[1] == 0:
        raise InputError(f"vectors have shape {counts.shape}, not (users, bins): give one row a user")
    if counts.dtype.kind not in "iufb":
        raise InputError(f"vectors have type {counts.dtype}, not numbers: give counts per bin")
    if len(counts) < fewest:
        raise InputError(f"{len(counts)} users, but at least {fewest} are needed: give more vectors")
    if counts.dtype.kind == "f":
        counts = counts.astype(np.float64, copy=False)
    if counts.dtype.kind == "f" and not (np.abs(counts) < LARGEST).all():
        row = int(np.flatnonzero(~(np.abs(counts) < LARGEST).all(axis=1))[0])
        what = f"a number beyond {LARGEST:g}" if np.isfinite(counts[row]).all() else "NaN or infinity"
        raise InputError(f"the vector of user {row} holds {what}: give finite counts")
    return counts


def _pool_edges(column: NDArray[Any], room: int | None) -> NDArray[np.float64]:
    """The distinct counts of a bin; past `room` thresholds only some, close together where many users are told apart."""
    edges, repeats = np.unique(column.astype(np.float64), return_counts=True)
    if room is None or len(edges) - 1 <= room:
        return edges
    below = np.cumsum(repeats)[:-1] / len(column)
    spread = below * (1.0 - below) * np.diff(edges)  # what each threshold adds to the mean dissimilarity, halved
    mass = np.append(0.0, np.cumsum(np.sqrt(spread)))
    cuts = np.searchsorted(mass, np.linspace(0.0, mass[-1], room + 1))
    return np.asarray(edges[np.unique(np.clip(cuts, 0, len(edges) - 1))])
