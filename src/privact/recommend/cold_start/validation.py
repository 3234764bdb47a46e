"""Settings of the cold-start recommender, chosen on users who have ratings: each in turn is served as if without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender, ColdStartSettings, weighted_rates
from privact.recommend.cold_start.community_rates import weigh_communities
from privact.recommend.cores import run_on_all_cores, split_into_blocks
from privact.recommend.data.metrics import CUTOFF, score
from privact.recommend.data.ratings import Ratings
from privact.recommend.ranking import find_best_items

__all__ = ["GRID", "ITEMS", "choose_settings", "choose_settings_for_tree", "keep_most_rated"]

GRID: tuple[ColdStartSettings, ...] = (
    ColdStartSettings(),
    ColdStartSettings(1_000.0, prior=2.0),
    ColdStartSettings(prior=2.0, ridge=0.1),
    ColdStartSettings(ridge=np.inf),
    ColdStartSettings(10_000.0),
    ColdStartSettings(30_000.0),
    ColdStartSettings(np.inf),
    ColdStartSettings(np.inf, power=1.0),
    ColdStartSettings(np.inf, power=0.0, ridge=np.inf),
    ColdStartSettings(evenly=True),
    ColdStartSettings(ridge=np.inf, evenly=True),
    ColdStartSettings(np.inf, power=1.0, ridge=np.inf, evenly=True),
    ColdStartSettings(np.inf, power=0.0, ridge=np.inf, evenly=True),
)
"""What is tried: the default first; then more and less trust in communities, down to the report without the tree, and in the
report, down to neither, which is popularity; then the same with users weighing more evenly."""

ASKED, WORK = 300, 200_000_000
"""Number of users in the validation set: limited by the number of (user, rating) products, but at least this number."""

DOUBT = 2.0
"""By how many standard errors other settings must be better than the first."""

ITEMS = 4_000
"""Number of items that are ranked, the most rated ones; others hardly ever enter a list."""


def choose_settings(
    recommender: ColdStartRecommender,
    rng: int | np.random.Generator,
    grid: Sequence[ColdStartSettings] = GRID,
    k: int = CUTOFF,
) -> ColdStartSettings:
    """The settings with the best NDCG@k for users whose ratings are known but do not count for their own list.

    The first settings stay unless others are better by more than two standard errors of the difference: few users cannot tell
    settings apart that are nearly as good.

    Only what the recommender was fitted on is used, so in an experiment nothing of the hidden fold is.

    recommender: fitted; its own settings are not changed.
    rng: a seed or a generator; draws who is asked.
    grid: what to try, first what to keep in doubt.
    """
    ratings = keep_most_rated(recommender.ratings)
    rated = recommender.ratings.activity > 0
    rows = np.flatnonzero(ratings.activity)
    if len(rows) < 2:
        return grid[0]
    rows = np.sort(np.random.default_rng(rng).permutation(rows)[: _count_asked(len(rows), ratings.matrix.nnz)])
    tried = grid if recommender.groups is not None else _different_trees(grid)

    def reached(some: slice) -> NDArray[np.float64]:
        """(settings, users) NDCG of some of the users under all settings."""
        asked = rows[some]
        relevant = ratings.matrix[asked]
        weights = {
            strength: weigh_communities(recommender.tree, asked, rated, strength)
            for strength in dict.fromkeys(settings.strength for settings in tried)
        }
        rates = (weighted_rates(recommender.blended(weights[each.strength], asked, each), ratings) for each in tried)
        return np.stack([score(find_best_items(found, k), relevant).ndcg for found in rates])

    # A block of users is weighed at a time: (users, users) weights of everybody asked would not fit in memory.
    blocks = split_into_blocks(len(rows), recommender.ratings.n_users)
    first, *others = np.concatenate(run_on_all_cores(reached, blocks), axis=1)
    best, gain = tried[0], 0.0
    for settings, found in zip(tried[1:], others, strict=True):
        difference = found - first
        mean = float(difference.mean())
        if mean > max(gain, DOUBT * float(difference.std(ddof=1)) / np.sqrt(len(rows))):
            best, gain = settings, mean
    return best


def choose_settings_for_tree(recommender: ColdStartRecommender) -> ColdStartSettings:
    """The settings that serve the users of a tree best, chosen by `choose_settings`, always alike.

    Default settings are for thousands of users. In smaller trees, where they leave little but popularity, closer communities are
    tried too.

    recommender: fitted.
    """
    rated = int((recommender.ratings.activity > 0).sum())
    least = min(settings.strength for settings in GRID)
    strengths = [part for part in (rated / 100, rated / 10, float(rated)) if 0 < part < least]
    closer = [replace(settings, strength=part) for part in strengths for settings in (GRID[0], replace(GRID[0], ridge=np.inf))]
    return choose_settings(recommender, 0, (*GRID, *closer))


def _count_asked(rated: int, n_ratings: int) -> int:
    """How many of the users with ratings are asked."""
    return min(rated, max(ASKED, WORK // max(1, n_ratings)))


def keep_most_rated(ratings: Ratings) -> Ratings:
    """The same users with the most rated items only."""
    if ratings.n_items <= ITEMS:
        return ratings
    chosen = np.sort(np.argsort(-ratings.counts, kind="stable")[:ITEMS])
    return Ratings(ratings.matrix[:, chosen], ratings.users, tuple(ratings.items[item] for item in chosen.tolist()))


def _different_trees(grid: Sequence[ColdStartSettings]) -> list[ColdStartSettings]:
    """The settings that differ where there is no report: the first of each strength and evenness."""
    different: dict[tuple[float, bool], ColdStartSettings] = {}
    for each in grid:
        different.setdefault((each.strength, each.evenly), each)
    return list(different.values())
