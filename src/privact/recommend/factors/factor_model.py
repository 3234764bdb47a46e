"""What models of user and item factors share: distinct items, similar users, and a reason that names the neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.recommend.cores import run_on_all_cores, split_into_blocks
from privact.recommend.data.distinct_items import DistinctItems, merge_duplicate_items
from privact.recommend.data.ratings import Ratings
from privact.recommend.neighbours import as_neighbours
from privact.recommend.ranking import NOTHING
from privact.recommend.recommender import Recommender

__all__ = ["FactorModel"]


class FactorModel(Recommender):
    """A recommender for users who have ratings: a vector a user, a vector an item.

    Items that the same users rated share a vector (`merge_duplicate_items`). An item without ratings is never listed. A user
    without ratings gets the items of `_without_ratings`: the most popular ones, unless a model knows better.

    After `fit`: user_factors_ (n_users, f), item_factors_ (distinct items, f), distinct_.
    """

    neighbours: Any = None
    user_factors_: NDArray[np.floating[Any]]
    item_factors_: NDArray[np.floating[Any]]
    distinct_: DistinctItems

    def _prepare(self, ratings: Ratings) -> DistinctItems:
        """Distinct items of the ratings; neighbours are checked to fit them."""
        if self.neighbours is not None:
            self._neighbours = as_neighbours(self.neighbours, ratings.n_users)
        self.distinct_ = merge_duplicate_items(ratings.matrix)
        self._silent = ratings.activity == 0
        return self.distinct_

    def scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, n_items) preference by the model; popularity for users without ratings; minus infinity for unknown items."""
        found = np.full((len(rows), len(self.distinct_.column_of)), -np.inf)
        known = self.distinct_.column_of >= 0
        found[:, known] = self.column_scores(rows)[:, self.distinct_.column_of[known]]
        return found

    def column_scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, distinct items) the same for items that the same users rated, once each, in a new array."""
        columns = self._scores(rows)
        silent = self._silent[rows]
        if silent.any():
            columns[silent] = self._without_ratings(rows[silent])
        return columns

    def rank(self, rows: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        """(q, k) the best items of some users; what `Recommender.rank` gives, found among distinct items.

        Who rated one item of a column rated them all, so that columns can be ranked in place of items.
        """
        ratings, rated = self.ratings, self.distinct_.matrix
        listed = np.full((len(rows), k), NOTHING, np.int64)
        order = np.argsort(self.distinct_.column_of, kind="stable")  # items by column, ascending within
        order = order[ratings.n_items - int(self.distinct_.weights.sum()) :]
        first = np.append(0, np.cumsum(self.distinct_.weights))

        def list_for(part: slice) -> None:
            scores, known = self.column_scores(rows[part]), rated[rows[part]]
            scores[np.repeat(np.arange(len(scores)), np.diff(known.indptr)), known.indices] = -np.inf
            wanted = min(k, scores.shape[1])
            if wanted == 0:
                return
            least = np.partition(scores, -wanted, axis=1)[:, -wanted, None]
            row, column = np.nonzero((scores >= least) & (scores > -np.inf))
            sizes = self.distinct_.weights[column]
            values, row = np.repeat(scores[row, column], sizes), np.repeat(row, sizes)
            items = order[np.repeat(first[column] - np.cumsum(sizes) + sizes, sizes) + np.arange(len(row))]
            best = np.lexsort((items, -values, row))
            row, items = row[best], items[best]
            place = np.arange(len(row)) - np.searchsorted(row, row)
            listed[part][row[place < k], place[place < k]] = items[place < k]

        run_on_all_cores(list_for, split_into_blocks(len(rows), rated.shape[1]))
        return listed

    def _scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, distinct items) scores of users who have ratings, in a new array."""
        return np.asarray(self.user_factors_[rows] @ self.item_factors_.T, np.float64)

    def _without_ratings(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, distinct items) scores of users who have none: the share of users who rated each."""
        rate = np.asarray(self.distinct_.matrix.sum(axis=0), np.float64).ravel() / max(1, len(self._silent))
        return np.broadcast_to(rate, (len(rows), len(rate)))

    def _similar(self, row: int, m: int) -> list[tuple[int, float]]:
        """The users whose vectors point most the same way: cosine above 0."""
        lengths = np.linalg.norm(self.user_factors_, axis=1)
        if lengths[row] == 0.0:
            return []
        cosine = self.user_factors_ @ self.user_factors_[row] / np.maximum(lengths * lengths[row], 1e-30)
        cosine[row] = -1.0
        order = np.argsort(-cosine, kind="stable")[:m]
        return [(int(other), float(cosine[other])) for other in order if cosine[other] > 0.0]

    def _reason(self, row: int, item: int) -> str:
        """How many of the neighbours have the item, or how many of all where none of them has it."""
        if self.neighbours is not None:
            members = self._neighbours.indices[self._neighbours.indptr[row] : self._neighbours.indptr[row + 1]]
            having = int(self.ratings.matrix[members][:, [item]].nnz) if len(members) else 0
            if having:
                return f"{having:,} of {len(members):,} in your close community {self.verb} this"
        return super()._reason(row, item)
