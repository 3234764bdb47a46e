from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import random_array

from privact.errors import InputError
from privact.learn.search.learn_tree import learn_tree
from privact.tree.cost import (
    dasgupta_cost,
    find_violations,
    relative_utility,
    rho,
    sum_across,
    theta,
    utility_bound,
)
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree


def pairs_of(tree):
    """Each pair of users and the size of the smallest cluster that holds both: the definition, through sets."""
    found = {(i, j): tree.n_users for i in range(tree.n_users) for j in range(i)}
    for start, size in zip(tree.start, tree.size, strict=True):
        inside = tree.order[start : start + size].tolist()
        for i in inside:
            for j in inside:
                if j < i:
                    found[i, j] = min(found[i, j], int(size))
    return found


def by_definition(tree, dissimilarity):
    return sum(dissimilarity(i, j) * size for (i, j), size in pairs_of(tree).items())


def distance(vectors, i, j):
    return sum(abs(a - b) for a, b in zip(vectors[i].tolist(), vectors[j].tolist(), strict=True))


def vectors_for(data, tree, elements, dtype, bins=3):
    shape = (tree.n_users, data.draw(st.integers(1, bins)))
    return data.draw(arrays(dtype, shape, elements=elements))


@given(data=st.data())
def test_whole_vectors_with_the_clip_and_without(trees, data):
    tree = data.draw(trees.filter(lambda tree: tree.n_users > 1))
    vectors = vectors_for(data, tree, st.integers(-3, 6), np.int64)
    assert dasgupta_cost(tree, vectors) == by_definition(tree, lambda i, j: max(1, distance(vectors, i, j)))
    assert dasgupta_cost(tree, vectors, clip=False) == by_definition(tree, lambda i, j: distance(vectors, i, j))


@given(data=st.data())
def test_fractions_and_embeddings_are_taken_without_the_clip(trees, data):
    tree = data.draw(trees.filter(lambda tree: tree.n_users > 1))
    vectors = vectors_for(data, tree, st.floats(-50, 50, width=32), np.float64) + 1 / 3
    exact = by_definition(tree, lambda i, j: distance(vectors, i, j))
    assert dasgupta_cost(tree, vectors) == pytest.approx(exact, rel=1e-9, abs=1e-9)
    assert dasgupta_cost(tree, Embedding.from_counts(vectors)) == pytest.approx(exact, rel=1e-9, abs=1e-9)


@given(data=st.data())
def test_matrices(trees, data):
    tree = data.draw(trees.filter(lambda tree: tree.n_users > 1))
    n = tree.n_users
    matrix = np.triu(data.draw(arrays(np.int64, (n, n), elements=st.integers(0, 1000))), 1)
    matrix = matrix + matrix.T
    exact = by_definition(tree, lambda i, j: int(matrix[i, j]))
    assert dasgupta_cost(tree, dissimilarity=matrix) == exact
    assert dasgupta_cost(tree, similarity=matrix) == exact
    assert dasgupta_cost(tree, Embedding.from_matrix(matrix.astype(float))) == pytest.approx(exact, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32, np.float64, bool])
