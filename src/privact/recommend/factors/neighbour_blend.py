"""NeighbourBlend: what the neighbours have, on top of a model that knows no contacts.

The plainest way to ask what a social signal is worth: the model's own score plus a weight times the share of the neighbours who
rated the item. With weight 0 it is the model; any circle of neighbours can be tried without learning the model again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.recommend.data.ratings import Ratings
from privact.recommend.factors.factor_model import FactorModel
from privact.recommend.neighbours import as_neighbours

__all__ = ["NeighbourBlend"]


class NeighbourBlend(FactorModel):
    """Another model's scores, raised for items that neighbours rated.

    model: of factors, such as `ImplicitFactors`; learned from the ratings at `fit`, unless it already is.
    neighbours: (n_users, n_users) sparse matrix with a 1 in row u for each neighbour of user u of the ratings.
    weight: what a score rises by if all of very many neighbours rated the item; at least 0.
    caution: number of pseudo-neighbours without the item that are added for every user, so that few neighbours weigh less.
    """

    def __init__(
        self, model: FactorModel, neighbours: Any, weight: float = 0.3, caution: float = 5.0, verb: str = "rated"
    ) -> None:
        for name, number in (("weight", weight), ("caution", caution)):
            if not 0.0 <= number < np.inf:
                raise InputError(f"{name} is {number}; it must be a finite number of at least 0")
        self.model = model
        self.neighbours = neighbours
        self.weight = weight
        self.caution = caution
        self.verb = verb

    def _scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, distinct items) the model's scores plus the weighted share of neighbours who rated each item."""
        return self.model.column_scores(rows) + self._shares(rows)

    def _without_ratings(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same: a model has scores for users without ratings too."""
        return self._scores(rows)

    def _shares(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        near = self._neighbours[rows]
        having = near @ self.distinct_.matrix
        size = np.diff(near.indptr) + self.caution
        having.data = having.data * (self.weight / size[np.repeat(np.arange(len(rows)), np.diff(having.indptr))])
        return np.asarray(having.toarray(), np.float64)

    def _learn(self, ratings: Ratings) -> None:
        if self.model._ratings is not ratings:
            self.model.fit(ratings)
        self._neighbours = as_neighbours(self.neighbours, ratings.n_users)
        self.distinct_, self._silent = self.model.distinct_, self.model._silent

    def _similar(self, row: int, m: int) -> list[tuple[int, float]]:
        """The neighbours, each with an equal share of the weight; then whom the model names."""
        members = self._members(row)
        share = self.weight / (len(members) + self.caution) if len(members) else 0.0
        first = [(int(other), share) for other in members[:m]]
        known = set(members.tolist())
        return first + [found for found in self.model._similar(row, m) if found[0] not in known][: m - len(first)]

    def _members(self, row: int) -> NDArray[Any]:
        near = self._neighbours
        return np.asarray(near.indices[near.indptr[row] : near.indptr[row + 1]])
