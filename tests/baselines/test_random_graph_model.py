"""Probabilities on a tree, and graphs drawn from them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from privact.baselines.likelihood import edge_counts, pair_counts
from privact.baselines.random_graph_model import HierarchicalRandomGraph
from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.query.quality import random_tree
from privact.simulate.known_graphs import cliques
from privact.tree.hct import HierarchicalClusterTree


def some_model(n, seed, users=None):
    rng = np.random.default_rng(seed)
    return HierarchicalRandomGraph(random_tree(n, rng, users), rng.random(n - 1))


def test_probabilities_are_shares_of_linked_pairs():
    # ((0, 1), (2, 3)) on the path 0-1-2-3: both pairs are linked, and 1 of the 4 pairs across.
    graph = ContactGraph.from_edges(np.array([[0, 1], [1, 2], [2, 3]]))
    model = HierarchicalRandomGraph.fit(HierarchicalClusterTree.from_nested(((0, 1), (2, 3))), graph)
    assert model.probabilities.tolist() == [1.0, 1.0, 0.25]
    assert model.expected_edges == 3.0
    assert model.link_probabilities([(0, 1), (3, 2), (0, 3), (2, 1)]).tolist() == [1.0, 1.0, 0.25, 0.25]
    assert model.link_probabilities([]).tolist() == []


def test_drawn_graphs_have_the_expected_number_of_edges_at_each_node():
    """A node's count is binomial: over many draws its mean is within a few standard errors of pi LR."""
    model = some_model(25, seed=1)
    pairs, draws = pair_counts(model.tree), 400
    rng = np.random.default_rng(2)
    counts = np.array([edge_counts(model.tree, model.draw(rng)) for _ in range(draws)])
    spread = np.sqrt(pairs * model.probabilities * (1 - model.probabilities) / draws)
    assert (np.abs(counts.mean(axis=0) - pairs * model.probabilities) < 4.5 * spread).all()
    wide = pairs >= 10
    assert counts.std(axis=0)[wide] == pytest.approx(spread[wide] * np.sqrt(draws), rel=0.2)


def test_every_pair_across_a_node_is_as_likely_as_any_other():
    tree = HierarchicalClusterTree.from_nested(((0, 1), ((2, 3), 4)))
    model = HierarchicalRandomGraph(tree, np.array([0.0, 1.0, 0.0, 0.3]))  # nodes {0,1}, {2,3}, {2,3,4}, everybody
    rng = np.random.default_rng(3)
    seen = np.zeros((5, 5))
    for _ in range(3_000):
        for a, b in model.draw(rng).edges():
            seen[a, b] += 1
    assert seen[2, 3] == 3_000
    assert seen[0, 1] == seen[2, 4] == seen[3, 4] == 0
    across = seen[:2, 2:].ravel()
    assert across.sum() == pytest.approx(0.3 * 6 * 3_000, rel=0.05)
    assert chisquare(across).pvalue > 1e-3


def test_certain_links_give_the_graph_back():
    graph = cliques([4, 5]).graph
    tree = HierarchicalClusterTree.from_nested((((0, 1), (2, 3)), (((4, 5), (6, 7)), 8)))
    assert HierarchicalRandomGraph.fit(tree, graph).draw(0) == graph


def test_the_work_follows_the_edges_and_not_the_pairs():
    """A million users in a path-like tree with a trillion pairs, of which ten thousand are linked."""
    n = 1_000_000
    left = np.arange(n - 1, 2 * n - 2)
    left[0] = 0
    tree = HierarchicalClusterTree.from_children(left, np.arange(1, n))
    graph = HierarchicalRandomGraph(tree, np.full(n - 1, 2e-8)).draw(1)
    assert graph.n_users == n
    assert graph.n_edges == pytest.approx(1e-8 * n * (n - 1), abs=5 * 100)  # a standard deviation is 100


def test_one_seed_decides_the_graph():
    users = [f"user {i}" for i in range(30)]
    model = some_model(30, seed=4, users=users)
    assert model.draw(5) == model.draw(np.random.default_rng(5))
    assert model.draw(5) != model.draw(6)
    assert model.draw(5).users == tuple(users)


@pytest.mark.parametrize(
    ("probabilities", "words"),
    [
        (np.zeros(5), r"shape \(5,\): give one for each of 3"),
        (np.array([0.0, 1.5, 0.0]), "probability 1.5"),
        (np.array([0.0, np.nan, 0.0]), "probability nan"),
    ],
)
def test_what_are_no_probabilities_is_refused_in_one_line(probabilities, words):
    with pytest.raises(InputError, match=words) as caught:
        HierarchicalRandomGraph(HierarchicalClusterTree.from_nested(((0, 1), (2, 3))), probabilities)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([(0, 9)], "leaf 9, outside 0 to 3"),
        ([(-1, 2)], "leaf -1"),
        ([(1, 2), (2, 2)], "pair 1 is leaf 2 with itself"),
        ([(0.5, 1.0)], "give a"),
        ([0, 1], "shape"),
    ],
)
def test_what_are_no_pairs_is_refused_in_one_line(pairs, words):
    model = HierarchicalRandomGraph(HierarchicalClusterTree.from_nested(((0, 1), (2, 3))), np.zeros(3))
    with pytest.raises(InputError, match=words) as caught:
        model.link_probabilities(pairs)
    assert "\n" not in str(caught.value)
