"""What users with like reports have: a ridge regression of having an item on the expected number of contacts in each group.

A user is the logarithms of one plus the expected contacts in each group, minus their mean over users with ratings. The regression
is linear in the ratings: its prediction for an item is the mean over users with ratings of whether they have the item, times

    weight(u, v) = 1 + x(u)' (C + ridge)^-1 x(v),     C the mean of x x' over users with ratings

So how many contacts go with which taste, and which groups of contacts do, is learned from users of whom both are known; where
reports tell nothing about taste the regression finds nothing, and everybody weighs 1. Nobody is taken to be further out than the
users with ratings are: a regression says nothing beyond what it has seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["RIDGE", "SimilarReports"]

RIDGE = 0.3
"""How strongly the regression is held to popularity, in units of the mean variance of a logarithm; infinity leaves popularity."""


_TOGETHER = 8  # users; from this number on a matrix product is faster


class SimilarReports:
    """The reports of users with ratings, to compare others with.

    contacts: (n, K) the posterior expectation of the number of contacts in each group; a row of zeros says nothing.
    rated: (n) who has ratings.
    """

    def __init__(self, contacts: NDArray[np.float64], rated: NDArray[np.bool_]) -> None:
        told = contacts.sum(axis=1) > 0
        x = np.log1p(contacts)
        known = rated & told
        if known.any():
            x = np.clip(x, x[known].min(axis=0), x[known].max(axis=0)) - x[known].mean(axis=0)
            variance = float((x[known] ** 2).mean())
            x = x / np.sqrt(variance) if variance > 1e-12 else np.zeros_like(x)
        x[~told] = 0.0
        self.points: NDArray[np.float64] = x
        self.covariance: NDArray[np.float64] = x[rated].T @ x[rated] / max(1, int(rated.sum()))

    def weights(self, rows: NDArray[np.int64], voices: NDArray[np.float64], ridge: float = RIDGE) -> NDArray[np.float64]:
        """(q, n) weight of each user's ratings for some users: rows sum to 1; negative for users with opposite reports.

        rows: (q) the users. voices: (n) weight of each user before reports are compared, 0 for users without ratings; an array
            that does not change.
        ridge: see RIDGE.
        """
        from privact.recommend.cold_start._similar_reports import fill_similar

        share, centre = self._share(voices)
        held = self.covariance + ridge * np.eye(len(self.covariance))
        directions = np.linalg.solve(held, self.points[rows].T).T
        mean = directions @ centre  # is taken off, so that the weights of every row have the same sum
        if len(rows) < _TOGETHER:
            weights = np.empty((len(rows), len(share)))
            fill_similar(self.points, np.ascontiguousarray(directions), 1.0 - mean, share, weights)
            return weights
        return np.asarray((1.0 + directions @ self.points.T - mean[:, None]) * share)

    def _share(self, voices: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The voices with sum 1, and the mean point by them; kept for the voices that were used last."""
        for used, share, centre in self._shared:
            if used is voices:
                return share, centre
        share = voices / max(float(voices.sum()), 1e-300)
        centre = share @ self.points
        self._shared = ((voices, share, centre), *self._shared[:1])
        return share, centre

    _shared: tuple[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], ...] = ()
