from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

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


def test_settings_are_not_tried_where_that_takes_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight users are asked, of eight: 64 pairs are weighed."""
    monkeypatch.setattr(validation, "choose_settings", lambda *given: ColdStartSettings(strength=5.0))
    tree = HierarchicalClusterTree.from_nested((((0, 1), (2, 3)), ((4, 5), (6, 7))))
    model = ColdStartRecommender(tree, Ratings.from_csr(csr_array(np.ones((8, 2)))))
    assert choose_settings_for_tree(model, 64).strength == 5.0
    assert choose_settings_for_tree(model, 63) == model.settings


def test_closer_communities_are_tried_in_small_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[float] = []
    monkeypatch.setattr(
        validation, "choose_settings", lambda *given: tried.extend(each.strength for each in given[2]) or given[2][0]
    )
    tree = HierarchicalClusterTree.from_nested((((0, 1), (2, 3)), ((4, 5), (6, 7))))
    choose_settings_for_tree(ColdStartRecommender(tree, Ratings.from_csr(csr_array(np.ones((8, 2))))))
    assert {0.08, 0.8, 8.0, 1_000.0, 3_000.0, np.inf} == set(tried)
