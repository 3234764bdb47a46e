"""Lists for users: the fast code lists what the definition lists, and the close community comes first."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import random_array

from privact.query.quality import draw_random_tree
from privact.recommend.cold_start.coarse_lists import list_coarsely, list_coarsely_plain
from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender, ColdStartSettings
from privact.recommend.data.ratings import Ratings
from privact.tree.hct import HierarchicalClusterTree

SETTINGS = (
    ColdStartSettings(),
    ColdStartSettings(20.0, ridge=np.inf),
    ColdStartSettings(50.0, prior=2.0, evenly=True),
    ColdStartSettings(np.inf, power=0.0),
)


def make_recommender(seed: int, settings: ColdStartSettings, with_reports: bool = True) -> ColdStartRecommender:
    """240 users, a tenth without ratings, and 90 items of which some are in nearly every list and some in none."""
    rng = np.random.default_rng(seed)
    matrix = random_array((240, 90), density=0.15, rng=rng, format="csr")
    matrix = matrix.multiply(rng.random(90) < np.linspace(1.0, 0.02, 90)).tolil()
    matrix[rng.random(240) < 0.1] = 0
    ratings = Ratings.from_csr(matrix.tocsr())
    groups = rng.integers(-1, 4, 240)
    contacts = rng.poisson(2.0, (240, 4))
    reported = {"groups": groups, "contacts": contacts} if with_reports else {}
    return ColdStartRecommender(draw_random_tree(240, rng, ratings.users), ratings, settings=settings, **reported)


@pytest.mark.parametrize("minimum", [1, 3, 8])
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("with_reports", [True, False])
def test_the_fast_code_lists_what_the_definition_lists(minimum: int, settings: ColdStartSettings, with_reports: bool) -> None:
    recommender = make_recommender(minimum, settings, with_reports)
    for user in recommender.ratings.users[::7]:
        for k in (1, 10, 200):
            assert list_coarsely(recommender, user, k, minimum) == list_coarsely_plain(recommender, user, k, minimum)


def test_items_of_the_close_community_come_before_more_popular_ones() -> None:
    """The first 14 users are a community: three of them have the song that nobody else has, everybody else has the hymn."""
    users = [f"user{number:02d}" for number in range(40)]
    tree = HierarchicalClusterTree.from_nested((tuple_of(users[:14]), tuple_of(users[14:])))
    has = (
        [(user, "hymn") for user in users[14:]] + [(user, "song") for user in users[1:4]] + [(user, "odd") for user in users[:14]]
    )
    frame = {"user": [user for user, _ in has], "item": [item for _, item in has], "rating": [1] * len(has)}
    listed = list_coarsely(ColdStartRecommender(tree, Ratings.from_frame(frame)), "user13", 5)
    assert [(found.rank, found.item) for found in listed] == [(1, "song"), (2, "hymn")]
    assert "close community" in listed[0].reason
    assert "close community" not in listed[1].reason


def tuple_of(users: list[str]) -> object:
    """The users as a balanced nested tuple."""
    if len(users) == 1:
        return users[0]
    return tuple_of(users[: len(users) // 2]), tuple_of(users[len(users) // 2 :])
