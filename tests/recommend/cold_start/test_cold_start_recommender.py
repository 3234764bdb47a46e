from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from privact.errors import InputError
from privact.query.quality import draw_random_tree
from privact.recommend import cores
from privact.recommend.cold_start import validation
from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender, ColdStartSettings
from privact.recommend.cold_start.similar_reports import SimilarReports
from privact.recommend.cold_start.validation import choose_settings
from privact.recommend.data.ratings import Ratings
from privact.recommend.popularity import MostPopular
from privact.recommend.ranking import find_best_items_plain
from privact.tree.hct import HierarchicalClusterTree

NAMES = ("ann", "bob", "cat", "dan", "eve", "fay")
TREE = HierarchicalClusterTree.from_nested(((("ann", "bob"), "cat"), (("dan", "eve"), "fay")))
ITEMS = ("waltz", "tango", "polka")
#                 waltz tango polka
DENSE = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 0]], dtype=float)
RATINGS = Ratings.from_csr(csr_array(DENSE), users=NAMES, items=ITEMS)
BELIEVING = ColdStartSettings(strength=0.5)


def items(model, user="ann", k=3):
    return [found.item for found in model.recommend(user, k)]


def test_a_tree_that_is_believed_puts_the_close_community_first():
    assert items(ColdStartRecommender(TREE, RATINGS, settings=BELIEVING)) == ["waltz", "polka", "tango"]


def test_a_tree_that_is_not_believed_leaves_popularity():
    model = ColdStartRecommender(TREE, RATINGS, settings=ColdStartSettings(strength=np.inf))
    assert items(model) == items(MostPopular().fit(RATINGS)) == ["tango", "waltz", "polka"]


def test_a_report_raises_what_the_groups_of_contacts_have():
    groups = np.array([-1, 0, 0, 1, 1, 1])
    unbelieved = ColdStartSettings(strength=np.inf)
    contacts = np.array([[9.0, 0.0], [1, 1], [1, 1], [1, 1], [1, 1], [1, 1]])
    assert items(ColdStartRecommender(TREE, RATINGS, groups=groups, contacts=contacts, settings=unbelieved))[0] == "waltz"
    assert (
        items(ColdStartRecommender(TREE, RATINGS, groups=groups, contacts=contacts[:, ::-1], settings=unbelieved))[0] == "tango"
    )


def test_a_report_that_says_nothing_leaves_popularity():
    silent = np.vstack((np.zeros(2), np.random.default_rng(0).random((5, 2))))
    model = ColdStartRecommender(
        TREE, RATINGS, groups=[-1, 0, 0, 1, 1, 1], contacts=silent, settings=ColdStartSettings(strength=np.inf)
    )
    popular = MostPopular().fit(RATINGS)
    assert items(model) == items(popular)
    assert model.scores(np.array([0]))[0] * 5 == pytest.approx(popular.scores(np.array([0]))[0])


CONTACTS = np.array([[3.0, 1.0], [2, 2], [4, 0], [0, 4], [1, 3], [2, 1]])
GROUPS = np.array([-1, 0, 0, 1, 1, -1])


def weights(**settings):
    model = ColdStartRecommender(TREE, RATINGS, groups=GROUPS, contacts=CONTACTS, settings=ColdStartSettings(**settings))
    return model.weights(np.array([0]))[0]


def test_weights_are_the_trees_times_the_reports():
    alone = ColdStartRecommender(TREE, RATINGS, settings=ColdStartSettings(strength=2.0)).weights(np.array([0]))[0]
    typical = CONTACTS[1:].sum(axis=0) / CONTACTS[1:].sum()  # of the users who have ratings
    share = (CONTACTS[0] + 2.0 * typical) / (CONTACTS[0].sum() + 2.0)
    lift = np.append(share / typical, 1.0)  # the last for users in no group
    wanted = alone * lift[GROUPS]
    assert weights(strength=2.0, prior=2.0, power=1.0, ridge=np.inf) == pytest.approx(wanted / wanted.sum())


def test_half_of_the_weight_is_of_users_with_like_reports():
    rated = DENSE.any(axis=1)
    near, alike = weights(strength=2.0, ridge=np.inf), SimilarReports(CONTACTS, rated).weights(np.array([0]), rated * 1.0, 0.5)[0]
    assert weights(strength=2.0, ridge=0.5) == pytest.approx(near / 2 + alike / 2)


def test_who_is_served_does_not_count():
    model = ColdStartRecommender(TREE, RATINGS, groups=GROUPS, contacts=CONTACTS)
    assert np.diag(model.weights(np.arange(6))).tolist() == [0.0] * 6


def test_users_weigh_evenly_if_asked():
    heavy = np.array([[0, 0, 0], [1, 1, 1], [1, 1, 1], [0, 0, 1], [0, 0, 1], [1, 0, 0]], dtype=float)
    ratings = Ratings.from_csr(csr_array(heavy), users=NAMES, items=ITEMS)
    model = ColdStartRecommender(TREE, ratings, settings=ColdStartSettings(strength=np.inf, evenly=True))
    third = 1 / np.sqrt(3)
    wanted = np.array([2 * third + 1, 2 * third, 2 * third + 2])
    assert model.scores(np.array([0]))[0] == pytest.approx(wanted / (2 * third + 3))


