"""Every way of serving a user without ratings that the cold-start table compares: the paper's, ours, and the controls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from privact.estimator import PrivaCT
from privact.experiments.report.recommendation_rows import Control
from privact.experiments.running.networks import RatedNetwork
from privact.experiments.running.rounds import reported_degrees, rounds_of
from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender, ColdStartSettings
from privact.recommend.cold_start.community_filter import CommunityFilter, ItemAverage
from privact.recommend.cold_start.validation import choose_settings
from privact.recommend.data.ratings import Ratings
from privact.recommend.data.splits import Split
from privact.recommend.neighbours import draw_random_neighbours, find_tree_neighbours
from privact.recommend.popularity import MostPopular
from privact.recommend.recommender import Recommender
from privact.recommend.taste_groups import TasteGroups, find_taste_groups

__all__ = ["BEST", "METHODS", "ColdStartRun", "Method"]


@dataclass(frozen=True)
class Method:
    """What a row of the table says about a method before it is measured.

    name: in the table.
    reports: whether it sees reports made with epsilon.
    private: whether contacts stay private.
    control: which control it is, if it is one.
    seeded: whether a tree's seed changes it.
    """

    name: str
    reports: bool = True
    private: bool = True
    control: Control | None = None
    seeded: bool = True


BEST = "tree and report, taste bins"

GROUPS, BROAD = 5, 8
"""Taste groups, and dimensions of the taste they are found in. Few and broad: each count then stands further above its noise."""

METHODS: tuple[Method, ...] = (
    Method("most popular", reports=False, control="most popular", seeded=False),
    Method("most popular, users even", reports=False, control="most popular", seeded=False),
    Method("itemAvg", reports=False, seeded=False),
    Method("friendsCF", reports=False, private=False, seeded=False),
    Method("m random users", control="random users"),
    Method("PrivaCT-CF, random tree", control="random tree"),
    Method("PrivaCT-CF, degree only", control="degree only"),
    Method("PrivaCT-CF"),
    Method("PrivaCT-CF, taste bins"),
    Method("whole tree, random tree", control="random tree"),
    Method("whole tree, degree only", control="degree only"),
    Method("whole tree, random bins"),
    Method("whole tree, taste bins"),
    Method("report alone, taste bins"),
    Method(BEST),
    Method(f"{BEST}, no noise", reports=False, private=False),
)
"""The rows of the table, in order."""


class ColdStartRun:
    """One fold with one seed: rounds are played and trees learned when a method first asks for them.

    network: contacts and ratings. split: the fold; the users to be served have no ratings in it. seed: of bins, noise and trees.
    epsilon: the promise per edge. n_groups, factors: of taste.
    """

    def __init__(
        self, network: RatedNetwork, split: Split, seed: int, epsilon: float, n_groups: int = GROUPS, factors: int = BROAD
    ) -> None:
        self.network, self.split, self.seed, self.epsilon = network, split, seed, epsilon
        self.n_groups, self.factors = n_groups, factors
        self.rounds = rounds_of(network, seed, epsilon)
        self.chosen: dict[str, ColdStartSettings] = {}

    def fixed(self) -> Iterator[tuple[str, Recommender]]:
        """The methods that no seed changes."""
        train = self.split.train
        yield "most popular", MostPopular().fit(train)
        yield "most popular, users even", MostPopular(evenly=True).fit(train)
        yield "itemAvg", ItemAverage().fit(train)
        yield "friendsCF", CommunityFilter(self.network.graph.to_scipy(), "contacts").fit(train)

    def seeded(self) -> Iterator[tuple[str, Recommender]]:
        """The methods that see a tree or draw something."""
        train, graph = self.split.train, self.network.graph
        many = reported_degrees(self.rounds.paper)
        yield "m random users", CommunityFilter(draw_random_neighbours(graph.n_users, many, self._rng(5))).fit(train)
        yield "PrivaCT-CF, random tree", CommunityFilter(find_tree_neighbours(self.rounds.blind_tree, many)).fit(train)
        by_degree = find_tree_neighbours(self.rounds.degree_only.tree_, reported_degrees(self.rounds.degree_only))
        yield "PrivaCT-CF, degree only", CommunityFilter(by_degree).fit(train)
        yield "PrivaCT-CF", CommunityFilter(find_tree_neighbours(self.rounds.paper.tree_, many)).fit(train)
        taste = self.taste_round(self.epsilon)
        yield "PrivaCT-CF, taste bins", CommunityFilter(find_tree_neighbours(taste.tree_, reported_degrees(taste))).fit(train)
        yield "whole tree, random tree", self._whole(ColdStartRecommender(self.rounds.blind_tree, train), 0)
        yield "whole tree, degree only", self._whole(ColdStartRecommender(self.rounds.degree_only.tree_, train), 1)
        yield "whole tree, random bins", self._whole(ColdStartRecommender(self.rounds.random_bins.tree_, train), 2)
        yield "whole tree, taste bins", self._whole(ColdStartRecommender(taste.tree_, train), 3)
        best = self._whole(self._with_report(taste, train), 4)
        settings = self.chosen[BEST] = best.settings
        yield "report alone, taste bins", self._with_report(taste, train, replace(settings, strength=np.inf))
        yield BEST, best
        yield f"{BEST}, no noise", self._whole(self._with_report(self.taste_round(None), train), 5)

    def taste_round(self, epsilon: float | None) -> PrivaCT:
        """A round in which bins are taste groups of the users with ratings."""
        if epsilon not in self._taste_rounds:
            groups = self._groups
            model = PrivaCT(
                epsilon, n_bins=groups.n_groups, bins=groups.labels, profile="shares", balance=0.0, random_state=self._rng(4)
            )
            self._taste_rounds[epsilon] = model.fit(self.network.graph)
        return self._taste_rounds[epsilon]

    @cached_property
    def _groups(self) -> TasteGroups:
        return find_taste_groups(self.split.train, self.n_groups, self._rng(3), self.factors)

    @cached_property
    def _taste_rounds(self) -> dict[float | None, PrivaCT]:
        return {}

    def _whole(self, recommender: ColdStartRecommender, stream: int) -> ColdStartRecommender:
        """The recommender with settings chosen on the users of the training fold."""
        recommender.settings = choose_settings(recommender, self._rng(10 + stream))
        return recommender

    def _with_report(self, played: PrivaCT, train: Ratings, settings: ColdStartSettings | None = None) -> ColdStartRecommender:
        return ColdStartRecommender(
            played.tree_, train, groups=played.bins_, contacts=np.asarray(played.vectors_, np.float64), settings=settings
        )

    def _rng(self, purpose: int) -> np.random.Generator:
        """Random numbers for one purpose in this fold."""
        return np.random.default_rng([self.seed, purpose, self.split.fold + 1])
