"""log C_M against its definition."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from privact.baselines.likelihood import edge_counts, log_likelihood, lowest_common_nodes, pair_counts
from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.query.quality import draw_random_tree
from privact.tree.ancestry import find_lowest_common
from privact.tree.hct import HierarchicalClusterTree


def coin_flips(n, share, seed):
    rng = np.random.default_rng(seed)
    linked = [pair for pair in combinations(range(n), 2) if rng.random() < share]
    return ContactGraph.from_edges(np.array(linked, np.int64).reshape(-1, 2), users=range(n))


def by_definition(tree, graph):
    """E and log C_M node by node, from sets of users and a look at every pair."""
    linked = {frozenset(edge) for edge in graph.edges().tolist()}
    counts, total = [], 0.0
    for node in range(tree.n_users, tree.n_nodes):
        left, right = (
            tree.order[tree.start[child] : tree.start[child] + tree.size[child]].tolist()
            for child in (tree.left[node - tree.n_users], tree.right[node - tree.n_users])
        )
        edges = sum(frozenset((x, y)) in linked for x in left for y in right)
        pairs = len(left) * len(right)
        counts.append(edges)
        for number in (edges, pairs - edges):
            total += number * math.log(number / pairs) if number else 0.0
    return counts, total


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n", [2, 3, 7, 20])
def test_it_is_the_definition(n, share):
    for seed in range(5):
        tree, graph = draw_random_tree(n, np.random.default_rng(seed)), coin_flips(n, share, seed)
        counts, total = by_definition(tree, graph)
        assert edge_counts(tree, graph).tolist() == counts
        assert log_likelihood(tree, graph) == pytest.approx(total, rel=1e-12)
        assert edge_counts(tree, graph).sum() == graph.n_edges
        assert pair_counts(tree).sum() == n * (n - 1) // 2


def test_by_hand():
    # Users 0 and 1 know each other, and 1 knows 2. Under ((0, 1), 2) the root parts 2 pairs, one of them linked: 2 log(1/2).
    graph = ContactGraph.from_edges(np.array([[0, 1], [1, 2]]))
    assert log_likelihood(HierarchicalClusterTree.from_nested(((0, 1), 2)), graph) == pytest.approx(-2 * math.log(2))
    # Under ((0, 2), 1) every node links all or none.
    assert log_likelihood(HierarchicalClusterTree.from_nested(((0, 2), 1)), graph) == 0.0


def test_lowest_common_nodes_of_all_pairs():
    tree = draw_random_tree(33, np.random.default_rng(1))
    pairs = np.array([(a, b) for a in range(33) for b in range(33) if a != b])
    found = lowest_common_nodes(tree, pairs[:, 0], pairs[:, 1])
    assert found.tolist() == [find_lowest_common(tree, a, b) for a, b in pairs.tolist()]
    assert len(lowest_common_nodes(tree, pairs[:0, 0], pairs[:0, 1])) == 0


def test_a_path_of_many_users_takes_no_recursion_and_no_climbing():
    n = 100_000
    left = np.arange(n - 1, 2 * n - 2)
    left[0] = 0
    tree = HierarchicalClusterTree.from_children(left, np.arange(1, n))  # adds user 1, 2, 3, ... to user 0
    graph = ContactGraph.from_edges(np.column_stack((np.zeros(n - 1, np.int64), np.arange(1, n))))  # 0 knows everybody
    # Node i parts users 0..i from user i + 1, and just the pair with user 0 is linked: 1 of i + 1.
    pairs = np.arange(2.0, n)
    assert edge_counts(tree, graph).tolist() == [1] * (n - 1)
    assert log_likelihood(tree, graph) == pytest.approx(-np.log(pairs).sum() + ((pairs - 1) * np.log1p(-1 / pairs)).sum())


def test_a_tree_over_other_users_is_refused_in_one_line():
    graph = ContactGraph.from_edges([("a", "b"), ("b", "c")])
    with pytest.raises(InputError, match="the tree has 4 users but the graph 3") as caught:
        log_likelihood(draw_random_tree(4, np.random.default_rng(0)), graph)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="leaf 0 is user 'b' but row 0 of the graph is 'a'") as caught:
        log_likelihood(draw_random_tree(3, np.random.default_rng(0), ["b", "a", "c"]), graph)
    assert "\n" not in str(caught.value)
    assert log_likelihood(draw_random_tree(3, np.random.default_rng(0), ["a", "b", "c"]), graph) <= 0.0
