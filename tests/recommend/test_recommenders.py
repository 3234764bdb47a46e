"""What every recommender must do, whatever its method: one class of tests for all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array

from privact.errors import InputError, NotFittedError, UnknownUserError
from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender, ColdStartSettings
from privact.recommend.cold_start.community_filter import CommunityFilter, ItemAverage
from privact.recommend.data.ratings import Ratings
from privact.recommend.exposure.exposure_settings import RECQ
from privact.recommend.exposure.social_exposure import SocialExposure
from privact.recommend.factors.implicit_factors import ImplicitFactors
from privact.recommend.factors.neighbour_blend import NeighbourBlend
from privact.recommend.popularity import MostPopular
from privact.recommend.recommender import Recommender
from privact.tree.hct import HierarchicalClusterTree

USERS = tuple(f"user {number:02d}" for number in range(12))
N_ITEMS = 10
COLD, GLUTTON = "user 05", "user 06"


def checkerboard() -> Ratings:
    """Users of even number have even items, the others odd ones, but for one item each; one has none and one has all."""
    dense = (np.add.outer(np.arange(len(USERS)), np.arange(N_ITEMS)) % 2 == 0).astype(float)
    for user in range(len(USERS)):
        dense[user, (user + 2 * (user // N_ITEMS)) % N_ITEMS] = 0  # the one that should be recommended
    dense[USERS.index(COLD)] = 0
    dense[USERS.index(GLUTTON)] = 1
    return Ratings.from_csr(csr_array(dense), users=USERS, items=[f"item {item}" for item in range(N_ITEMS)])


def contacts() -> csr_array:
    """Users of even number know each other, and so do the others."""
    parity = np.arange(len(USERS)) % 2
    return csr_array((parity[:, None] == parity) & ~np.eye(len(USERS), dtype=bool)).astype(float)


def tree() -> HierarchicalClusterTree:
    """Even users on one side of the tree, odd ones on the other."""
    even, odd = (list(range(first, len(USERS), 2)) for first in (0, 1))
    nested = [even[0], odd[0]]
    for side, rest in enumerate((even[1:], odd[1:])):
        for user in rest:
            nested[side] = (nested[side], user)  # type: ignore[call-overload]
    numbered = HierarchicalClusterTree.from_nested(tuple(nested))
    return HierarchicalClusterTree.from_children(numbered.left, numbered.right, USERS)


def with_report() -> ColdStartRecommender:
    parity = np.arange(len(USERS)) % 2
    known = np.column_stack((parity == 0, parity == 1)) * 5.0
    return ColdStartRecommender(tree(), groups=parity, contacts=known)


RECOMMENDERS: dict[str, Callable[[], Recommender]] = {
    "most popular": MostPopular,
    "most popular, evenly": lambda: MostPopular(evenly=True),
    "itemAvg": ItemAverage,
    "friendsCF": lambda: CommunityFilter(contacts()),
    "whole tree": lambda: ColdStartRecommender(tree(), settings=ColdStartSettings(strength=2.0)),
    "tree and report": with_report,
    "SERec": lambda: SocialExposure(contacts(), settings=RECQ.but(factors=2, iterations=2)),
    "implicit factors": lambda: ImplicitFactors(factors=2, iterations=3),
    "blend": lambda: NeighbourBlend(ImplicitFactors(factors=2, iterations=3), contacts()),
}
PERSONAL = ("whole tree", "tree and report")


@pytest.mark.parametrize("name", RECOMMENDERS)
class TestEveryRecommender:
    @pytest.fixture
    def fitted(self, name: str) -> Recommender:
        return RECOMMENDERS[name]().fit(checkerboard())

    def test_lists_k_different_items_that_the_user_has_not_rated_best_first(self, fitted: Recommender) -> None:
        for user in USERS:
            found = fitted.recommend(user, 3)
            rated = checkerboard().matrix[[checkerboard().row(user)]].indices
            items = [checkerboard().items.index(each.item) for each in found]
            assert len(found) == min(3, N_ITEMS - len(rated))
            assert len(set(items)) == len(items)
            assert not set(items) & set(rated.tolist())
            scores = [each.score for each in found]
            assert scores == sorted(scores, reverse=True)
            assert np.isfinite(scores).all()

    def test_many_users_get_the_lists_that_each_gets_alone(self, fitted: Recommender) -> None:
        assert fitted.recommend(USERS[:4], 4) == [fitted.recommend(user, 4) for user in USERS[:4]]
        assert fitted.recommend([], 4) == []

    def test_ranks_are_the_lists_by_number(self, fitted: Recommender) -> None:
        ranked = fitted.rank(np.arange(len(USERS)), 4)
        for row, user in enumerate(USERS):
            listed = [checkerboard().items.index(each.item) for each in fitted.recommend(user, 4)]
            assert ranked[row].tolist() == listed + [-1] * (4 - len(listed))

    def test_users_without_ratings_are_served(self, fitted: Recommender) -> None:
        assert len(fitted.recommend(COLD, 5)) == 5

    def test_a_user_who_rated_everything_gets_an_empty_list(self, fitted: Recommender) -> None:
        assert fitted.recommend(GLUTTON, 5) == []

    def test_more_items_than_there_are_give_all_that_are_left(self, fitted: Recommender) -> None:
        assert len(fitted.recommend(USERS[0], 1000)) == N_ITEMS - checkerboard().activity[0]

    def test_every_item_comes_with_one_line_why(self, fitted: Recommender) -> None:
        for each in fitted.recommend(USERS[0], 5):
            assert each.reason
            assert "\n" not in each.reason

    def test_similar_users_are_others_most_similar_first(self, fitted: Recommender) -> None:
        found = fitted.similar_users(USERS[0], 4)
        assert len(found) <= 4
        assert USERS[0] not in {each.user for each in found}
        assert {each.user for each in found} <= set(USERS)
        assert [each.weight for each in found] == sorted((each.weight for each in found), reverse=True)

    def test_unknown_users_and_impossible_numbers_are_one_line(self, fitted: Recommender) -> None:
        for call in (lambda: fitted.recommend("nobody"), lambda: fitted.recommend([USERS[0], "nobody"])):
            with pytest.raises(UnknownUserError, match="no user 'nobody' among the 12 users"):
                call()
        with pytest.raises(UnknownUserError, match="nobody"):
            fitted.similar_users("nobody")
        for wrong in (0, -1, 2.5):
            with pytest.raises(InputError, match=r"k = .* cannot be"):
                fitted.recommend(USERS[0], wrong)  # type: ignore[arg-type]
            with pytest.raises(InputError, match=r"m = .* cannot be"):
                fitted.similar_users(USERS[0], wrong)  # type: ignore[arg-type]

    def test_nothing_is_answered_before_fit(self, name: str) -> None:
        fresh = RECOMMENDERS[name]()
        for call in (lambda: fresh.recommend(USERS[0]), lambda: fresh.similar_users(USERS[0]), lambda: fresh.ratings):
            with pytest.raises(NotFittedError, match=r"call fit\(ratings\) first"):
                call()

    def test_fit_forgets_what_was_learned_before(self, name: str, fitted: Recommender) -> None:
        turned = Ratings.from_csr(csr_array(checkerboard().matrix.toarray()[:, ::-1]), users=USERS, items=checkerboard().items)
        again = RECOMMENDERS[name]().fit(turned).fit(checkerboard())
        assert (again.rank(np.arange(len(USERS)), 5) == fitted.rank(np.arange(len(USERS)), 5)).all()


@pytest.mark.parametrize("name", PERSONAL)
def test_personal_recommenders_see_the_checkerboard(name: str) -> None:
    fitted = RECOMMENDERS[name]().fit(checkerboard())
    for user in (0, 1, 2, 3, 4, 8, 9):
        [first] = fitted.recommend(USERS[user], 1)
        assert first.item == f"item {user}"
