from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from privact.recommend import validation
from privact.recommend.cold_start import ColdStartRecommender, ColdStartSettings
from privact.recommend.ratings import Ratings
from privact.recommend.validation import choose_settings
from privact.tree.hct import HierarchicalClusterTree


def test_a_seed_asks_the_same_users_as_its_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight users three are asked: whom shows in the weights that are computed for them."""
    monkeypatch.setattr(validation, "ASKED", 3)
    monkeypatch.setattr(validation, "WORK", 0)
    asked = []
    weights = validation.community_weights
    monkeypatch.setattr(
        validation, "community_weights", lambda tree, rows, *more: asked.append(rows.tolist()) or weights(tree, rows, *more)
    )
    tree = HierarchicalClusterTree.from_nested((((0, 1), (2, 3)), ((4, 5), (6, 7))))
    model = ColdStartRecommender(tree, Ratings.from_csr(csr_array(np.ones((8, 2)))))
    for rng in (1, np.random.default_rng(1), 2):
        choose_settings(model, rng, (ColdStartSettings(),))
    assert asked[0] == asked[1] != asked[2]
    assert len(asked[0]) == 3
