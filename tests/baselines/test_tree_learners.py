"""What every tree learner must do, whatever its method."""

from __future__ import annotations

import importlib.util
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from privact.baselines.linkage_peers import GRAPH_LEARNERS, TREE_LEARNERS
from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.simulate.known_graphs import make_nested_cliques
from privact.tree.cost import dasgupta_cost
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

NEEDS = {"paris": ("sknetwork", "scikit-network")}


def needed(name):
    module, package = NEEDS.get(name, ("privact", "privact"))
    missing = importlib.util.find_spec(module) is None
    return pytest.param(name, marks=pytest.mark.skipif(missing, reason=f"{name} needs {package}: pip install {package}"))


on_vectors = pytest.mark.parametrize("learn", TREE_LEARNERS.values(), ids=TREE_LEARNERS.keys())
on_graphs = pytest.mark.parametrize("name", [needed(name) for name in GRAPH_LEARNERS])


def groups(n=36, seed=0):
    """Three groups of users with few, some and many contacts: Poisson counts around 1, 10 and 40."""
    rng = np.random.default_rng(seed)
    rates = np.array([1.0, 10.0, 40.0])[rng.permutation(np.arange(n) % 3)]
    return rng.poisson(rates[:, None], (n, 3))


def shuffled_cost(vectors):
    """What any tree costs on average over all orders of its leaves: a pair's cluster holds 2 (n + 1) / 3 users on average."""
    return 2.0 * (len(vectors) + 1) / 3.0 * pdist(vectors, "cityblock").sum()


def assert_full_binary(tree, n):
    assert isinstance(tree, HierarchicalClusterTree)
    assert tree.n_users == n
    assert len(tree.left) == len(tree.right) == n - 1
    children = np.concatenate([tree.left, tree.right])
    assert sorted(children.tolist()) == list(range(2 * n - 2))  # everyone but the root has one parent
    assert sorted(tree.order.tolist()) == list(range(n))
    assert (tree.size[n:] == tree.size[tree.left] + tree.size[tree.right]).all()
    assert tree.size[tree.root] == n


@on_vectors
@pytest.mark.parametrize("n", [2, 3, 36])
def test_a_full_binary_tree_over_everybody(learn, n):
    assert_full_binary(learn(groups(n), 0), n)


@on_vectors
def test_an_embedding_and_its_vectors_give_the_same_tree(learn):
    assert learn(groups(), 3) == learn(Embedding.from_counts(groups()), 3)


@on_vectors
def test_an_embedding_of_uncertain_counts_is_taken(learn):
    certain = Embedding.from_counts(groups())
    hazy = Embedding(certain.points * np.float32(0.5), certain.weights, certain.constant)
    assert_full_binary(learn(hazy, 0), len(hazy))


@on_vectors
def test_users_who_are_all_the_same(learn):
    assert_full_binary(learn(np.full((9, 2), 4), 0), 9)


@on_vectors
def test_the_seed_decides_everything(learn):
    first = learn(groups(), 5)
    assert first == learn(groups(), 5)
    assert first == learn(groups(), np.random.default_rng(5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn(groups())  # a seed is not required


def test_chance_follows_the_seed():
    for name in ("random", "gentree"):
        assert TREE_LEARNERS[name](groups(), 1) != TREE_LEARNERS[name](groups(), 2), name


@pytest.mark.parametrize("name", [name for name in TREE_LEARNERS if name != "random"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_cost_improves_on_chance(name, seed):
    vectors = groups(seed=seed)
    cost = dasgupta_cost(TREE_LEARNERS[name](vectors, seed), vectors, clip=False)
    best = dasgupta_cost(TREE_LEARNERS["linkage+gentree"](vectors, seed), vectors, clip=False)
    chance = shuffled_cost(vectors)
    assert cost > chance + 0.9 * (best - chance)


def test_a_random_tree_costs_what_chance_costs():
    vectors = groups()
    costs = [dasgupta_cost(TREE_LEARNERS["random"](vectors, seed), vectors, clip=False) for seed in range(400)]
    error = np.std(costs) / np.sqrt(len(costs))
    assert abs(np.mean(costs) - shuffled_cost(vectors)) < 4 * error
    assert error < 0.01 * shuffled_cost(vectors)


@on_vectors
@pytest.mark.parametrize(
    ("users", "words"),
    [
        ([[1.0, np.nan], [2.0, 3.0]], "user 0 holds NaN"),
        ([[1.0, 2.0], [np.inf, 3.0]], "user 1 holds NaN or infinity"),
        ([[1, 2]], "1 users"),
        (np.empty((0, 2)), "0 users"),
        ([1, 2, 3], r"shape \(3,\)"),
        (np.zeros((3, 0)), r"shape \(3, 0\)"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
        ([["a", "b"], ["c", "d"]], "not numbers"),
        (Embedding(np.zeros((1, 2)), np.ones(2), 1.0), "1 users"),
        (Embedding(np.array([[0.0], [np.nan], [1.0]]), np.ones(1), 1.0), "user 1 holds NaN"),
    ],
)
def test_bad_input_is_refused_in_one_line(learn, users, words):
    with pytest.raises(InputError, match=words) as caught:
        learn(users, 0)
    assert "\n" not in str(caught.value)


@on_graphs
@pytest.mark.parametrize("n", [2, 3])
def test_graphs_of_two_and_three_users(name, n):
    path = ContactGraph.from_edges(np.column_stack([np.arange(n - 1), np.arange(1, n)]))
    assert_full_binary(GRAPH_LEARNERS[name](path, 0), n)


@on_graphs
def test_graphs_give_a_full_tree_that_the_seed_decides_and_that_improves_on_chance(name):
    known = make_nested_cliques((2, 2), 4)
    tree = GRAPH_LEARNERS[name](known.graph, 0)
    n = known.graph.n_users
    assert_full_binary(tree, n)
    assert list(tree.users) == list(known.graph.users)
    assert tree == GRAPH_LEARNERS[name](known.graph, 0)
    chance = (n + 1) / 3.0 * known.dissimilarity.sum()
    assert dasgupta_cost(tree, dissimilarity=known.dissimilarity) > chance


@on_graphs
def test_graphs_in_parts_and_with_users_without_contacts(name):
    graph = ContactGraph.from_edges(np.array([[0, 1], [2, 3]]), users=range(6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = GRAPH_LEARNERS[name](graph, 0)
    assert_full_binary(tree, 6)
    assert tree.lowest_common_cluster("0", "1").size == 2
    assert tree.lowest_common_cluster("2", "3").size == 2


@pytest.mark.parametrize("name", GRAPH_LEARNERS)
@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (np.eye(3), "ContactGraph, not on a ndarray"),
        (ContactGraph.from_edges(np.empty((0, 2), np.int64), users=["a"]), "1 users has no contacts"),
        (ContactGraph.from_edges(np.empty((0, 2), np.int64), users=["a", "b"]), "2 users has no contacts"),
    ],
)
def test_what_is_no_graph_is_refused_in_one_line(name, graph, words):
    with pytest.raises(InputError, match=words) as caught:
        GRAPH_LEARNERS[name](graph, 0)
    assert "\n" not in str(caught.value)
