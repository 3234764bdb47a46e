"""Every way of serving users who have ratings that the table of existing users compares: the paper's, the real one, controls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from privact.experiments.report.recommendation_rows import Control
from privact.experiments.running.networks import RatedNetwork
from privact.experiments.running.rounds import reported_degrees
from privact.experiments.table3.methods import ColdStartRun
from privact.experiments.table3.taste_choice import Taste
from privact.protocol.round import default_bins
from privact.recommend.data.metrics import CUTOFF, score
from privact.recommend.data.splits import Split, split_ratings
from privact.recommend.exposure.exposure_settings import EXPOMF, RECQ, ExposureSettings
from privact.recommend.exposure.social_exposure import SocialExposure
from privact.recommend.factors.implicit_factors import ImplicitFactors
from privact.recommend.factors.neighbour_blend import NeighbourBlend
from privact.recommend.neighbours import draw_random_neighbours, find_tree_neighbours
from privact.recommend.popularity import MostPopular
from privact.recommend.recommender import Recommender
from privact.recommend.taste_groups import FACTORS

__all__ = ["METHODS", "TUNED", "ExistingRun", "Method", "Tuned", "choose_tuned"]

EPSILON = 1.0
Model = Literal["popular", "recq", "exposure", "factors"]
Near = Literal["nobody", "contacts", "as many as contacts", "tree", "taste tree", "random users", "degree tree", "random tree"]


@dataclass(frozen=True)
class Method:
    """A row of the table before it is measured.

    name: in the table. model: what learns. near: who takes the place of contacts. by_exposure: ranked by mu times preference.
    control: which control it is. paper: which column of the paper's table it stands beside, from 0.
    """

    name: str
    model: Model
    near: Near = "nobody"
    by_exposure: bool = False
    control: Control | None = None
    paper: int | None = None

    @property
    def reports(self) -> bool:
        """Whether reports made with epsilon go in: trees, and how many users are near."""
        return self.near not in ("nobody", "contacts", "as many as contacts")

    @property
    def private(self) -> bool:
        """Whether contacts stay private."""
        return self.near not in ("contacts", "as many as contacts")

    @property
    def seeded(self) -> bool:
        """Whether a seed changes what the model sees: of random users RecQ's sees their number, which is that of contacts."""
        return self.near not in ("nobody", "contacts") and (self.model, self.near) != ("recq", "as many as contacts")


METHODS: tuple[Method, ...] = (
    Method("most popular", "popular", control="most popular"),
    Method("Basic SERec, RecQ", "recq", paper=0),
    Method("SERec, RecQ", "recq", "contacts", paper=1),
    Method("PrivaCT-SERec, RecQ", "recq", "tree", paper=2),
    Method("SERec, RecQ, random users", "recq", "as many as contacts", control="random users"),
    Method("Basic SERec, RecQ, by exposure", "recq", by_exposure=True, paper=0),
    Method("SERec, RecQ, by exposure", "recq", "contacts", by_exposure=True, paper=1),
    Method("PrivaCT-SERec, RecQ, by exposure", "recq", "tree", by_exposure=True, paper=2),
    Method("Basic SERec (tuned ExpoMF)", "exposure"),
    Method("SERec", "exposure", "contacts"),
    Method("PrivaCT-SERec", "exposure", "tree"),
    Method("PrivaCT-SERec, taste bins", "exposure", "taste tree"),
    Method("SERec, random users", "exposure", "as many as contacts", control="random users"),
    Method("PrivaCT-SERec, degree only", "exposure", "degree tree", control="degree only"),
    Method("PrivaCT-SERec, random tree", "exposure", "random tree", control="random tree"),
    Method("Basic SERec, by exposure", "exposure", by_exposure=True),
    Method("SERec, by exposure", "exposure", "contacts", by_exposure=True),
    Method("PrivaCT-SERec, by exposure", "exposure", "tree", by_exposure=True),
    Method("implicit ALS", "factors"),
    Method("implicit ALS + contacts", "factors", "contacts"),
    Method("implicit ALS + tree", "factors", "tree"),
    Method("implicit ALS + tree, taste bins", "factors", "taste tree"),
    Method("implicit ALS + m random users", "factors", "random users", control="random users"),
    Method("implicit ALS + tree, degree only", "factors", "degree tree", control="degree only"),
    Method("implicit ALS + random tree", "factors", "random tree", control="random tree"),
)
"""The rows of the table, in order."""