def test_counts_of_any_type(path_tree, dtype):
    vectors = np.array([[0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]).astype(dtype)
    plain = vectors.astype(np.int64)
    exact = by_definition(path_tree(5), lambda i, j: max(1, distance(plain, i, j)))
    assert dasgupta_cost(path_tree(5), vectors) == exact


@pytest.mark.parametrize(("lowest", "dtype"), [(0, np.uint8), (-128, np.int8)])
def test_small_counts_do_not_wrap(path_tree, lowest, dtype):
    vectors = (np.array([[0], [255], [3]]) + lowest).astype(dtype)
    # 0 and 255 part at a cluster of 2; 3 is 3 and 252 away and parts from both at a cluster of 3
    assert dasgupta_cost(path_tree(3), vectors) == 2 * 255 + 3 * (3 + 252)


def test_huge_counts_do_not_wrap(path_tree):
    vectors = np.array([[2**62], [-(2**62)], [0]])
    assert dasgupta_cost(path_tree(3), vectors) == pytest.approx(2 * 2.0**63 + 3 * (2.0**62 + 2.0**62), rel=1e-12)


@given(data=st.data())
def test_path_like_trees(path_tree, data):
    tree = path_tree(data.draw(st.integers(2, 25)))
    vectors = vectors_for(data, tree, st.integers(0, 5), np.int64)
    assert dasgupta_cost(tree, vectors) == by_definition(tree, lambda i, j: max(1, distance(vectors, i, j)))


@given(data=st.data())
def test_in_a_clique_every_tree_costs_the_same(trees, data):
    tree = data.draw(trees.filter(lambda tree: tree.n_users > 1))
    n = tree.n_users
    assert dasgupta_cost(tree, np.full((n, 2), 5)) == rho(n) == (n**3 - n) / 3
    assert relative_utility(tree, np.full((n, 2), 5)) == 1.0
    assert relative_utility(tree, np.full((n, 2), 5), clip=False) == 0.0
    assert relative_utility(tree, dissimilarity=np.full((n, n), 4.0)) == 4.0


def test_a_cost_one_can_add_up():
    # ((0, 1), (2, 3)): 1 and 3 inside the pairs, 15 + 17 + 14 + 16 sum_across
    tree = HierarchicalClusterTree.from_nested(((0, 1), (2, 3)))
    vectors = [[0, 9], [1, 9], [7, 0], [9, 1]]
    assert sum_across(tree, vectors).tolist() == [1, 3, 16 + 17 + 15 + 16]
    assert dasgupta_cost(tree, vectors) == 2 * 1 + 2 * 3 + 4 * 64
    assert relative_utility(tree, vectors) == 264 / 20
    assert theta(tree, vectors).tolist() == [1, 3, 16]
    assert tree.theta(vectors).tolist() == [1, 3, 16]
    assert find_violations(tree, vectors).tolist() == tree.violations(vectors).tolist() == []


@given(data=st.data())
def test_theta_is_the_average_across_a_node(trees, data):
    tree = data.draw(trees.filter(lambda tree: tree.n_users > 1))
    vectors = vectors_for(data, tree, st.integers(0, 9), np.int64)
    leaves = [tree.order[s : s + m].tolist() for s, m in zip(tree.start, tree.size, strict=True)]
    expected = [
        np.mean([max(1, distance(vectors, i, j)) for i in leaves[a] for j in leaves[b]])
        for a, b in zip(tree.left, tree.right, strict=True)
    ]
    assert theta(tree, vectors) == pytest.approx(expected, rel=1e-12)


@given(data=st.data())
def test_violations_are_nodes_more_dissimilar_than_one_above(trees, data):
    tree = data.draw(trees.filter(lambda tree: tree.n_users > 1))
    vectors = vectors_for(data, tree, st.integers(0, 9), np.int64)
    averages = theta(tree, vectors)
    wrong = []
    for node in range(tree.n_users, tree.n_nodes):
        up = tree.parent[node]
        while up != -1:
            if averages[node - tree.n_users] > averages[up - tree.n_users] * (1 + 1e-12):
                wrong.append(node)
                break
            up = tree.parent[up]
    assert find_violations(tree, vectors).tolist() == wrong


def test_a_violation_far_below_the_node_it_violates():
    # Joining 0 and 90 first (node 4) is worse than everything above; the node between violates nothing of its own.
    tree = HierarchicalClusterTree.from_nested((((0, 1), 2), 3))
    assert theta(tree, [[0], [90], [40], [46]]).tolist() == [90, 45, pytest.approx(32)]
    assert find_violations(tree, [[0], [90], [40], [46]]).tolist() == [4, 5]


def all_nested(users):
    """Every full binary tree over some users."""
    if len(users) == 1:
        return [users[0]]
    first, *others = users
    found = []
    for mask in range(2 ** len(others) - 1):
        with_first = [first, *(u for i, u in enumerate(others) if mask >> i & 1)]
        rest = [u for u in users if u not in with_first]
        found += [(a, b) for a in all_nested(with_first) for b in all_nested(rest)]
    return found


FIVE = [HierarchicalClusterTree.from_nested(nested) for nested in all_nested(list(range(5)))]


@given(vectors=arrays(np.int64, (5, 2), elements=st.integers(0, 12)))
def test_the_best_tree_has_the_ideal_clustering_property(vectors):
    """Theorem 1, on every tree of five users."""
    costs = [dasgupta_cost(tree, vectors) for tree in FIVE]
    best = [tree for tree, cost in zip(FIVE, costs, strict=True) if cost == max(costs)]
    assert all(len(find_violations(tree, vectors)) == 0 for tree in best)


def test_a_bad_tree_has_not():
    tree = HierarchicalClusterTree.from_nested(((0, 1), (2, 3)))
    assert find_violations(tree, [[0], [9], [1], [8]]).tolist() == [4, 5]


def test_where_the_search_ends_there_are_no_violations():
    vectors = np.random.default_rng(0).random((120, 3)) * 9
    embedding = Embedding.from_counts(vectors)
    assert find_violations(learn_tree(embedding, balance=0), embedding).tolist() == []


def test_the_papers_bounds_by_hand():
    bound = utility_bound(10, epsilon=2.0, n_bins=4)
    assert bound.rho == (1000 - 10) / 3 == 330
    # 2K/eps (3/2 + 6/sqrt(K)) rho = 4 (1.5 + 3) 330
    assert bound.privact_loss == pytest.approx(4 * 4.5 * 330)
    assert bound.per_edge_loss == pytest.approx(2 * bound.privact_loss)
    # Lemma 1 with the number of trees (2n - 3)!! = 17!! = 34459425
    assert math.prod(range(1, 18, 2)) == 34459425
    assert bound.gentree_loss == pytest.approx(math.log(34459425) + 10 * math.log(10))
    assert (bound.n_users, bound.epsilon, bound.n_bins) == (10, 2.0, 4)


def test_the_number_of_bins_is_floor_ln_n_unless_told():
    assert [utility_bound(n, 1.0).n_bins for n in (2, 7, 8, 1843, 2848, 1_000_000)] == [1, 1, 2, 7, 7, 13]


def test_the_gentree_bound_holds_for_the_exact_law():
    """Expected loss under the Boltzmann law at temperature 1, over all 105 trees of five users."""
    rng = np.random.default_rng(1)
    for scale in (1, 3, 20):
        vectors = rng.integers(0, scale + 1, (5, 2))
        costs = np.array([dasgupta_cost(tree, vectors) for tree in FIVE])
        law = np.exp(costs - costs.max())
        loss = costs.max() - (law / law.sum()) @ costs
        assert 0 <= loss <= utility_bound(5, 1.0).gentree_loss


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1, 1.0), "n is 1, but a tree needs at least 2"),
        ((10, 0.0), "epsilon 0.0 is not a number above 0"),
        ((10, -1.0), "epsilon"),
        ((10, math.inf), "epsilon"),
        ((10, math.nan), "epsilon"),
        ((10, 1.0, 0), "n_bins is 0"),
        ((10, 1.0, 11), "n_bins is 11, outside 1 to the 10 users"),
    ],
)
def test_bounds_of_nothing_are_refused(arguments, words):
    with pytest.raises(InputError, match=words) as caught:
        utility_bound(*arguments)
    assert "\n" not in str(caught.value)


