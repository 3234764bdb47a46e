"""What one edge can change, what the mechanism then promises, and that the chain is that mechanism."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare

from privact.baselines.cmn import learn_cmn
from privact.baselines.cmn_dp import learn_cmn_dp, log_likelihood_sensitivity
from privact.baselines.likelihood import edge_counts, log_likelihood, pair_counts
from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.tree.hct import HierarchicalClusterTree


def coin_flips(n, share, seed):
    rng = np.random.default_rng(seed)
    linked = [pair for pair in combinations(range(n), 2) if rng.random() < share]
    return ContactGraph.from_edges(np.array(linked, np.int64).reshape(-1, 2), users=range(n))


def node_terms(pairs):
    """A node's part of log C_M for each number of edges 0..pairs."""
    edges = np.arange(pairs + 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = edges * np.log(edges / pairs) + (pairs - edges) * np.log(1 - edges / pairs)
    terms[[0, -1]] = 0.0
    return terms


def all_trees(users):
    """Every full binary tree over some users, as nested pairs."""
    if len(users) == 1:
        return list(users)
    parts = [part for size in range(1, len(users)) for part in combinations(users, size) if users[0] in part]
    return [(a, b) for part in parts for a in all_trees(part) for b in all_trees([u for u in users if u not in part])]


def four_user_trees():
    return [HierarchicalClusterTree.from_nested(nested) for nested in all_trees(range(4))]


@pytest.mark.parametrize("n", range(2, 41))
def test_no_node_changes_more_than_the_sensitivity_and_one_changes_exactly_that(n):
    """Brute force over every split of at most n users and every number of edges."""
    splits = {left * (size - left) for size in range(2, n + 1) for left in range(1, size)}
    worst = max(np.abs(np.diff(node_terms(pairs))).max() for pairs in splits)
    assert log_likelihood_sensitivity(n) == pytest.approx(worst, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("n", [3, 10, 50, 300, 1843, 10**6])
def test_it_is_about_twice_the_logarithm_and_the_authors_take_a_little_more(n):
    exact = log_likelihood_sensitivity(n)
    assert exact < math.log(n * n / 4) + 1
    assert exact < log_likelihood_sensitivity(n, "authors") == math.log(0.75 * n * n)
    if n >= 300:
        assert exact == pytest.approx(2 * math.log(n) + 1 - math.log(4), abs=1e-4)
        assert log_likelihood_sensitivity(n, "authors") - exact == pytest.approx(math.log(3 / math.e), abs=1e-4)


def test_whole_graphs_stay_within_it():
    """One edge more or less, in graphs and trees at random: never more than the sensitivity, and the worst case is met."""
    n = 8
    limit = log_likelihood_sensitivity(n)
    rng = np.random.default_rng(0)
    for seed in range(40):
        graph = coin_flips(n, rng.random(), seed)
        tree = learn_cmn(graph, 2, random_state=seed).tree
        linked = set(map(tuple, graph.edges().tolist()))
        for pair in combinations(range(n), 2):
            neighbour = ContactGraph.from_edges(np.array(sorted(linked ^ {pair}), np.int64).reshape(-1, 2), users=range(n))
            assert abs(log_likelihood(tree, neighbour) - log_likelihood(tree, graph)) <= limit + 1e-9
    balanced = HierarchicalClusterTree.from_nested((((0, 1), (2, 3)), ((4, 5), (6, 7))))
    empty = ContactGraph.from_edges(np.empty((0, 2), np.int64), users=range(n))
    one = ContactGraph.from_edges(np.array([[0, 7]]), users=range(n))
    assert log_likelihood(balanced, empty) - log_likelihood(balanced, one) == pytest.approx(limit)


def worst_privacy_loss(epsilon, sensitivity):
    """Over all pairs of neighbouring graphs of four users, how far apart the stationary laws are."""
    trees = four_user_trees()
    assert len(set(trees)) == 15
    pairs = list(combinations(range(4), 2))
    laws = {}
    for chosen in range(64):
        edges = [pair for place, pair in enumerate(pairs) if chosen >> place & 1]
        graph = ContactGraph.from_edges(np.array(edges, np.int64).reshape(-1, 2), users=range(4))
        weight = np.exp(epsilon * np.array([log_likelihood(tree, graph) for tree in trees]) / (2 * sensitivity))
        laws[chosen] = np.log(weight / weight.sum())
    return max(np.abs(laws[chosen] - laws[chosen ^ (1 << place)]).max() for chosen in laws for place in range(6))


def test_the_stationary_law_keeps_its_promise():
    exact = log_likelihood_sensitivity(4)
    for epsilon in (0.1, 1.0, 5.0):
        assert worst_privacy_loss(epsilon, exact) <= epsilon
        assert worst_privacy_loss(epsilon, exact / 4) > epsilon  # the test would notice a mechanism that promises too much


@pytest.mark.slow
def test_the_chain_is_the_exponential_mechanism():
    """It draws trees with probability proportional to exp(epsilon_tree log C_M / (2 sensitivity)), and by no other law."""
    graph = ContactGraph.from_edges(np.array([[0, 1], [2, 3]]))
    trees = four_user_trees()
    likelihoods = np.array([log_likelihood(tree, graph) for tree in trees])
    number = {tree: i for i, tree in enumerate(trees)}
    seen = np.zeros(15)
    rng = np.random.default_rng(1)
    for _ in range(2_000):
        found = learn_cmn_dp(graph, 8.0, 8, tree_share=0.75, random_state=rng)
        seen[number[HierarchicalClusterTree.from_children(found.tree.left, found.tree.right)]] += 1

    def law(epsilon_tree):
        weight = np.exp(epsilon_tree * likelihoods / (2 * log_likelihood_sensitivity(4)))
        return weight / weight.sum()

    assert chisquare(seen, 2_000 * law(6.0)).pvalue > 1e-3
    for wrong in (3.0, 8.0, 12.0):
        assert chisquare(seen, 2_000 * law(wrong)).pvalue < 1e-6


def test_noise_on_the_counts_is_discrete_laplace_and_clamped():
    graph = coin_flips(60, 0.5, seed=3)
    found = learn_cmn_dp(graph, 1.0, 3, tree_share=0.25, random_state=0)
    assert (found.epsilon_tree, found.epsilon_counts) == (0.25, 0.75)
    exact, pairs = edge_counts(found.tree, graph), pair_counts(found.tree)
    assert ((found.noisy_edge_counts >= 0) & (found.noisy_edge_counts <= pairs)).all()
    noise = []
    for seed in range(120):
        found = learn_cmn_dp(graph, 1.0, 0, tree_share=0.25, random_state=seed, start=found.tree)
        free = (exact > 12) & (pairs - exact > 12)  # clamping hardly ever touches these
        noise.append((found.noisy_edge_counts - exact)[free])
    noise = np.concatenate(noise)
    assert len(noise) > 1_000
    a = math.exp(-0.75)
    expected = {k: len(noise) * (1 - a) / (1 + a) * a ** abs(k) for k in range(-5, 6)}
    counts = [np.sum(noise == k) for k in expected]
    rest = len(noise) - sum(counts), len(noise) - sum(expected.values())
    assert chisquare([*counts, rest[0]], [*expected.values(), rest[1]]).pvalue > 1e-3


def test_no_counts_are_released_if_the_tree_gets_all_of_epsilon():
    only_tree = learn_cmn_dp(coin_flips(30, 0.2, seed=4), 2.0, 5, tree_share=1.0, random_state=0)
    assert only_tree.noisy_edge_counts is None
    assert only_tree.epsilon_counts == 0.0


def test_it_is_the_chain_of_cmn_at_a_temperature():
    graph = coin_flips(30, 0.2, seed=5)
    private = learn_cmn_dp(graph, 3.0, 20, tree_share=0.5, random_state=7)
    temperature = 2 * log_likelihood_sensitivity(30) / 1.5
    plain = learn_cmn(graph, 20, random_state=7, temperature=temperature, window=None)
    assert private.tree == plain.tree
    assert np.array_equal(private.log_likelihood_trace, plain.log_likelihood_trace)
    assert (private.accepted, private.proposed) == (plain.accepted, plain.proposed) == (plain.accepted, 600)
    authors = learn_cmn_dp(graph, 3.0, 20, sensitivity="authors", random_state=7)
    assert authors.sensitivity == math.log(0.75 * 900)


def test_less_privacy_gives_likelier_trees():
    graph = ContactGraph.from_edges(np.array([*combinations(range(12), 2), *combinations(range(12, 24), 2)]))

    def ends(epsilon):
        return np.mean(
            [learn_cmn_dp(graph, epsilon, 60, random_state=seed).log_likelihood_trace[-20:].mean() for seed in range(6)]
        )

    assert ends(0.1) < ends(2.0) < ends(10.0)  # colder chains than that are trapped on their way


def test_one_seed_decides_everything():
    graph = coin_flips(25, 0.2, seed=5)
    one, same, other = (learn_cmn_dp(graph, 1.0, 10, random_state=seed) for seed in (1, np.random.default_rng(1), 2))
    assert one.tree == same.tree
    assert np.array_equal(one.noisy_edge_counts, same.noisy_edge_counts)
    assert one.tree != other.tree


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"epsilon": 0}, "epsilon 0 is not a number above 0"),
        ({"epsilon": -1.0}, "epsilon -1.0"),
        ({"epsilon": math.nan}, "epsilon nan"),
        ({"epsilon": math.inf}, "epsilon inf"),
        ({"epsilon": 1.0, "tree_share": 0.0}, "tree_share 0.0 is outside 0 to 1"),
        ({"epsilon": 1.0, "tree_share": 1.5}, "tree_share 1.5"),
        ({"epsilon": 1.0, "sweeps": -3}, "sweeps -3 is not a whole number >= 0"),
        ({"epsilon": 1.0, "sensitivity": "guess"}, "sensitivity 'guess' is unknown"),
    ],
)
def test_bad_input_is_refused_in_one_line(arguments, words):
    with pytest.raises(InputError, match=words) as caught:
        learn_cmn_dp(coin_flips(9, 0.3, 0), **arguments)
    assert "\n" not in str(caught.value)


def test_fewer_than_three_users_are_refused():
    with pytest.raises(InputError, match="2 users, but a chain over trees needs at least 3"):
        learn_cmn_dp(ContactGraph.from_edges(np.array([[0, 1]])), 1.0)
