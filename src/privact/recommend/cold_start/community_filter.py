"""The paper's collaborative filtering for users without ratings (section 7.1): itemAvg, friendsCF and PrivaCT-CF.

With U_i the users who rated item i, and N(u) whose ratings count for user u,

    r(u, i) = mean rating of i + mean over u' in N(u) and U_i of (rating of i by u' - mean rating of u')

friendsCF takes the contacts as N(u) and is not private. PrivaCT-CF takes the m nearest users in the tree, itemAvg all users.

Where the formula leaves room:

- An item without ratings in N(u) has no second term. Such items come after all items rated in N(u), ordered by itemAvg.
- A user's mean rating is over the items that user rated. The target's own mean would add the same to every item: left out.
- Equal scores: the smaller item number first. Items without any rating are not listed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from privact.recommend.data.ratings import Ratings
from privact.recommend.neighbours import as_neighbours
from privact.recommend.recommender import Recommender

__all__ = ["CommunityFilter", "ItemAverage"]

_FIRST = 10.0  # with r the largest rating every score is between -r and 2 r: ten times r lifts an item above all others


class ItemAverage(Recommender):
    """itemAvg: the highest rated items over all users. Private, as no contacts are used; the same list for every user."""

    def scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, n_items) mean rating plus mean centred rating of each item."""
        return np.tile(self._item_scores, (len(rows), 1))

    def _learn(self, ratings: Ratings) -> None:
        self._average, self._centred = _averages(ratings)
        raters = np.maximum(ratings.counts, 1)
        deviation = np.bincount(self._centred.indices, self._centred.data, minlength=ratings.n_items) / raters
        self._item_scores = np.where(ratings.counts > 0, self._average + deviation, -np.inf)


class CommunityFilter(ItemAverage):
    """friendsCF and PrivaCT-CF: the highest rated items among some users.

    neighbours: (n, n) matrix, sparse or dense, in the order of the ratings' users, an entry where the column's user is in N(u) of
        the row's. Contacts make it friendsCF, `tree_neighbours` PrivaCT-CF, `random_neighbours` a control.
    among: how a reason names them.
    """

    def __init__(self, neighbours: Any, among: str = "close community") -> None:
        self.neighbours = neighbours
        self.among = among

    def scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, n_items) items rated inside N(u) first, then the others by itemAvg."""
        chosen = self._neighbours[rows]
        total, count = (chosen @ self._centred).tocsr(), (chosen @ self.ratings.binary).tocsr()
        scores = super().scores(rows)
        owner = np.repeat(np.arange(len(rows)), np.diff(count.indptr))
        inside = np.zeros(scores.shape)
        entries = total.tocoo()
        inside[entries.row, entries.col] = entries.data
        at = owner, count.indices
        scores[at] = self._first + self._average[count.indices] + inside[at] / count.data
        return scores

    def _learn(self, ratings: Ratings) -> None:
        self._neighbours = as_neighbours(self.neighbours, ratings.n_users)
        super()._learn(ratings)
        self._first = _FIRST * float(ratings.matrix.data.max(initial=1.0))  # of ratings up to 1, as of normalised ones, 10

    def _similar(self, row: int, m: int) -> list[tuple[int, float]]:
        return [(int(other), 1.0) for other in self._neighbours[[row]].indices[:m]]

    def _reason(self, row: int, item: int) -> str:
        members = self._neighbours[[row]].indices
        having = int((self.ratings.matrix[members][:, [item]] != 0).sum())
        if not having:
            return super()._reason(row, item)
        return f"{having:,} of {len(members):,} in your {self.among} {self.verb} this"


def _averages(ratings: Ratings) -> tuple[NDArray[np.float64], csr_array]:
    """The mean rating of each item over its raters, and every rating less its user's mean."""
    matrix = ratings.matrix
    average = np.bincount(matrix.indices, matrix.data, minlength=ratings.n_items) / np.maximum(ratings.counts, 1)
    owner = np.repeat(np.arange(ratings.n_users), ratings.activity)
    own_mean = np.bincount(owner, matrix.data, minlength=ratings.n_users) / np.maximum(ratings.activity, 1)
    centred = csr_array((matrix.data - own_mean[owner], matrix.indices, matrix.indptr), shape=matrix.shape)
    return np.asarray(average), centred