def test_ratings_come_into_the_order_of_the_tree():
    shuffled = Ratings.from_csr(csr_array(DENSE[[3, 1, 5, 2, 4]]), users=["dan", "bob", "fay", "cat", "eve"], items=ITEMS)
    assert items(ColdStartRecommender(TREE, shuffled, settings=BELIEVING)) == ["waltz", "polka", "tango"]
    strangers = Ratings.from_frame({"user": ["zoe", "bob"], "item": ["gavotte", "waltz"], "rating": [1, 1]})
    assert items(ColdStartRecommender(TREE, strangers)) == ["waltz"]


def test_a_tree_without_ids_serves_numbers():
    numbered = HierarchicalClusterTree.from_nested((((0, 1), 2), ((3, 4), 5)))
    ratings = Ratings.from_csr(csr_array(DENSE), items=ITEMS)
    assert items(ColdStartRecommender(numbered, ratings, settings=BELIEVING), 0) == ["waltz", "polka", "tango"]


def test_the_reason_counts_in_the_smallest_community_with_enough_members():
    n = 40
    side = [number < 20 for number in range(n)]
    left, right = (0, 1), (20, 21)
    for leaf in range(2, 20):
        left, right = (left, leaf), (right, 20 + leaf)
    tree = HierarchicalClusterTree.from_nested((left, right))
    dense = np.zeros((n, 2))
    dense[:, 0] = [1.0 if inside and number % 3 == 0 else 0.0 for number, inside in enumerate(side)]
    dense[:, 1] = [0.0 if inside else 1.0 for inside in side]
    dense[0] = 0
    dense[1:, 1] += 0.0
    for number in range(1, 20):
        dense[number, 0] = max(dense[number, 0], 0.0)
    ratings = Ratings.from_csr(csr_array(np.column_stack((dense, np.append(0, np.ones(n - 1))))), items=["near", "far", "all"])
    model = ColdStartRecommender(tree, ratings, verb="played")
    why = {found.item: found.reason for found in model.recommend(0, 3)}
    assert why["near"] == "4 of 12 in your close community played this"  # 3, 6, 9, 12 among 1 to 12
    assert why["all"] == "12 of 12 in your close community played this"
    assert why["far"] == "20 of 39 users played this"  # nobody closer has it


def test_nobody_rated_anything_else():
    lonely = Ratings.from_frame({"user": ["ann"], "item": ["waltz"], "rating": [1]})
    model = ColdStartRecommender(TREE, lonely)
    assert model.recommend("ann", 2) == []
    assert [found.item for found in model.recommend("bob", 2)] == ["waltz"]
    assert model.similar_users("ann") == []


def test_items_that_nobody_rated_are_not_listed():
    ratings = Ratings.from_csr(csr_array(np.column_stack((np.zeros(6), DENSE))), users=NAMES, items=("new", *ITEMS))
    for model in (ColdStartRecommender(TREE, ratings), MostPopular().fit(ratings), MostPopular(evenly=True).fit(ratings)):
        assert sorted(items(model, k=9)) == sorted(ITEMS)


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ({"groups": [0] * 6}, "groups and contacts belong together"),
        ({"groups": [0] * 5, "contacts": np.ones((6, 1))}, r"groups of shape \(5,\)"),
        ({"groups": [0] * 6, "contacts": np.ones((5, 1))}, r"contacts of shape \(5, 1\)"),
        ({"groups": [2] * 6, "contacts": np.ones((6, 2))}, "groups go from 2 to 2: by the counts they must be -1 to 1"),
        ({"groups": [0] * 6, "contacts": np.full((6, 1), np.nan)}, "finite counts"),
    ],
)
def test_what_does_not_fit_is_one_line(extra, told):
    with pytest.raises(InputError, match=told):
        ColdStartRecommender(TREE, RATINGS, **extra)


@pytest.mark.parametrize(
    "wrong", [{"strength": 0.0}, {"prior": 0.0}, {"power": -1.0}, {"strength": np.nan}, {"prior": np.inf}, {"ridge": 0.0}]
)
def test_settings_that_mean_nothing_are_refused(wrong):
    with pytest.raises(InputError, match="cannot be"):
        ColdStartSettings(**wrong)


