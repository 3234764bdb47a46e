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

__all__ = ["MINIMUM_HOLDERS", "CoarseRecommendation", "list_coarsely", "list_coarsely_plain"]

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
    in the order of how many users have them, so that a few neighbours cannot lift an item. So only the scores of items that the
    close community has are computed, from the ratings of these items.

    k: how many; fewer come back if fewer items are held by enough users.
    minimum: how many users must have an item for it to be listed, and in the close community for that to be a reason.
    """
    ratings, k, minimum = recommender.ratings, check_count("k", k), check_count("minimum", minimum)
    row = ratings.row(user)
    rated = ratings.matrix.indices[ratings.matrix.indptr[row] : ratings.matrix.indptr[row + 1]]
    close = np.setdiff1d(recommender.find_close_items(row, minimum), rated, assume_unique=True)
    best = close[:0]
    if len(close):
        best = close[np.argsort(-recommender.rate_items(row, close), kind="stable")[:k]]
    popular = ratings.by_popularity[: k + len(rated) + len(close)]
    popular = popular[ratings.counts[popular] >= minimum]
    others = popular[~np.isin(popular, np.concatenate((rated, close)))][: k - len(best)]
    return _name_items(recommender, best.tolist(), others.tolist())


def list_coarsely_plain(
    recommender: ColdStartRecommender, user: str, k: int, minimum: int = MINIMUM_HOLDERS
) -> list[CoarseRecommendation]:
    """The same from the scores of all items and a count of the close community: the definition that the fast one is held to."""
    ratings = recommender.ratings
    row = ratings.row(user)
    scores = recommender.unrated_scores(np.array([row]))[0]
    scores[ratings.counts < minimum] = -np.inf
    close = np.zeros(ratings.n_items, bool)
    close[recommender.find_close_items(row, minimum)] = True
    first = find_best_items(np.where(close, scores, -np.inf)[None, :], k)[0]
    popularity = np.where(close | np.isinf(scores), -np.inf, ratings.counts)
    others = find_best_items(popularity[None, :], k)[0]
    best = [int(item) for item in first if item != NOTHING]
    return _name_items(recommender, best, [int(item) for item in others if item != NOTHING][: k - len(best)])


def _name_items(recommender: ColdStartRecommender, close: list[int], others: list[int]) -> list[CoarseRecommendation]:
    """The items of a list with their ranks and reasons; those of the close community first."""
    near = f"several in your close community {recommender.verb} this"
    far = f"several users {recommender.verb} this"
    found = [*((item, near) for item in close), *((item, far) for item in others)]
    return [CoarseRecommendation(rank, recommender.ratings.items[item], why) for rank, (item, why) in enumerate(found, 1)]
