"""MostPopular: the same list for everybody, and the control that every other recommender has to beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privact.recommend.ratings import Ratings
from privact.recommend.recommender import Recommender

__all__ = ["MostPopular"]


class MostPopular(Recommender):
    """Items by how many users rated them. It knows nothing of contacts, so it is private."""

    def scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, n_items) the number of users who rated each item."""
        return np.tile(self._score, (len(rows), 1))

    def _learn(self, ratings: Ratings) -> None:
        self._score = np.where(ratings.counts > 0, ratings.counts.astype(np.float64), -np.inf)