class TestChoosingSettings:
    """Users 0 to 59 come in two sides that have different items; the tree knows the side, or nothing."""

    @pytest.fixture
    def ratings(self):
        rng = np.random.default_rng(0)
        side = np.arange(60) < 30
        dense = rng.random((60, 200)) < np.where(side[:, None] == (np.arange(200) < 100), 0.4, 0.05)
        return Ratings.from_csr(csr_array(dense.astype(float)))

    def tree(self, order):
        halves = []
        for part in (order[:30], order[30:]):
            nested = part[0]
            for leaf in part[1:]:
                nested = (nested, leaf)
            halves.append(nested)
        return HierarchicalClusterTree.from_nested(tuple(halves))

    def test_a_tree_that_knows_is_believed(self, ratings):
        model = ColdStartRecommender(self.tree(list(range(60))), ratings)
        grid = (ColdStartSettings(np.inf, power=0.0), ColdStartSettings(10.0))
        assert choose_settings(model, np.random.default_rng(0), grid) == grid[1]

    def test_a_tree_that_knows_nothing_is_not(self, ratings):
        order = np.random.default_rng(5).permutation(60).tolist()
        model = ColdStartRecommender(self.tree(order), ratings)
        grid = (ColdStartSettings(np.inf, power=0.0), ColdStartSettings(0.1))
        assert choose_settings(model, np.random.default_rng(0), grid) == grid[0]

    def test_a_report_that_knows_is_believed(self, ratings):
        side = (np.arange(60) >= 30).astype(int)
        contacts = np.where(side[:, None] == [0, 1], 9.0, 1.0)
        model = ColdStartRecommender(self.tree(list(range(60))), ratings, groups=side, contacts=contacts)
        grid = (ColdStartSettings(np.inf, power=0.0), ColdStartSettings(np.inf, power=1.0))
        assert choose_settings(model, np.random.default_rng(0), grid) == grid[1]

    def test_without_users_to_ask_the_first_stays(self):
        lonely = Ratings.from_frame({"user": ["ann"], "item": ["waltz"], "rating": [1]})
        assert choose_settings(ColdStartRecommender(TREE, lonely), np.random.default_rng(0)) == ColdStartSettings()

    @pytest.mark.parametrize(("gains", "chosen"), [([3.0, -1.0], 0), ([3.0, -0.5], 1), ([0.0, 0.0], 0), ([-1.0, -1.0], 0)])
    def test_others_win_by_more_than_two_standard_errors(self, monkeypatch, gains, chosen):
        """Of ten users five gain the first and five the second amount by other settings."""
        told = [np.zeros(10), np.repeat(gains, [5, 5])]
        monkeypatch.setattr(validation, "run_on_all_cores", lambda work, parts: [np.stack(told)])
        ratings = Ratings.from_csr(csr_array(np.ones((10, 3))))
        model = ColdStartRecommender(HierarchicalClusterTree.from_nested(((((0, 1), (2, 3)), 4), (((5, 6), (7, 8)), 9))), ratings)
        grid = (ColdStartSettings(10.0), ColdStartSettings(20.0))
        assert choose_settings(model, np.random.default_rng(0), grid) == grid[chosen]

    def test_without_a_report_the_first_of_each_strength_is_tried_in_order(self, ratings, monkeypatch):
        asked = []
        blend = ColdStartRecommender.blended
        monkeypatch.setattr(ColdStartRecommender, "blended", lambda *given: asked.append(given[-1]) or blend(*given))
        grid = tuple(ColdStartSettings(strength, power=power) for strength, power in ((9.0, 1.0), (5.0, 1.0), (9.0, 2.0)))
        choose_settings(ColdStartRecommender(self.tree(list(range(60))), ratings), np.random.default_rng(0), grid)
        assert asked == list(grid[:2])

    def test_of_equally_good_settings_the_first_wins(self, ratings):
        model = ColdStartRecommender(self.tree(list(range(60))), ratings, groups=[0] * 60, contacts=np.ones((60, 1)))
        grid = tuple(ColdStartSettings(np.inf, prior=prior, power=0.0) for prior in (1.0, 2.0))  # the prior of nothing
        assert choose_settings(model, np.random.default_rng(0), grid) == grid[0]
        assert choose_settings(model, np.random.default_rng(0), grid[::-1]) == grid[1]


@pytest.mark.parametrize("reported", [False, True])
@pytest.mark.parametrize("evenly", [False, True])
def test_lists_are_those_of_dense_matrices(reported, evenly, monkeypatch):
    """The definition, users by users times users by items, against what is listed for one user and for many at a time."""
    rng = np.random.default_rng(8)
    tree = draw_random_tree(80, rng)
    ratings = Ratings.from_csr(csr_array(rng.random((80, 30)) < rng.random(30) / 3))
    extra = {"groups": rng.integers(-1, 4, 80), "contacts": rng.poisson(3.0, (80, 4))} if reported else {}
    settings = ColdStartSettings(strength=20.0, evenly=evenly)
    model = ColdStartRecommender(tree, ratings, settings=settings, **extra)
    rows = np.arange(80)
    has = model.ratings.binary.toarray()
    rates = np.round(model.weights(rows) @ has, 12)
    rates[(has > 0) | (model.ratings.counts == 0)] = -np.inf
    listed = find_best_items_plain(rates, 12)
    np.testing.assert_array_equal(model.rank(rows, 12), listed)
    monkeypatch.setattr(cores, "CELLS", 1)  # one user at a time, by the compiled loop
    np.testing.assert_array_equal(model.rank(rows, 12), listed)
