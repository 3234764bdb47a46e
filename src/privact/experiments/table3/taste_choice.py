"""How many taste groups a round has, chosen before it is played, from the training ratings alone.

Choosing by the reports of a round for each candidate would spend epsilon for each. So rounds are rehearsed: some users with
ratings get made-up contacts, some of them users who rate alike and the others drawn at random, and report them with the noise
of the real round. Each is then served as if without ratings, and the groups that serve them best win. No contact goes in.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from privact.learn.evidence.count_posterior import CountPosterior
from privact.protocol.promise import epsilon_per_report
from privact.query.quality import draw_random_tree
from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender, ColdStartSettings, weighted_rates
from privact.recommend.cold_start.validation import keep_most_rated
from privact.recommend.cores import run_on_all_cores, split_into_blocks
from privact.recommend.data.metrics import CUTOFF, score
from privact.recommend.data.ratings import Ratings
from privact.recommend.data.splits import Split
from privact.recommend.ranking import find_best_items
from privact.recommend.taste_groups import find_taste_groups
from privact.simulate.reports import simulated_noise

__all__ = ["CANDIDATES", "Taste", "choose_taste"]


class Taste(NamedTuple):
    """n_groups: how many taste groups. factors: dimensions of the taste they are found in."""

    n_groups: int
    factors: int


CANDIDATES = tuple(Taste(*each) for each in ((5, 8), (3, 8), (8, 8), (5, 16), (8, 16), (5, 32), (8, 32), (16, 32)))
"""What is rehearsed."""

CONTACTS = 20
"""Made-up contacts of a user."""

ALIKE, NEAREST = 0.3, 50
"""The share of contacts who rate alike: drawn from this number of users with the most similar ratings."""

REHEARSED, SERVED = 1000, 500
"""Users who report in a rehearsal, and how many of them are served."""


@lru_cache(maxsize=8)
def choose_taste(split: Split, epsilon: float | None) -> Taste:
    """The groups under which rehearsed reports serve users best; by the training part of a fold alone, for all seeds.

    epsilon: the promise per edge of the round; None without noise.
    """
    train = split.train
    rng = np.random.default_rng([split.fold, 6])
    rated = np.flatnonzero(train.activity)
    users = rng.permutation(rated)[:REHEARSED]
    contacts = _make_up_contacts(train, users, rng)
    fitting = [each for each in CANDIDATES if each.n_groups * 4 <= len(rated)] or [Taste(1, CANDIDATES[0].factors)]
    return max(fitting, key=lambda each: _rehearse(train, users, contacts, each, epsilon, split.fold))


def _make_up_contacts(train: Ratings, users: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """(q, CONTACTS) users whom each of some users is taken to know."""
    rated = np.flatnonzero(train.activity)
    rarity = np.log((1.0 + len(rated)) / (1.0 + train.counts)) + 1.0
    weighted = csr_array(train.binary * rarity)
    length = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    weighted = csr_array(diags_array(1.0 / np.maximum(length, 1e-12)) @ weighted)
    similar = (weighted[users] @ weighted.T).toarray()
    similar[np.arange(len(users)), users] = -1.0
    most = min(NEAREST, len(rated) - 1)
    nearest = np.argsort(-similar, axis=1, kind="stable")[:, :most]
    drawn = rated[rng.integers(0, len(rated), (len(users), CONTACTS))]
    alike = np.take_along_axis(nearest, rng.integers(0, most, drawn.shape), axis=1)
    return np.asarray(np.where(rng.random(drawn.shape) < ALIKE, alike, drawn))


def _rehearse(
    train: Ratings, users: NDArray[np.int64], contacts: NDArray[np.int64], taste: Taste, epsilon: float | None, fold: int
) -> float:
    """NDCG of users who are served from rehearsed reports over one choice of groups."""
    rng = np.random.default_rng([fold, 7])
    groups = find_taste_groups(train, taste.n_groups, rng, taste.factors)
    counts = np.stack([(groups.labels[contacts] == group).sum(axis=1) for group in range(groups.n_groups)], axis=1)
    expected = counts.astype(np.float64)
    if epsilon is not None:
        report = epsilon_per_report(epsilon)
        reports = counts + simulated_noise(counts.shape, report, rng)
        expected = CountPosterior.fit(reports, report).counts(reports)
    told = np.zeros((train.n_users, groups.n_groups))
    told[users] = expected
    blind = draw_random_tree(train.n_users, rng, train.users)
    settings = ColdStartSettings(np.inf)
    recommender = ColdStartRecommender(blind, train, groups=groups.labels, contacts=told, settings=settings)
    kept = keep_most_rated(train)
    served = users[kept.activity[users] > 0][:SERVED]

    def find(some: slice) -> NDArray[np.int64]:
        return find_best_items(weighted_rates(recommender.weights(served[some]), kept), CUTOFF)

    blocks = split_into_blocks(len(served), max(train.n_users, kept.n_items))
    return score(np.concatenate(run_on_all_cores(find, blocks)), kept.matrix[served]).mean_ndcg