@dataclass(frozen=True)
class Tuned:
    """Settings chosen on ratings that were hidden inside the training part of one fold.

    exposure: of the published SERec, tuned without contacts; boosts from 10 to 400 were tried with real contacts, and the mildest
        of those that do something is taken.
    extra, ridge: of implicit ALS.
    """

    exposure: ExposureSettings
    extra: float
    ridge: float


WEIGHTS = (0.0, 0.03, 0.1, 0.3)
"""What neighbours may weigh on top of implicit ALS; 0 leaves them out. Each kind gets the best on a hidden part of the fold."""


ALONE = 14
"""Iterations of the published SERec without anybody near, once a fold; all kinds of neighbours, nobody too, go on from there."""


def _exposure(exposed: float, ridge: float) -> ExposureSettings:
    return EXPOMF.but(exposed=exposed, unexposed=1500.0, user_ridge=ridge, item_ridge=ridge, iterations=3, boost=30.0)


TUNED: dict[str, Tuned] = {
    "lastfm": Tuned(_exposure(exposed=400.0, ridge=3.0), extra=10.0, ridge=60.0),
    "delicious": Tuned(_exposure(exposed=5.0, ridge=0.3), extra=300.0, ridge=30.0),
    "douban": Tuned(_exposure(exposed=1500.0, ridge=6.0), extra=5.0, ridge=30.0),
}


def choose_tuned(network: RatedNetwork, split: Split) -> Tuned:
    """The settings for a network that is not the paper's: of those of the paper's networks, the best on a hidden part.

    split: its training ratings alone are used; a part of them is hidden for that.
    """
    runs = [ExistingRun(network, split, tuned)._inner for tuned in TUNED.values()]
    by_exposure = [run._score(run._alone)["ndcg"] for run in runs]
    by_factors = [run._score(run._factors)["ndcg"] for run in runs]
    exposure, factors = (runs[int(np.argmax(found))].tuned for found in (by_exposure, by_factors))
    return Tuned(exposure.exposure, factors.extra, factors.ridge)


