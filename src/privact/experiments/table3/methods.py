"""Every way of serving a user without ratings that the cold-start table compares: the paper's, ours, and the controls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from privact.estimator import PrivaCT
from privact.experiments.report.recommendation_rows import Control
from privact.experiments.running.networks import RatedNetwork
from privact.experiments.running.rounds import reported_degrees, rounds_of
from privact.experiments.table3.taste_choice import Taste, choose_taste
from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender, ColdStartSettings
from privact.recommend.cold_start.community_filter import CommunityFilter, ItemAverage
from privact.recommend.cold_start.validation import choose_settings
from privact.recommend.data.ratings import Ratings
from privact.recommend.data.splits import Split
from privact.recommend.neighbours import draw_random_neighbours, find_tree_neighbours
from privact.recommend.popularity import MostPopular
from privact.recommend.recommender import Recommender
from privact.recommend.taste_groups import find_taste_groups

__all__ = ["BEST", "METHODS", "NO_NOISE", "Choice", "ColdStartRun", "Method"]


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
NO_NOISE = f"{BEST}, no noise"

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
    Method(NO_NOISE, reports=False, private=False),
)
"""The rows of the table, in order."""


class Choice(NamedTuple):
    """What was chosen in the training part of a fold. taste: groups of the round. settings: how much each source is believed."""

    taste: Taste
    settings: ColdStartSettings


class ColdStartRun:
    """One fold with one seed: rounds are played and trees learned when a method first asks for them.

    network: contacts and ratings. split: the fold; the users to be served have no ratings in it. seed: of bins, noise and trees.
    epsilon: the promise per edge. taste: groups of the round; chosen from the training ratings unless given (`taste_choice`).
    """

    def __init__(self, network: RatedNetwork, split: Split, seed: int, epsilon: float, taste: Taste | None = None) -> None:
        self.network, self.split, self.seed, self.epsilon = network, split, seed, epsilon
        self.taste = taste
        self.rounds = rounds_of(network, seed, epsilon)
        self.chosen: dict[str, Choice] = {}

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
        self.chosen[BEST] = Choice(self._find_taste(self.epsilon), best.settings)
        yield "report alone, taste bins", self._with_report(taste, train, replace(best.settings, strength=np.inf))
        yield BEST, best
        exact = self._whole(self._with_report(self.taste_round(None), train), 5)
        self.chosen[NO_NOISE] = Choice(self._find_taste(None), exact.settings)
        yield NO_NOISE, exact

    def taste_round(self, epsilon: float | None) -> PrivaCT:
        """A round in which bins are taste groups of the users with ratings."""
        if epsilon not in self._taste_rounds:
            taste = self._find_taste(epsilon)
            groups = find_taste_groups(self.split.train, taste.n_groups, self._rng(3), taste.factors)
            model = PrivaCT(
                epsilon, n_bins=groups.n_groups, bins=groups.labels, profile="shares", balance=0.0, random_state=self._rng(4)
            )
            self._taste_rounds[epsilon] = model.fit(self.network.graph)
        return self._taste_rounds[epsilon]

    def _find_taste(self, epsilon: float | None) -> Taste:
        """The groups of a round: given, or chosen from the training ratings for its noise."""
        return self.taste or choose_taste(self.split, epsilon)

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
