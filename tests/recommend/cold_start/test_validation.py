from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from privact.query.quality import draw_random_tree
from privact.recommend import cores
from privact.recommend.cold_start import validation
from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender, ColdStartSettings
from privact.recommend.cold_start.validation import choose_settings, choose_settings_for_tree
from privact.recommend.data.ratings import Ratings
from privact.tree.hct import HierarchicalClusterTree


def test_a_seed_asks_the_same_users_as_its_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight users three are asked: whom shows in the weights that are computed for them."""
    monkeypatch.setattr(validation, "ASKED", 3)
    monkeypatch.setattr(validation, "WORK", 0)
    asked = []
    weights = validation.weigh_communities
    monkeypatch.setattr(
        validation, "weigh_communities", lambda tree, rows, *more: asked.append(rows.tolist()) or weights(tree, rows, *more)
    )
    tree = HierarchicalClusterTree.from_nested((((0, 1), (2, 3)), ((4, 5), (6, 7))))
    model = ColdStartRecommender(tree, Ratings.from_csr(csr_array(np.ones((8, 2)))))
    for rng in (1, np.random.default_rng(1), 2):
        choose_settings(model, rng, (ColdStartSettings(),))
    assert asked[0] == asked[1] != asked[2]
    assert len(asked[0]) == 3


def test_what_is_chosen_does_not_depend_on_how_many_users_are_weighed_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings are scored on 60 users at once, then on one at a time: every user's NDCG is the same."""
    rng = np.random.default_rng(5)
    tree = draw_random_tree(60, rng)
    ratings = Ratings.from_csr(csr_array((rng.random((60, 25)) < 0.2).astype(float)))
    model = ColdStartRecommender(tree, ratings, groups=rng.integers(0, 3, 60), contacts=rng.random((60, 3)) * 9)
    found: list[list[np.ndarray]] = []
    run = validation.run_on_all_cores
    monkeypatch.setattr(validation, "run_on_all_cores", lambda *given: found.append(run(*given)) or found[-1])
    chosen = choose_settings(model, 1)
    monkeypatch.setattr(cores, "CELLS", 1)
    assert choose_settings(model, 1) == chosen
    (at_once,), one_by_one = found
    assert len(one_by_one) == at_once.shape[1] > 50
    np.testing.assert_array_equal(np.concatenate(one_by_one, axis=1), at_once)


def test_closer_communities_are_tried_in_small_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[float] = []
    monkeypatch.setattr(
        validation, "choose_settings", lambda *given: tried.extend(each.strength for each in given[2]) or given[2][0]
    )
    tree = HierarchicalClusterTree.from_nested((((0, 1), (2, 3)), ((4, 5), (6, 7))))
    choose_settings_for_tree(ColdStartRecommender(tree, Ratings.from_csr(csr_array(np.ones((8, 2))))))
    assert {0.08, 0.8, 8.0, 1_000.0, 3_000.0, 10_000.0, 30_000.0, np.inf} == set(tried)


def test_the_report_without_the_tree_and_weaker_trees_are_among_the_choices() -> None:
    default = ColdStartSettings()
    same_report = [each for each in validation.GRID if replace(each, strength=default.strength) == default]
    assert {each.strength for each in same_report} == {3_000.0, 10_000.0, 30_000.0, np.inf}


def test_a_tree_that_misleads_is_left_out_for_the_report() -> None:
    """Contacts say what users like; the tree pairs users of opposite tastes."""
    rng = np.random.default_rng(2)
    group = np.arange(200) % 2
    likes = np.where(group[:, None] == (np.arange(40) % 2), 0.5, 0.02)
    ratings = Ratings.from_csr(csr_array((rng.random((200, 40)) < likes).astype(float)))
    contacts = np.where(group[:, None] == np.arange(2), 20.0, 0.0)
    tree = draw_random_tree(200, rng)
    model = ColdStartRecommender(tree, ratings, groups=group, contacts=contacts)
    only = [ColdStartSettings(1.0, ridge=np.inf), ColdStartSettings(np.inf, ridge=np.inf)]
    assert choose_settings(model, 0, only) == only[1]
