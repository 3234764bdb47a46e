"""Promise 17: from what a user is recommended, nobody can decode who rated what.

The decoder knows everything but who of the eight users nearest to it has one item: the tree, the method, every other rating. It
goes through every way in which the eight could have the item and keeps those that give the very list it was shown. What all of
these have in common, it knows. With scores it knows most of the ratings; with ranks and coarse reasons, not a single one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from itertools import product

import pytest

from privact.recommend.cold_start.coarse_lists import list_coarsely
from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender
from privact.recommend.data.ratings import Ratings
from privact.tree.hct import HierarchicalClusterTree

ME = "user00"
OTHERS = [f"user{number:02}" for number in range(1, 24)]
NEAR = OTHERS[:8]
KNOWN = (
    [(user, "popular") for user in OTHERS[::2]] + [(user, "rare") for user in OTHERS[-4:]] + [(user, "own") for user in OTHERS]
)


def tree_around_me() -> HierarchicalClusterTree:
    """Everybody one after the other around the decoder: every user has a weight of their own, the worst case."""
    nested: object = ME
    for user in OTHERS:
        nested = (nested, user)
    return HierarchicalClusterTree.from_nested(nested)


def worlds(see: Callable[[ColdStartRecommender], Hashable]) -> dict[Hashable, list[frozenset[str]]]:
    """Who of the near users may have the item, by what the decoder is shown."""
    tree, found = tree_around_me(), defaultdict(list)
    for chosen in product((False, True), repeat=len(NEAR)):
        holders = frozenset(user for user, has in zip(NEAR, chosen, strict=True) if has)
        pairs = KNOWN + [(user, "secret") for user in sorted(holders)]
        users, items = zip(*pairs, strict=True)
        ratings = Ratings.from_frame({"user": list(users), "item": list(items), "rating": [1] * len(pairs)})
        found[see(ColdStartRecommender(tree, ratings))].append(holders)
    return found


def count_decoded(seen: dict[Hashable, list[frozenset[str]]]) -> int:
    """How many statements "X rated the item" follow from what is shown, over all worlds."""
    return sum(len(frozenset.intersection(*consistent)) * len(consistent) for consistent in seen.values())


@pytest.fixture(scope="module")
def n_ratings() -> int:
    return len(NEAR) * 2 ** (len(NEAR) - 1)


def test_scores_can_be_decoded(n_ratings: int) -> None:
    seen = worlds(lambda recommender: tuple((found.item, found.score) for found in recommender.recommend(ME, 10)))
    assert count_decoded(seen) == n_ratings  # every one of them: this is why scores stay inside


def test_ranks_and_coarse_reasons_cannot(n_ratings: int) -> None:
    seen = worlds(lambda recommender: tuple(list_coarsely(recommender, ME, 10)))
    assert len(seen) > 1  # the list does depend on ratings: it would be no recommendation otherwise
    assert count_decoded(seen) == 0


def test_an_item_of_fewer_users_than_the_minimum_is_not_listed_and_no_reason_has_a_number() -> None:
    tree = tree_around_me()
    users, items = zip(*KNOWN, *((user, "secret") for user in NEAR[:2]), strict=True)
    ratings = Ratings.from_frame({"user": list(users), "item": list(items), "rating": [1] * len(users)})
    recommender = ColdStartRecommender(tree, ratings)
    listed = list_coarsely(recommender, ME, 10)
    assert {found.item for found in listed} == {"own", "popular", "rare"}
    assert "secret" in {found.item for found in list_coarsely(recommender, ME, 10, minimum=2)}
    assert [found.rank for found in listed] == [1, 2, 3]
    assert not any(letter.isdigit() for found in listed for letter in found.reason)
    reasons = {found.item: found.reason for found in listed}
    assert reasons["popular"] == "several in your close community rated this"
    assert reasons["rare"] == "several users rated this"  # only users far away have it
