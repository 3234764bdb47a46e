"""Lists that may be shown to users: ranks and coarse reasons, never a score or a count.

A score is a sum of weights over the users who have an item. Whoever knows the tree knows the weights, and can solve for the
users. So a list for users holds no number but the rank, names an item only if several users have it, and gives "your close
community" as a reason only if several users there have it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender
from privact.recommend.ranking import NOTHING, find_best_items
from privact.tree.counts import check_count

__all__ = ["MINIMUM_HOLDERS", "CoarseRecommendation", "list_coarsely"]

MINIMUM_HOLDERS: Final = 3
"""By default an item is listed, and a reason given, only if at least this many users have the item."""


class CoarseRecommendation(NamedTuple):
    """An item for a user, as the user may see it.

    rank: 1 for the best. item: its id. reason: why, in words without numbers.
    """

    rank: int
    item: str
    reason: str


def list_coarsely(
    recommender: ColdStartRecommender, user: str, k: int, minimum: int = MINIMUM_HOLDERS
) -> list[CoarseRecommendation]:
    """The k best items for a user, best first, without anything from which one user's ratings follow.

    Items that at least `minimum` users of the close community have come first, in the order of their scores; the others follow
    in the order of how many users have them, so that a few neighbours cannot lift an item.

    k: how many; fewer come back if fewer items are held by enough users.
    minimum: how many users must have an item for it to be listed, and in the close community for that to be a reason.
    """
    ratings, k, minimum = recommender.ratings, check_count("k", k), check_count("minimum", minimum)
    row = ratings.row(user)
    scores = recommender.unrated_scores(np.array([row]))[0]
    scores[ratings.counts < minimum] = -np.inf
    close = recommender.close_counts(row) >= minimum
    popularity = np.where(np.isfinite(scores), ratings.counts / (1.0 + ratings.counts.max(initial=0)), -np.inf)
    # Popularity is below 1, so that every item of the close community stands before every other.
    order = np.where(close & np.isfinite(scores), 1.0 + scores - np.min(scores, where=np.isfinite(scores), initial=0), popularity)
    items = find_best_items(order[None, :], min(k, ratings.n_items))[0]
    reasons = {
        True: f"several in your close community {recommender.verb} this",
        False: f"several users {recommender.verb} this",
    }
    return [
        CoarseRecommendation(rank, ratings.items[item], reasons[bool(close[item])])
        for rank, item in enumerate((int(item) for item in items if item != NOTHING), 1)
    ]
