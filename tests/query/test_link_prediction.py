"""Link prediction by tree distance: areas that can be counted by hand, and scikit-learn's for all pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from privact.query.link_prediction import find_community_sizes, measure_link_auc
from privact.query.quality import draw_random_tree
from privact.tree.hct import HierarchicalClusterTree


def auc(tree, edges):
    one, other = np.array(edges, np.int64).reshape(-1, 2).T
    return measure_link_auc(tree, one, other)


def test_areas_that_can_be_counted():
    tree = HierarchicalClusterTree.from_nested(((0, 1), (2, 3)))
    assert auc(tree, [(0, 1), (2, 3)]) == 1.0  # contacts in clusters of 2, all others in the one of 4
    assert auc(tree, [(0, 2), (1, 3), (0, 3), (1, 2)]) == 0.0
    assert auc(tree, [(0, 2)]) == pytest.approx((0 + 0 + 3 / 2) / 5)  # two others are nearer, three as far
    chain = HierarchicalClusterTree.from_nested((((0, 1), 2), 3))
    assert auc(chain, [(0, 2)]) == pytest.approx((0 + 1 / 2 + 3) / 5)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_the_area_is_that_of_all_pairs_ranked_by_distance(data):
    n_users = data.draw(st.integers(2, 12))
    tree = draw_random_tree(n_users, np.random.default_rng(data.draw(st.integers(0, 2**16))))
    pairs = list(combinations(range(n_users), 2))
    edges = data.draw(st.sets(st.sampled_from(pairs)))
    found = auc(tree, sorted(edges))
    if 0 < len(edges) < len(pairs):
        linked = [pair in edges for pair in pairs]
        assert found == pytest.approx(roc_auc_score(linked, [-tree.distance(*pair) for pair in pairs]))
    else:
        assert np.isnan(found)


@settings(deadline=None, max_examples=60)
@given(n_users=st.integers(2, 40), seed=st.integers(0, 2**16))
def test_sizes_are_the_distances_of_the_tree(n_users, seed):
    rng = np.random.default_rng(seed)
    tree = draw_random_tree(n_users, rng)
    one, other = np.array(list(combinations(range(n_users), 2))).T
    flip = rng.random(len(one)) < 0.5
    one, other = np.where(flip, one, other), np.where(flip, other, one)
    expected = [tree.distance(a, b) for a, b in zip(one.tolist(), other.tolist(), strict=True)]
    assert find_community_sizes(tree, one, other).tolist() == expected


def test_a_path_like_tree_of_many_users_is_no_problem():
    n_users = 50_000
    left = np.arange(n_users - 1, 2 * n_users - 2)
    left[:1] = 0
    tree = HierarchicalClusterTree.from_children(left, np.arange(1, n_users))
    one, other = np.zeros(3, np.int64), np.array([1, 2, n_users - 1])
    assert find_community_sizes(tree, one, other).tolist() == [2, 3, n_users]
    assert find_community_sizes(tree, one[:0], other[:0]).tolist() == []
