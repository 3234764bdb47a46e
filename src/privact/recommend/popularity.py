"""MostPopular: the same list for every user, and the control that every other recommender has to beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privact.recommend.data.ratings import Ratings
from privact.recommend.recommender import Recommender

__all__ = ["MostPopular", "weigh_users_evenly"]


class MostPopular(Recommender):
    """Items by how many users rated them. It knows nothing of contacts, so it is private.

    evenly: count a user with t ratings as 1 / sqrt(t): who rates few items says more with each.
    """

    def __init__(self, evenly: bool = False) -> None:
        self.evenly = evenly

    def scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, n_items) the number of users who rated each item, or the sum of their voices."""
        return np.tile(self._score, (len(rows), 1))

    def _learn(self, ratings: Ratings) -> None:
        voice = weigh_users_evenly(ratings) if self.evenly else np.ones(ratings.n_users)
        self._score = np.where(ratings.counts > 0, np.asarray(ratings.binary.T @ voice), -np.inf)


def weigh_users_evenly(ratings: Ratings) -> NDArray[np.float64]:
    """(n_users) weight of each rating of a user, 1 / sqrt(number of the user's ratings), so that users weigh more evenly."""
    return np.asarray(1.0 / np.sqrt(np.maximum(ratings.activity, 1)))