class ExistingRun:
    """One fold: neighbours of every kind by seed, models when a method first asks for them.

    network: contacts and ratings. split: the fold. tuned: settings of the models.
    """

    def __init__(self, network: RatedNetwork, split: Split, tuned: Tuned) -> None:
        self.network, self.split, self.tuned = network, split, tuned
        self._rounds: dict[int, ColdStartRun] = {}
        self._neighbours: dict[tuple[Near, int], Any] = {}
        self._weights: dict[Near, float] = {}

    def described(self, method: Method, seed: int) -> dict[str, Any]:
        """Everything that decides a part, for its file; methods that share a fit share a part."""
        tuned = self.tuned
        settings: dict[str, Any] = {
            "popular": {},
            "recq": RECQ.as_dict(),
            "exposure": {**tuned.exposure.as_dict(), "alone": ALONE},
            "factors": {"extra": tuned.extra, "ridge": tuned.ridge, "weights": WEIGHTS},
        }[method.model]
        return {
            "experiment": "existing users, shuffled",
            "dataset": self.network.name,
            "data": self.network.content,
            "fold": self.split.fold,
            "model": method.model,
            "near": method.near,
            "seed": seed if method.seeded else 0,
            "epsilon": EPSILON if method.reports else None,
            "settings": settings,
        }

    def measure(self, method: Method, seed: int) -> dict[str, Any]:
        """NDCG and MAP of a method, and of each user where they are compared in pairs; by ranking."""
        model = self._fitted(method, seed)
        found = {"preference": self._score(model, keep_users=method.model == "factors")}
        if isinstance(model, NeighbourBlend):
            found["preference"]["weight"] = model.weight
        if isinstance(model, SocialExposure) and method.near in ("nobody", "contacts", "tree"):
            model.rank_by = "exposure"
            found["exposure"] = self._score(model)
        return found

    def neighbours(self, near: Near, seed: int) -> Any:
        """(n, n) who is near whom."""
        if (near, seed) not in self._neighbours:
            self._neighbours[near, seed] = self._find_neighbours(near, seed)
        return self._neighbours[near, seed]

    def _find_neighbours(self, near: Near, seed: int) -> Any:
        graph = self.network.graph
        rng = np.random.default_rng([seed, 20, self.split.fold])
        if near == "contacts":
            return graph.to_scipy()
        if near == "as many as contacts":
            return draw_random_neighbours(graph.n_users, graph.degrees, rng)
        played = self._round(seed)
        if near == "taste tree":
            taste = played.taste_round(EPSILON)
            return find_tree_neighbours(taste.tree_, reported_degrees(taste))
        rounds = played.rounds
        if near == "degree tree":
            return find_tree_neighbours(rounds.degree_only.tree_, reported_degrees(rounds.degree_only))
        many = reported_degrees(rounds.random_bins)
        if near == "random users":
            return draw_random_neighbours(graph.n_users, many, rng)
        return find_tree_neighbours(rounds.blind_tree if near == "random tree" else rounds.random_bins.tree_, many)

    def _round(self, seed: int) -> ColdStartRun:
        if seed not in self._rounds:
            fine = Taste(default_bins(self.network.graph.n_users), FACTORS)
            self._rounds[seed] = ColdStartRun(self.network, self.split, seed, EPSILON, fine)
        return self._rounds[seed]

    def _fitted(self, method: Method, seed: int) -> Recommender:
        train, tuned = self.split.train, self.tuned
        if method.model == "popular":
            return MostPopular().fit(train)
        near = None if method.near == "nobody" else self.neighbours(method.near, seed)
        if method.model == "recq":
            return SocialExposure(near, "recq", RECQ).fit(train)
        if method.model == "exposure":
            return SocialExposure(near, "own", tuned.exposure, start=self._alone).fit(train)
        return self._factors if near is None else NeighbourBlend(self._factors, near, self.weight(method.near)).fit(train)

    def weight(self, near: Near) -> float:
        """The weight of neighbours of a kind that serves best on a part of the training ratings, hidden for that alone.

        Models for it are learned without that part. Trees are those of the fold, of seed 0: to choose a weight no second round is
        played, so epsilon is what it was.
        """
        if near not in self._weights:
            neighbours = self.neighbours(near, 0)
            found = [
                self._inner._score(NeighbourBlend(self._inner._factors, neighbours, weight).fit(self._inner.split.train))["ndcg"]
                for weight in WEIGHTS
            ]
            self._weights[near] = WEIGHTS[int(np.argmax(found))]
        return self._weights[near]

    @cached_property
    def _inner(self) -> ExistingRun:
        """The training part of the fold as a network of its own, with a fold of its own."""
        inner = next(split_ratings(self.split.train, np.random.default_rng([30, self.split.fold])))
        return ExistingRun(self.network, replace(inner, fold=self.split.fold), self.tuned)

    @cached_property
    def _alone(self) -> SocialExposure:
        """The published SERec before it is told who is near."""
        return SocialExposure(None, "own", self.tuned.exposure.but(iterations=ALONE)).fit(self.split.train)

    @cached_property
    def _factors(self) -> ImplicitFactors:
        return ImplicitFactors(extra=self.tuned.extra, ridge=self.tuned.ridge).fit(self.split.train)

    def _score(self, model: Recommender, keep_users: bool = False) -> dict[str, Any]:
        scores = score(model.rank(self.split.users, CUTOFF), self.split.relevant)
        found: dict[str, Any] = {"ndcg": scores.mean_ndcg, "map": scores.mean_average_precision}
        if keep_users:
            found["users"] = np.round(scores.ndcg, 6).tolist()
        return found
