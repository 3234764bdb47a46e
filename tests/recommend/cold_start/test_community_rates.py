from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privact.query.quality import draw_random_tree
from privact.recommend.cold_start.community_rates import rate_plainly, weigh_communities
from privact.tree.hct import HierarchicalClusterTree


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 20), st.sampled_from([0.01, 1.0, 30.0, np.inf]))
def test_weights_give_the_rates_of_the_hierarchical_model(seed, n, strength):
    rng = np.random.default_rng(seed)
    tree = draw_random_tree(n, rng)
    rated, has = rng.random(n) < 0.7, rng.random(n) < 0.5
    weights = weigh_communities(tree, np.arange(n), rated, strength)
    for leaf in range(n):
        wanted = rate_plainly(tree, leaf, has, rated, strength)
        if np.isnan(wanted):
            assert not weights[leaf].any()
        else:
            assert weights[leaf] @ has == pytest.approx(wanted)
            assert weights[leaf].sum() == pytest.approx(1.0)
            assert weights[leaf].min() >= 0
            assert weights[leaf][~rated].max(initial=0.0) == pytest.approx(0.0)


def test_little_strength_asks_the_closest_and_much_asks_everybody():
    tree = HierarchicalClusterTree.from_nested((((0, 1), 2), (3, 4)))
    everyone = np.ones(5, dtype=bool)
    near = weigh_communities(tree, np.array([0]), everyone, 1e-9)[0]
    assert near == pytest.approx([0, 1, 0, 0, 0], abs=1e-6)
    far = weigh_communities(tree, np.array([0]), everyone, np.inf)[0]
    assert far == pytest.approx([0, 0.25, 0.25, 0.25, 0.25])


def test_users_of_one_ring_count_the_same_and_closer_rings_more():
    tree = HierarchicalClusterTree.from_nested((((0, 1), (2, 3)), ((4, 5), (6, 7))))
    weights = weigh_communities(tree, np.array([0]), np.ones(8, dtype=bool), 5.0)[0]
    assert weights[2] == pytest.approx(weights[3])
    assert weights[4:] == pytest.approx([weights[4]] * 4)
    assert weights[1] > weights[2] > weights[4] > 0


def test_a_walk_of_many_small_steps_is_no_nearer_than_one_large_step():
    """What makes lopsided trees harmless: the weight of the closest user hardly depends on the steps between."""
    n = 400
    ladder = [(0, 1)]
    for leaf in range(2, n):
        ladder.append((ladder[-1], leaf))
    lopsided = HierarchicalClusterTree.from_nested(ladder[-1])
    level: list = list(range(n))
    while len(level) > 1:
        level = [tuple(level[i : i + 2]) if i + 1 < len(level) else level[i] for i in range(0, len(level), 2)]
    balanced = HierarchicalClusterTree.from_nested(level[0])
    closest = [weigh_communities(tree, np.array([0]), np.ones(n, dtype=bool), 2000.0)[0, 1] for tree in (lopsided, balanced)]
    assert closest[0] == pytest.approx(closest[1], rel=0.25)


def test_the_definition_by_hand():
    """Leaf 0 beside 1, then 2 and 3: with strength 3 log 3 the pair is believed by 1 / (1 + 3), everybody by the rest."""
    tree = HierarchicalClusterTree.from_nested(((0, 1), (2, 3)))
    has = np.array([False, True, False, False])
    everyone = np.ones(4, dtype=bool)
    wanted = 0.25 * 1.0 + 0.75 * (1 / 3)
    assert rate_plainly(tree, 0, has, everyone, 3 * np.log(3)) == pytest.approx(wanted)
    assert weigh_communities(tree, np.array([0]), everyone, 3 * np.log(3))[0] @ has == pytest.approx(wanted)


def test_a_path_of_a_hundred_thousand_users_is_no_trouble():
    n = 100_000
    left = np.append(0, np.arange(n, 2 * n - 2))
    tree = HierarchicalClusterTree.from_children(left, np.arange(1, n))
    weights = weigh_communities(tree, np.array([0, n - 1]), np.ones(n, dtype=bool), 50.0)
    assert weights.sum(axis=1) == pytest.approx([1.0, 1.0])
    assert weights[1, :-1] == pytest.approx(1 / (n - 1))  # the last is beside everybody at once
