"""SERec: recommendations for users who have ratings, by who was exposed to what (Wang et al., AAAI 2018).

That a user did not rate an item may mean dislike, or that the user never came across it. The model tells them apart: exposure
is a hidden coin for each user and item, and a rating is a preference seen through it. Contacts make exposure likelier; they
need not share taste. The formulas are in `exposure_plain` and `exposure_prior`.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.recommend.data.ratings import Ratings
from privact.recommend.exposure.exposure_settings import RECQ, ExposureSettings
from privact.recommend.exposure.priors import ContactPrior, DegreePrior, Floats, PopularityPrior
from privact.recommend.factors.factor_model import FactorModel

__all__ = ["Form", "RankBy", "SocialExposure"]

Form = Literal["own", "recq"]
RankBy = Literal["preference", "exposure"]


class SocialExposure(FactorModel):
    """Matrix factorisation with hidden exposure, which the user's neighbours make likelier.

    neighbours: (n_users, n_users) sparse matrix with a 1 in row u for each neighbour of user u of the ratings: contacts (SERec),
        `find_tree_neighbours` in their place (PrivaCT-SERec), or None for no neighbours (Basic SERec, ExpoMF).
    form: "own": exposure follows the exposure of one's own neighbours, the model as published. "recq": the sum over all users
        times the number of neighbours, what RecQ computes; it cannot tell neighbours of the same number apart.
    settings: RecQ's by default.
    rank_by: "preference" ranks by theta . beta, as RecQ does; "exposure" by mu times that.
    start: a model without neighbours, fitted to the same ratings, from whose factors and exposures this one goes on: its
        iterations are added to that model's. None starts from random factors.
    random_state: seed of the random factors.

    After `fit`: user_factors_, item_factors_, prior_.
    """

    def __init__(
        self,
        neighbours: Any = None,
        form: Form = "own",
        settings: ExposureSettings = RECQ,
        rank_by: RankBy = "preference",
        start: SocialExposure | None = None,
        random_state: int | np.random.Generator = 0,
    ) -> None:
        if form not in ("own", "recq"):
            raise InputError(f"form {form!r} is unknown: use 'own' for one's own neighbours or 'recq' for RecQ's sum")
        if rank_by not in ("preference", "exposure"):
            raise InputError(f"rank_by {rank_by!r} is unknown: use 'preference' or 'exposure'")
        self.neighbours = neighbours
        self.form = form
        self.settings = settings
        self.rank_by = rank_by
        self.start = start
        self.random_state = random_state

    def _learn(self, ratings: Ratings) -> None:
        from privact.recommend.exposure._expectation_maximisation import expectation_maximisation

        self._check_start(ratings)
        items = self._prepare(ratings)
        self.prior_ = self._prior(*items.matrix.shape)
        if self.start is None:
            rng = np.random.default_rng(self.random_state)
            users, columns = (self._random_factors(n, rng) for n in items.matrix.shape)
        else:
            self.prior_.go_on_from(self.start.prior_)
            users, columns = self.start.user_factors_, self.start.item_factors_
        self.user_factors_, self.item_factors_ = expectation_maximisation(
            items.matrix,
            items.matrix.T.tocsr(),
            items.weights.astype(np.float32),
            self.prior_,
            self.settings,
            users,
            columns,
            self.settings.iterations,
        )

    def _random_factors(self, n: int, rng: np.random.Generator) -> Floats:
        return (self.settings.initial_spread * rng.standard_normal((n, self.settings.factors))).astype(np.float32)

    def _check_start(self, ratings: Ratings) -> None:
        if self.start is None:
            return
        if self.start.neighbours is not None:
            raise InputError("start has neighbours; a model is gone on from only if it has none: SocialExposure().fit(ratings)")
        if self.start.ratings is not ratings:
            raise InputError("start was fitted to other ratings; fit it to the same ones, SocialExposure().fit(ratings)")
        mine, given = self.settings.factors, self.start.settings.factors
        if given != mine:
            raise InputError(f"start has {given} factors, but the settings say {mine}; use the same number")

    def _prior(self, n_users: int, n_items: int) -> PopularityPrior:
        if self.neighbours is None:
            return PopularityPrior(n_users, n_items, self.settings)
        if self.form == "recq":
            return DegreePrior(n_users, n_items, self.settings, np.diff(self._neighbours.indptr))
        return ContactPrior(n_users, n_items, self.settings, self._neighbours)

    def _scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        preference = super()._scores(rows)
        return preference if self.rank_by == "preference" else preference * self._exposure(rows)

    def _without_ratings(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Exposure itself: what many have, and many of the neighbours."""
        return self._exposure(rows)

    def _exposure(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, distinct items) mu."""
        everything = slice(0, len(self.item_factors_))
        favour = self.prior_.favour(rows, everything).astype(np.float64)
        return np.asarray(favour / (favour + self.prior_.against))
