from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from privact.baselines._bisection import bisect
from privact.baselines.bisection import bisection, density, least_gain, plain_children, plain_improve
from privact.learn.search.learn_tree import learn_tree
from privact.tree.cost import dasgupta_cost
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree


def sides(tree):
    """For each internal node, the two sets of users that it cuts apart."""
    for node in range(tree.n_users - 1):
        yield tuple(
            tree.order[tree.start[child] : tree.start[child] + tree.size[child]] for child in (tree.left[node], tree.right[node])
        )


def assert_no_move_helps(tree, matrix):
    """In no cut of the tree does moving one user across raise the average dissimilarity across."""
    for left, right in sides(tree):
        users = np.concatenate([left, right])
        inner = matrix[np.ix_(users, users)]
        side = np.arange(len(users)) < len(left)
        for user in range(len(users)):
            after = side.copy()
            after[user] = not side[user]
            if 0 < after.sum() < len(users):
                assert density(inner, after) <= density(inner, side) * (1 + 1e-6) + 1e-9


def promised(matrix):
    return 2.0 * (len(matrix) + 1) / 3.0 * matrix.sum() / 2.0


@pytest.mark.parametrize("seed", range(12))
def test_the_kernel_is_the_plain_twin(seed):
    rng = np.random.default_rng(seed)
    embedding = Embedding.from_counts(rng.poisson(3.0, (int(rng.integers(2, 22)), 3)))
    least = least_gain(embedding)
    plain = plain_children(embedding, least, np.random.default_rng(seed))
    compiled = bisect(embedding.points, embedding.weights, embedding.constant, least, np.random.default_rng(seed))
    assert (compiled[0].tolist(), compiled[1].tolist()) == plain


def test_users_on_a_line_are_cut_where_they_are_farthest_apart():
    tree = bisection(np.array([[0], [1], [2], [50], [51], [52]]), 0)
    assert tree.cut(2).tolist() == [0, 0, 0, 1, 1, 1]


def test_one_user_far_out_is_cut_off_first():
    tree = bisection(np.array([[0], [2], [1], [3], [90], [1]]), 0)
    assert sorted(tree.size[[tree.left[-1], tree.right[-1]]].tolist()) == [1, 5]
    assert tree.lowest_common_cluster(4, 0).size == 6


def test_the_first_cut_is_the_best_of_all_cuts_of_few_users():
    for seed in range(10):
        vectors = np.random.default_rng(seed).poisson(5.0, (9, 2))
        matrix = squareform(pdist(vectors, "cityblock"))
        cuts = [np.isin(np.arange(9), chosen) for size in range(1, 5) for chosen in combinations(range(9), size)]
        found = np.zeros(9, bool)
        tree = bisection(vectors, seed)
        root = tree.left[-1]
        found[tree.order[tree.start[root] : tree.start[root] + tree.size[root]]] = True
        assert density(matrix, found) == pytest.approx(max(density(matrix, cut) for cut in cuts))


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 14), st.integers(0, 10**6))
def test_no_single_move_helps_and_the_promised_cost_is_kept_for_any_matrix(n, seed):
    matrix = squareform(np.random.default_rng(seed).pareto(1.0, n * (n - 1) // 2))
    tree = bisection(Embedding.from_matrix(matrix), seed)
    assert_no_move_helps(tree, matrix)
    assert dasgupta_cost(tree, dissimilarity=matrix) >= promised(matrix) * (1 - 1e-6)


def test_the_promise_can_fail_for_trees_that_are_not_locally_best():
    known = np.array([[0], [0], [9], [9]])
    matrix = squareform(pdist(known, "cityblock"))
    wrong = HierarchicalClusterTree.from_nested(((0, 2), (1, 3)))
    assert dasgupta_cost(wrong, dissimilarity=matrix) < promised(matrix)
    assert dasgupta_cost(bisection(known, 0), dissimilarity=matrix) > promised(matrix)
    with pytest.raises(AssertionError):
        assert_no_move_helps(wrong, matrix)


def test_moving_users_mends_a_wrong_cut():
    matrix = squareform(pdist(np.array([[0], [1], [20], [21]]), "cityblock"))
    assert plain_improve(matrix, np.array([True, False, True, False]), 0.0).tolist() in (
        [True, True, False, False],
        [False, False, True, True],
    )


def test_it_comes_near_our_own_search_on_grouped_users():
    rng = np.random.default_rng(0)
    vectors = rng.poisson(rng.choice([1.0, 8.0, 30.0], 300)[:, None], (300, 4))
    ours = dasgupta_cost(learn_tree(vectors, balance=0, random_state=0), vectors)
    assert dasgupta_cost(bisection(vectors, 0), vectors) > 0.98 * ours


def test_a_path_is_found_where_one_user_after_the_other_is_farthest_out():
    rank = np.arange(300.0)
    matrix = np.maximum(rank[:, None], rank)  # the one of highest rank differs most from everybody, in every cluster
    np.fill_diagonal(matrix, 0.0)
    tree = bisection(Embedding.from_matrix(matrix), 0)
    assert tree.depths.tolist() == [299, *range(299, 0, -1)]
