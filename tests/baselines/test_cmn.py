"""The compiled chain against its readable twin, against recounts, and against the law it must sample."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare

from privact.baselines._cmn import NOTHING, find_gains, run_chain, swap, total_likelihood
from privact.baselines.cmn import CMNResult, learn_cmn
from privact.baselines.cmn_plain import PlainChain
from privact.baselines.cmn_state import random_start, state_of, tree_of
from privact.baselines.likelihood import edge_counts, log_likelihood
from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.query.quality import draw_random_tree
from privact.simulate.known_graphs import make_cliques
from privact.tree.hct import HierarchicalClusterTree


def coin_flips(n, share, seed):
    rng = np.random.default_rng(seed)
    linked = [pair for pair in combinations(range(n), 2) if rng.random() < share]
    return ContactGraph.from_edges(np.array(linked, np.int64).reshape(-1, 2), users=range(n))


def two_cliques(size):
    """Users 0 to size-1 know each other, so do the others, and one edge joins both groups."""
    edges = [*combinations(range(size), 2), *combinations(range(size, 2 * size), 2), (0, size)]
    return ContactGraph.from_edges(np.array(edges))


def plain_twin(state, graph):
    adjacency = graph.to_scipy().toarray().tolist()
    return PlainChain(adjacency, state.left.tolist(), state.right.tolist(), state.parent.tolist())


def start(graph, seed):
    state = state_of(graph, random_start(graph, np.random.default_rng(seed)))
    return state, plain_twin(state, graph)


def assert_counts_hold(state, graph):
    """Everything kept equals what a fresh state of the same tree has."""
    n = graph.n_users
    linked = graph.to_scipy().toarray()
    plain = plain_twin(state, graph)
    for node in range(n, 2 * n - 1):
        below = [plain.leaves(child) for child in (state.left[node], state.right[node])]
        assert state.size[node] == len(below[0]) + len(below[1])
        assert state.across[node] == linked[np.ix_(*below)].sum()
        listed, edge = [], state.first[node]
        while edge != NOTHING:
            listed.append(tuple(state.ends[edge].tolist()))
            edge = state.following[edge]
        assert sorted(listed) == sorted((min(x, y), max(x, y)) for x in below[0] for y in below[1] if linked[x, y])
        if node < 2 * n - 2 and state.partial[node] >= 0:
            assert state.partial[node] == linked[np.ix_(below[0], plain.leaves(plain.sibling(node)))].sum()
    assert total_likelihood(state) == pytest.approx(log_likelihood(tree_of(state, graph), graph), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.15, 0.5, 1.0])
@pytest.mark.parametrize("temperature", [0.0, 0.3, 1.0, 30.0])
@pytest.mark.parametrize("n", [3, 4, 9, 26])
def test_same_seed_same_tree_as_the_plain_twin(n, temperature, share):
    state, plain = start(coin_flips(n, share, seed=n), seed=n)
    taken = run_chain(state, 2_000, temperature, np.random.default_rng(5))
    assert plain.run(2_000, temperature, np.random.default_rng(5)) == taken
    assert state.left.tolist() == plain.left
    assert state.right.tolist() == plain.right
    assert state.parent.tolist() == plain.parent
    assert total_likelihood(state) == pytest.approx(plain.cost(), rel=1e-12, abs=1e-9)
    if share in (0.0, 1.0):
        assert taken == 2_000  # all trees are equally likely


def test_nodes_beyond_the_table_of_logarithms():
    """Without a table the same chain comes from logarithms."""
    graph = coin_flips(30, 0.3, seed=1)
    state, _ = start(graph, seed=2)
    bare = state_of(graph, tree_of(state, graph))._replace(entropies=np.zeros(0))
    assert run_chain(state, 3_000, 1.0, np.random.default_rng(3)) == run_chain(bare, 3_000, 1.0, np.random.default_rng(3))
    assert np.array_equal(state.left, bare.left)
    assert total_likelihood(bare) == pytest.approx(total_likelihood(state), rel=1e-12)


def test_a_gain_is_the_difference_of_two_likelihoods():
    graph = coin_flips(9, 0.4, seed=3)
    for node in range(9, 16):
        for right_moves, column in ((True, 0), (False, 1)):
            state, plain = start(graph, seed=3)
            find_gains(state, node)
            gain = state.gains[node, column]
            before = plain.cost()
            assert plain.gain(node, right_moves) == pytest.approx(gain, abs=1e-9)
            plain.swap(node, right_moves)
            swap(state, node, right_moves)
            assert plain.cost() - before == pytest.approx(gain, abs=2e-8)
            assert state.left.tolist() == plain.left
            assert state.right.tolist() == plain.right
            assert_counts_hold(state, graph)


def test_a_gain_by_hand():
    # Only users 0 and 2 know each other. ((0, 1), 2): the root parts 2 pairs, 1 linked: -2 log 2. Both other trees: one node
    # links all of its pairs or none, and for ((1, 2), 0) the root again 1 of 2.
    graph = ContactGraph.from_edges(np.array([[0, 2]]), users=range(3))
    state = state_of(graph, HierarchicalClusterTree.from_nested(((0, 1), 2)))
    find_gains(state, 3)
    assert state.gains[3] == pytest.approx([2 * np.log(2), 0.0])  # {0, 2} with 1; {1, 2} with 0


def test_what_is_kept_is_never_stale():
    graph = coin_flips(30, 0.25, seed=4)
    state, plain = start(graph, seed=4)
    rng = np.random.default_rng(6)
    for _ in range(60):
        run_chain(state, 7, 3.0, rng)
        plain.left, plain.right, plain.parent = state.left.tolist(), state.right.tolist(), state.parent.tolist()
        for node in np.flatnonzero(~np.isnan(state.gains[:, 0])):
            assert state.gains[node].tolist() == pytest.approx([plain.gain(node, True), plain.gain(node, False)], abs=1e-7)
        assert_counts_hold(state, graph)


@pytest.mark.parametrize("temperature", [1.0, 30.0])
def test_a_long_chain_counts_as_a_recount(temperature):
    graph = coin_flips(150, 0.06, seed=7)
    state, _ = start(graph, seed=7)
    assert run_chain(state, 1_000_000, temperature, np.random.default_rng(7)) > 100_000
    assert_counts_hold(state, graph)
    tree = tree_of(state, graph)
    assert sorted(state.across[150:]) == sorted(edge_counts(tree, graph))


def all_trees(users):
    """Every full binary tree over some users, as nested pairs."""
    if len(users) == 1:
        return list(users)
    parts = [part for size in range(1, len(users)) for part in combinations(users, size) if users[0] in part]
    return [(a, b) for part in parts for a in all_trees(part) for b in all_trees([u for u in users if u not in part])]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "edges", "samples"),
    [(4, [(0, 1), (1, 2), (1, 3), (2, 3)], 8_000), (5, [(0, 1), (1, 2), (0, 2), (3, 4), (0, 3)], 20_000)],
)
def test_a_chain_samples_the_boltzmann_law_and_no_other(n, edges, samples):
    graph = ContactGraph.from_edges(np.array(edges), users=range(n))
    trees = [HierarchicalClusterTree.from_nested(nested) for nested in all_trees(range(n))]
    assert len(set(trees)) == {4: 15, 5: 105}[n]
    likelihoods = np.array([log_likelihood(tree, graph) for tree in trees])
    temperature = 1.3

    def law(at):
        weight = np.exp((likelihoods - likelihoods.max()) / at)
        return weight / weight.sum()

    assert law(temperature).max() > 5 * law(temperature).min()
    state, _ = start(graph, seed=11)
    rng = np.random.default_rng(11)
    number = {tree: i for i, tree in enumerate(trees)}
    visits = Counter()
    for _ in range(samples):
        run_chain(state, 60, temperature, rng)  # far apart, so that samples are nearly independent
        visits[tuple(state.left[n:]), tuple(state.right[n:])] += 1
    seen = np.zeros(len(trees))
    for children, times in visits.items():
        seen[number[HierarchicalClusterTree.from_children(*children)]] += times
    assert (samples * law(temperature)).min() > 20
    assert chisquare(seen, samples * law(temperature)).pvalue > 1e-3
    for wrong in (2 * temperature, temperature / 2):
        assert chisquare(seen, samples * law(wrong)).pvalue < 1e-9
    assert chisquare(seen).pvalue < 1e-9  # nor is it uniform


@pytest.mark.parametrize("seed", range(3))
def test_two_cliques_joined_by_an_edge_are_told_apart(seed):
    """A tree with both cliques as clusters has all probabilities 0 or 1 but one: 1 edge of 64 pairs at the root."""
    found = learn_cmn(two_cliques(8), 400, random_state=seed, temperature=(2.0, 0.01))
    assert len({*found.tree.cut(2)[:8]}) == len({*found.tree.cut(2)[8:]}) == 1
    assert found.log_likelihood == pytest.approx(np.log(1 / 64) + 63 * np.log(63 / 64))


def test_the_trace_begins_at_the_start_and_ends_at_the_tree():
    graph = coin_flips(40, 0.2, seed=0)
    begin = draw_random_tree(40, np.random.default_rng(9), graph.users)
    found = learn_cmn(graph, 12, random_state=1, start=begin, window=None)
    assert isinstance(found, CMNResult)
    assert len(found.log_likelihood_trace) == 13
    assert found.log_likelihood_trace[0] == pytest.approx(log_likelihood(begin, graph))
    assert found.log_likelihood == pytest.approx(log_likelihood(found.tree, graph))
    assert found.proposed == 12 * 40
    assert 0 < found.accepted <= found.proposed
    assert not found.settled
    assert found.tree.users == graph.users


def test_no_sweeps_leave_the_start_as_it_is():
    graph = coin_flips(10, 0.3, seed=0)
    begin = draw_random_tree(10, np.random.default_rng(9), graph.users)
    found = learn_cmn(graph, 0, start=begin)
    assert found.tree == begin
    assert (found.accepted, found.proposed) == (0, 0)


def test_the_chain_ends_where_two_windows_are_alike_and_not_before():
    graph = coin_flips(30, 0.2, seed=2)
    found = learn_cmn(graph, 5_000, random_state=0, window=10)
    trace = found.log_likelihood_trace
    assert found.settled
    assert 20 < len(trace) - 1 < 5_000

    def rises(end):
        return trace[end - 10 : end].mean() > trace[end - 20 : end - 10].mean()

    assert not rises(len(trace))
    assert all(rises(end) for end in range(21, len(trace)))
    assert len(learn_cmn(graph, 300, random_state=0, window=None).log_likelihood_trace) == 301


def test_the_chain_does_not_end_while_the_temperature_changes():
    graph = make_cliques([3, 4]).graph
    assert len(learn_cmn(graph, 60, random_state=0, window=2, temperature=(5.0, 0.1)).log_likelihood_trace) == 61
    held = [*np.geomspace(5, 0.01, 30), *np.full(300, 0.01)]
    found = learn_cmn(graph, 330, random_state=0, window=2, temperature=held)
    assert found.settled
    assert len(found.log_likelihood_trace) - 1 >= 33


def test_one_seed_decides_everything():
    graph = coin_flips(25, 0.2, seed=5)
    one, same, other = (learn_cmn(graph, 30, random_state=seed) for seed in (1, np.random.default_rng(1), 2))
    assert one.tree == same.tree
    assert np.array_equal(one.log_likelihood_trace, same.log_likelihood_trace)
    assert one.tree != other.tree


def test_progress_is_told_each_sweep():
    told = []
    learn_cmn(coin_flips(9, 0.3, 0), 3, random_state=0, progress=lambda *news: told.append(news))
    assert told == [("swapping", 1, 3), ("swapping", 2, 3), ("swapping", 3, 3)]


def test_users_without_contacts_and_graphs_without_edges():
    graph = ContactGraph.from_edges(np.empty((0, 2), np.int64), users=range(6))
    found = learn_cmn(graph, 5, random_state=0)
    assert found.log_likelihood == 0.0
    assert found.accepted == found.proposed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sweeps": -1}, "sweeps -1 is not a whole number >= 0"),
        ({"sweeps": 1.5}, "sweeps 1.5"),
        ({"sweeps": True}, "sweeps True"),
        ({"sweeps": 5, "window": 0}, "window 0 is not a whole number >= 1"),
        ({"sweeps": 5, "temperature": -1.0}, "temperature -1.0"),
        ({"sweeps": 5, "temperature": float("nan")}, "temperature nan"),
        ({"sweeps": 5, "start": HierarchicalClusterTree.from_nested((0, 1))}, "the tree has 2 users but the graph 9"),
    ],
)
def test_bad_input_is_refused_in_one_line(arguments, words):
    with pytest.raises(InputError, match=words) as caught:
        learn_cmn(coin_flips(9, 0.3, 0), **arguments)
    assert "\n" not in str(caught.value)


def test_fewer_than_three_users_are_refused():
    with pytest.raises(InputError, match="2 users, but a chain over trees needs at least 3"):
        learn_cmn(ContactGraph.from_edges(np.array([[0, 1]])))