def test_exactly_one_input(path_tree):
    vectors, matrix = [[0], [1], [2]], np.ones((3, 3))
    for given_inputs in ({}, {"vectors": vectors, "dissimilarity": matrix}, {"dissimilarity": matrix, "similarity": matrix}):
        with pytest.raises(InputError, match="give exactly one of vectors, dissimilarity, similarity"):
            dasgupta_cost(path_tree(3), **given_inputs)


@pytest.mark.parametrize(
    "inputs",
    [{"vectors": np.ones((4, 1))}, {"vectors": Embedding.from_counts([[0], [1]])}, {"dissimilarity": np.ones((4, 4))}],
)
def test_other_users_than_the_trees_are_refused(path_tree, inputs):
    with pytest.raises(InputError, match="3 in the tree: give one row for each leaf"):
        dasgupta_cost(path_tree(3), **inputs)


def test_a_matrix_that_is_none_is_refused(path_tree):
    with pytest.raises(InputError, match="make it symmetric"):
        dasgupta_cost(path_tree(2), dissimilarity=[[0, 1], [2, 0]])


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "n"), [("path", 1_000_000), ("random", 200_000)])
def test_many_users(path_tree, shape, n):
    """Checked without the search: each bin alone, where the cost follows from how many users are above each threshold."""
    rng = np.random.default_rng(2)
    counts = random_array((n, 2), density=0.3, rng=rng, data_sampler=lambda size: rng.geometric(0.3, size))
    vectors = counts.toarray().astype(np.int64)
    if shape == "path":
        tree = path_tree(n)
        # Leaf i joins the users before it in a cluster of i + 1; at each threshold it differs from those on the other side.
        exact = 0.0
        for k in range(2):
            column = vectors[:, k]
            for t in range(int(column.max())):
                above = column > t
                before = np.cumsum(above) - above
                differ = np.where(above, np.arange(n) - before, before)
                exact += float(np.sum(differ * (np.arange(n) + 1.0)))
    else:
        from privact.learn.search._swaps import random_children

        tree = HierarchicalClusterTree.from_children(*random_children(n, rng))
        exact = dasgupta_cost(tree, Embedding.from_counts(vectors))
    assert dasgupta_cost(tree, vectors, clip=False) == pytest.approx(exact, rel=1e-12)
    lifted = dasgupta_cost(tree, vectors) - dasgupta_cost(tree, vectors, clip=False)
    assert 0 < lifted < rho(n)
