"""Implicit alternating least squares: the strong recommender that knows no contacts, which social ones have to beat.

Every pair of user and item has a target, 1 where there is a rating and 0 elsewhere, and a weight, 1 + extra and 1. The factors
minimise the weighted squares plus a ridge (Hu, Koren and Volinsky, ICDM 2008). Each half step is exact, and the unrated pairs
cost nothing: their part of every system is one shared f x f matrix.
"""

from __future__ import annotations

import numpy as np

from privact.errors import InputError
from privact.recommend.data.ratings import Ratings
from privact.recommend.factors.factor_model import FactorModel

__all__ = ["ImplicitFactors"]


class ImplicitFactors(FactorModel):
    """Matrix factorisation of who rated what, unrated pairs counting as weak zeros.

    factors: length of a vector.
    extra: by how much a rated pair counts more than an unrated one.
    ridge: how strongly vectors are held short.
    iterations: rounds over users and items.
    random_state: seed of the first item vectors.
    """

    def __init__(
        self,
        factors: int = 64,
        extra: float = 10.0,
        ridge: float = 60.0,
        iterations: int = 8,
        random_state: int | np.random.Generator = 0,
    ) -> None:
        for name, value, low in (("factors", factors, 1), ("iterations", iterations, 1)):
            if value < low:
                raise InputError(f"{name} is {value}, but at least {low} is needed")
        for name, number in (("extra", extra), ("ridge", ridge)):
            if not 0.0 < number < np.inf:
                raise InputError(f"{name} is {number}; it must be a finite number above 0")
        self.factors = factors
        self.extra = extra
        self.ridge = ridge
        self.iterations = iterations
        self.random_state = random_state

    def _learn(self, ratings: Ratings) -> None:
        from privact.recommend.factors._least_squares import half_step

        items = self._prepare(ratings)
        rated, rated_by = items.matrix, items.matrix.T.tocsr()
        weights, alone = items.weights.astype(np.float64), np.ones(rated.shape[0])
        columns = 0.1 * np.random.default_rng(self.random_state).standard_normal((rated.shape[1], self.factors))
        for _ in range(self.iterations):
            users = half_step(rated, columns, weights, self.extra, self.ridge)
            columns = half_step(rated_by, users, alone, self.extra, self.ridge)
        self.user_factors_, self.item_factors_ = users, columns
