"""Recommendations beside the most popular items, where communities decide what users have."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from scipy.sparse import csr_array

from privact.errors import InputError
from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender, ColdStartSettings
from privact.recommend.cold_start.comparison import compare_with_popularity
from privact.recommend.data.ratings import Ratings
from privact.tree.hct import HierarchicalClusterTree

HALVES = [[f"{half}{number}" for number in range(20)] for half in "ab"]
"""40 users in two halves of a tree; each half has ten items of its own, all of them."""


def two_halves(n_rated: int = 40) -> ColdStartRecommender:
    tree = HierarchicalClusterTree.from_nested(tuple(reduce(lambda inner, user: (inner, user), half) for half in HALVES))
    dense = np.kron(np.eye(2), np.ones((20, 10)))
    dense[n_rated:] = 0
    ratings = Ratings.from_csr(csr_array(dense), users=[*HALVES[0], *HALVES[1]], items=[f"item{n}" for n in range(20)])
    return ColdStartRecommender(tree, ratings, settings=ColdStartSettings(strength=1.0))


def test_communities_find_what_popularity_cannot():
    found = compare_with_popularity(two_halves())
    assert found.users == 40
    assert found.precision > 0.9
    assert found.precision_popular < 0.6
    assert found.ndcg > found.ndcg_popular


def test_too_few_users_are_refused():
    with pytest.raises(InputError, match="1 users of the tree have ratings"):
        compare_with_popularity(two_halves(1))
