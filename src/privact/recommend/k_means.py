"""k-means: points -> groups of near points. Everything is decided by one generator."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

__all__ = ["cluster_points"]

RESTARTS = 4
"""Runs from other starts, of which the best is kept."""

ROUNDS = 60
"""The most rounds of one run."""


def cluster_points(points: NDArray[np.float64], k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The group of each point by the best of a few runs of k-means from spread-out starts (k-means++).

    One thread multiplies matrices: with several, sums differ in their last bits, and near ties groups would depend on how many.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        return _find_best_run(points, k, rng)


def _find_best_run(points: NDArray[np.float64], k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    best, least = np.zeros(len(points), np.int64), np.inf
    squares = (points**2).sum(axis=1)
    for _ in range(RESTARTS):
        centres = _spread_out(points, squares, k, rng)
        nearest = np.full(len(points), -1)
        for _ in range(ROUNDS):
            distance = squares[:, None] - 2.0 * points @ centres.T + (centres**2).sum(axis=1)
            moved = distance.argmin(axis=1)
            if (moved == nearest).all():
                break
            nearest = moved
            size = np.bincount(nearest, minlength=k)
            member = csr_array((np.ones(len(points)), (nearest, np.arange(len(points)))), shape=(k, len(points)))
            total = member @ points
            centres = np.where(size[:, None] > 0, total / np.maximum(size, 1)[:, None], centres)
        spread = float(distance[np.arange(len(points)), nearest].sum())
        if spread < least:
            best, least = nearest, spread
    return best


def _spread_out(
    points: NDArray[np.float64], squares: NDArray[np.float64], k: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """k points to start from: each next one drawn by its squared distance from those before."""
    centres = np.empty((k, points.shape[1]))
    centres[0] = points[rng.integers(len(points))]
    away = np.full(len(points), np.inf)
    for chosen in range(1, k):
        last = centres[chosen - 1]
        away = np.minimum(away, np.maximum(squares - 2.0 * points @ last + last @ last, 0.0))
        whole = away.sum()
        place = rng.choice(len(points), p=away / whole) if whole > 0 else rng.integers(len(points))
        centres[chosen] = points[place]
    return centres
