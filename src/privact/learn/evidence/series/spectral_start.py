"""Where expectation maximisation starts: users grouped along the directions in which reports differ more than noise does.

Every report becomes its score, the slope of its log-probability at what the shares of all contacts predict: for Laplace noise
the score keeps all information about small shifts. Users are grouped by weighted k-means on the leading principal components.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.mixture import SideBySide
from privact.learn.evidence.series.report_laws import STEP

__all__ = ["Scores", "find_principal_points", "find_shifts", "group_by_means", "score_reports"]

STARTS = 4
"""Starts of k-means, of which the best counts."""


class Scores(NamedTuple):
    """How the reports of users shift from what the shares of all contacts predict.

    score: (n, C) slope of the log-probability in the standardised share. precision: (n, C) its variance where nothing shifts.
    """

    score: NDArray[np.float64]
    precision: NDArray[np.float64]


def score_reports(reports: SideBySide) -> Scores:
    """The score of every report; shares are in units of their square root."""
    table, information = reports.laws.log_probability, reports.laws.information
    contacts, base = reports.contacts[:, None], reports.everybody
    root = np.sqrt(contacts * base)
    row = np.clip((root / STEP - 0.5).astype(np.int64), 0, table.shape[1] - 2)
    law = np.broadcast_to(reports.law_of, row.shape)
    slope = (table[law, row + 1, reports.column] - table[law, row, reports.column]) / (2.0 * STEP * root)
    return Scores(slope * contacts * np.sqrt(base), information[law, row] * contacts**2 * base)


def find_shifts(reports: SideBySide) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n, C) scores without what an error in the number of contacts does to them, and (n,) how precisely each user is known."""
    scores = score_reports(reports)
    shifts = scores.score.copy()
    shared = np.sqrt(reports.everybody)
    for t in range(int(reports.round_of.max()) + 1):  # an error in the number of contacts shifts all bins: it is not about who
        inside = reports.round_of == t
        axis = shared[inside] / np.linalg.norm(shared[inside])
        shifts[:, inside] -= np.outer((shifts[:, inside] * axis).sum(axis=1), axis)
    return shifts, np.maximum(np.sqrt(scores.precision).mean(axis=1) ** 2, 1e-9)


def find_principal_points(reports: SideBySide, n_axes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n, n_axes) users along the leading axes of their scores, and (n,) how precisely each user is known."""
    shifts, weight = find_shifts(reports)
    axes = np.linalg.eigh(shifts.T @ (shifts / weight[:, None]))[1]
    return shifts @ axes[:, ::-1][:, :n_axes] / weight[:, None], weight


def group_by_means(
    points: NDArray[np.float64], weight: NDArray[np.float64], n_groups: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """(n,) the group of each user by weighted k-means, the best of several k-means++ starts."""
    best, best_cost = np.zeros(len(points), np.int64), np.inf
    norm = (points**2).sum(axis=1)
    for _ in range(STARTS):
        centres = _spread_centres(points, weight, norm, n_groups, rng)
        label = np.full(len(points), -1)
        for _ in range(30):
            apart = norm[:, None] - 2.0 * points @ centres.T + (centres**2).sum(axis=1)
            nearest = apart.argmin(axis=1)
            if (nearest == label).all():
                break
            label = nearest
            mass = np.bincount(label, weight, n_groups)
            for axis in range(points.shape[1]):
                mean = np.bincount(label, weight * points[:, axis], n_groups) / np.maximum(mass, 1e-12)
                centres[:, axis] = np.where(mass > 0, mean, centres[:, axis])
        cost = float((weight * apart[np.arange(len(points)), label]).sum())
        if cost < best_cost:
            best, best_cost = label, cost
    return best


def _spread_centres(
    points: NDArray[np.float64], weight: NDArray[np.float64], norm: NDArray[np.float64], n_groups: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Users drawn as centres, each likelier the further it is from the centres before it (k-means++)."""
    centres = np.empty((n_groups, points.shape[1]))
    distance = np.ones(len(points))
    for j in range(n_groups):
        chance = np.cumsum(weight * distance)
        centres[j] = points[min(np.searchsorted(chance, rng.random() * chance[-1]), len(points) - 1)]
        apart = np.maximum(norm - 2.0 * points @ centres[j] + (centres[j] ** 2).sum(), 0.0)
        distance = apart if j == 0 else np.minimum(distance, apart)
    return centres
