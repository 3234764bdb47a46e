"""How good recommendations for users without ratings are beside the most popular items."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender, weighted_rates
from privact.recommend.cold_start.community_rates import weigh_communities
from privact.recommend.cores import split_into_blocks
from privact.recommend.data.metrics import mark_hits, score
from privact.recommend.ranking import find_best_items

__all__ = ["Comparison", "compare_with_popularity"]

_ASKED: Final = 300  # users
_LISTED: Final = 10  # items


class Comparison(NamedTuple):
    """Lists of ten items for users whose own ratings are hidden in turn.

    users: how many were asked.
    precision, precision_popular: the share of listed items that the user really has, by the recommender and by popularity.
    ndcg, ndcg_popular: NDCG@10 of the same lists.
    """

    users: int
    precision: float
    precision_popular: float
    ndcg: float
    ndcg_popular: float


def compare_with_popularity(recommender: ColdStartRecommender, rng: int | np.random.Generator = 0) -> Comparison:
    """Serve users with ratings as if they had none, and look how much of each list is really theirs.

    Settings that were chosen by `choose_settings` saw ratings of the same users: what they gain over the default is a little
    flattered.

    recommender: fitted. rng: draws who is asked, at most 300 users.
    """
    ratings = recommender.ratings
    rows = np.flatnonzero(ratings.activity)
    if len(rows) < 2:
        raise InputError(f"{len(rows)} users of the tree have ratings: nothing can be compared with fewer than 2")
    rows = np.sort(np.random.default_rng(rng).permutation(rows)[:_ASKED])
    k = min(_LISTED, ratings.n_items)
    found = [_compare(recommender, rows[part], k) for part in split_into_blocks(len(rows), max(ratings.n_users, ratings.n_items))]
    return Comparison(len(rows), *np.concatenate(found, axis=1).mean(axis=1).tolist())


def _compare(recommender: ColdStartRecommender, rows: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """(4, q) precision and NDCG of some users' lists, each by the recommender and by popularity."""
    ratings = recommender.ratings
    relevant = ratings.matrix[rows]
    weights = weigh_communities(recommender.tree, rows, ratings.activity > 0, recommender.settings.strength)
    lists = find_best_items(weighted_rates(recommender.blended(weights, rows, recommender.settings), ratings), k)
    owned = (relevant.toarray() > 0).astype(np.float64)
    popular = find_best_items(ratings.counts[None, :] - owned, k)  # a user does not count for the own list
    hits = (mark_hits(each, relevant).mean(axis=1) for each in (lists, popular))
    return np.stack([*hits, *(score(each, relevant).ndcg for each in (lists, popular))])
