"""Settings of the cold-start recommender, chosen on users who have ratings: each in turn is served as if without."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privact.recommend.cold_start import ColdStartRecommender, ColdStartSettings, weighted_rates
from privact.recommend.community_rates import community_weights
from privact.recommend.metrics import CUTOFF, score
from privact.recommend.ranking import best_items

__all__ = ["GRID", "choose_settings"]

GRID: tuple[ColdStartSettings, ...] = (
    ColdStartSettings(np.inf, 1.0, 0.0),
    *(
        ColdStartSettings(strength, prior, power)
        for strength in (300.0, 1_000.0, 3_000.0, np.inf)
        for prior, power in ((1.0, 1.0), (4.0, 1.5), (1.0, 2.0))
    ),
)
"""What is tried: popularity first, which wins ties, then little to much trust in communities and in the report."""

SAMPLE = 200


def choose_settings(
    recommender: ColdStartRecommender,
    rng: np.random.Generator,
    grid: Sequence[ColdStartSettings] = GRID,
    sample: int = SAMPLE,
    k: int = CUTOFF,
) -> ColdStartSettings:
    """The settings with the best NDCG@k for users whose ratings are known but not shown to their own list.

    Only what the recommender was fitted on is used, so in an experiment nothing of the hidden fold is.

    recommender: fitted; its own settings are not changed.
    rng: draws who is asked.
    grid: what to try; of equally good ones the first wins.
    sample: how many users are asked, at most.
    """
    ratings = recommender.ratings
    rated = ratings.activity > 0
    rows = np.flatnonzero(rated)
    if len(rows) < 2:
        return grid[0]
    rows = np.sort(rng.permutation(rows)[:sample])
    relevant = ratings.matrix[rows]
    weights = {
        strength: community_weights(recommender.tree, rows, rated, strength)
        for strength in dict.fromkeys(settings.strength for settings in grid)
    }
    best, highest = grid[0], -1.0
    for settings in grid if recommender.groups is not None else _trees_alone(grid):
        rates = weighted_rates(weights[settings.strength] * recommender.lifts(rows, settings), ratings)
        reached = score(best_items(rates, k), relevant).mean_ndcg
        if reached > highest:
            best, highest = settings, reached
    return best


def _trees_alone(grid: Sequence[ColdStartSettings]) -> list[ColdStartSettings]:
    """The settings that differ where there is no report: the first of each strength."""
    return list({settings.strength: settings for settings in reversed(grid)}.values())[::-1]
