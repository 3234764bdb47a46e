"""The compiled search against its readable twin, against recounts, and against the law it must sample."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import squareform
from scipy.stats import chisquare

from privact.learn.search._regrafts import regraft
from privact.learn.search._swaps import climb, fill, gains, random_children, run_chain, swap, total_cost, upward
from privact.learn.search.linkage import average_linkage
from privact.learn.search.search_state import random_state_of, state_of, tree_of
from privact.learn.search.swaps import PlainSearch
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree


def whole(n, seed=0):
    return Embedding.from_counts(np.random.default_rng(seed).poisson(4.0, (n, 3)))


def fractional(n, seed=0):
    """Points on the grid of posteriors, where every sum is exact."""
    points = np.random.default_rng(seed).integers(-1024, 1025, (n, 7)) / 1024
    return Embedding(points.astype(np.float32), np.array([0.5, 0.5, 0.5, 1, 2, 4, 0.5]), 9.0)


def twins(embedding, seed):
    """The same random tree as a compiled and as a plain search."""
    left, right = random_children(len(embedding), np.random.default_rng(seed))
    plain = PlainSearch.of(squareform(embedding.condensed()).tolist(), left.tolist(), right.tolist())
    return state_of(embedding, left, right), plain


def recounted(state):
    """What a fresh count of the same tree gives."""
    n = (len(state.left) + 1) // 2
    copy = type(state)(*(x.copy() if isinstance(x, np.ndarray) else x for x in state))
    copy.parent[:] = -7
    copy.size[n:] = -7
    copy.sums[n : 2 * n - 1] = np.nan
    copy.across[n:] = np.nan
    return copy, fill(copy)


def assert_sums_hold(state, rel=1e-9):
    fresh, cost = recounted(state)
    n = (len(state.left) + 1) // 2
    assert np.array_equal(state.parent, fresh.parent)
    assert np.array_equal(state.size[: 2 * n - 1], fresh.size[: 2 * n - 1])
    assert state.sums == pytest.approx(fresh.sums, rel=rel, abs=rel)
    assert state.across[n:] == pytest.approx(fresh.across[n:], rel=rel, abs=rel * np.abs(fresh.across).max())
    assert total_cost(state) == pytest.approx(cost, rel=rel)


@pytest.mark.parametrize("make", [whole, fractional])
@pytest.mark.parametrize("temperature", [0.0, 1.0, 40.0, 1e4, 1e9])
@pytest.mark.parametrize("n", [3, 4, 9, 26])
def test_same_seed_same_tree_as_the_plain_twin(make, temperature, n):
    state, plain = twins(make(n), seed=n)
    taken = run_chain(state, 3_000, temperature, np.random.default_rng(5))
    assert plain.run(3_000, temperature, np.random.default_rng(5)) == taken
    assert state.left.tolist() == plain.left
    assert state.right.tolist() == plain.right
    assert state.parent.tolist() == plain.parent
    assert total_cost(state) == pytest.approx(plain.cost(), rel=1e-12)
    if temperature >= 1e9:
        assert taken > 2_900  # so hot that nearly everything is taken


def test_a_colder_chain_takes_less_and_ends_higher():
    results = []
    for temperature in (0.0, 300.0, 1e9):
        state, _ = twins(whole(26), seed=1)
        taken = run_chain(state, 20_000, temperature, np.random.default_rng(2))
        assert taken > 0
        results.append((taken, -fill(state)))
    assert results == sorted(results)


@pytest.mark.parametrize("make", [whole, fractional])
def test_a_gain_is_the_difference_of_two_costs(make):
    state, plain = twins(make(9), seed=3)
    for node in range(9, 16):
        for right_moves, gain in zip((True, False), gains(state, node), strict=True):
            before = plain.cost()
            assert plain.gain(node, right_moves) == pytest.approx(gain, abs=1e-9)
            plain.swap(node, right_moves)
            assert plain.cost() - before == pytest.approx(gain, abs=1e-9)
            state_after, _ = recounted(state)
            swap(state_after, node, right_moves)
            assert state_after.left.tolist() == plain.left
            assert state_after.right.tolist() == plain.right
            assert fill(state_after) == pytest.approx(plain.cost(), rel=1e-12)
            plain = twins(make(9), seed=3)[1]


def test_gains_by_hand():
    # ((a, b), c) with S(a,b) = 5, S(a,c) = 1, S(b,c) = 2: joining a and c first gains 1*5 - 1*1, joining b and c 1*5 - 1*2.
    matrix = np.array([[0, 5, 1], [5, 0, 2], [1, 2, 0]], dtype=float)
    state = state_of(Embedding.from_matrix(matrix), np.array([0, 3]), np.array([1, 2]))
    assert total_cost(state) == pytest.approx(2 * 5 + 3 * (1 + 2))
    assert gains(state, 3) == pytest.approx((4.0, 3.0))


@pytest.mark.parametrize("make", [whole, fractional])
def test_kept_partial_sums_are_never_stale(make):
    state, _ = twins(make(30), seed=4)
    rng = np.random.default_rng(6)
    for _ in range(300):
        run_chain(state, 7, 1e6, rng)
        kept = [gains(state, node) for node in range(30, 58)]
        fresh, _ = recounted(state)
        assert kept == [gains(fresh, node) for node in range(30, 58)]  # exact on the grid


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [1e9, 2e3])
def test_rounding_stays_bounded_over_two_million_steps(temperature):
    """Points off the grid, so that every sum rounds."""
    rng = np.random.default_rng(7)
    embedding = Embedding(rng.normal(size=(150, 12)), rng.lognormal(0, 2, 12), 3.0)
    state = random_state_of(embedding, rng)
    taken = run_chain(state, 2_000_000, temperature, rng)
    assert taken > 100_000
    assert_sums_hold(state, rel=1e-11)


def test_rounding_stays_bounded_for_a_matrix():
    rng = np.random.default_rng(8)
    matrix = rng.lognormal(0, 3, (60, 60))
    state = random_state_of(Embedding.from_matrix(matrix + matrix.T), rng)
    run_chain(state, 100_000, 1e9, rng)
    assert_sums_hold(state)


@pytest.mark.parametrize("make", [whole, fractional])
@pytest.mark.parametrize("seed", range(5))
def test_a_finished_climb_is_a_local_optimum(make, seed):
    state, plain = twins(make(24), seed=seed)
    before = fill(state)
    taken, finished = climb(state, np.arange(47), 2**62)
    assert finished
    assert taken > 0
    assert fill(state) > before
    plain.left, plain.right, plain.parent = state.left.tolist(), state.right.tolist(), state.parent.tolist()
    best = max(plain.gain(node, side) for node in range(24, 46) for side in (True, False))
    assert best <= 1e-9 * plain.cost()


def test_a_climb_stops_at_its_limit_and_says_so():
    state, _ = twins(whole(24), seed=0)
    taken, finished = climb(state, np.arange(47), 3)
    assert (taken, finished) == (3, False)
    assert_sums_hold(state)


def test_a_climb_from_a_local_optimum_takes_nothing():
    state, _ = twins(whole(24), seed=0)
    climb(state, np.arange(47), 2**62)
    assert climb(state, np.arange(47), 2**62) == (0, True)


def blocks(n, rng):
    group = rng.integers(0, 4, n)
    return Embedding.from_matrix(1.0 * (group[:, None] != group[None, :]))


def coin_flips(n, rng):
    upper = np.triu(rng.random((n, n)) < 0.3, 1)
    return Embedding.from_matrix(1.0 * (upper | upper.T))


def wide_range(n, rng):
    place = 10.0 ** rng.uniform(-12, 6, n)
    return Embedding.from_matrix(np.abs(place[:, None] - place[None, :]))


def shares(n, rng):
    counts = rng.integers(0, 4, (n, 3))
    return Embedding.from_counts(counts / (counts.sum(axis=1, keepdims=True) + 1.0))


def repeated_fractions(n, rng):
    return Embedding.from_counts(rng.random((5, 3))[rng.integers(0, 5, n)])


def near_twins_and_one_far_away(n, rng):
    vectors = rng.normal(0, 1e-6, (n, 3))
    vectors[0] = 1e9
    return Embedding.from_counts(vectors)


def whole_and_one_far_away(n, rng):
    vectors = rng.integers(0, 3, (n, 3)).astype(float)
    vectors[0] = 1e15
    return Embedding.from_counts(vectors)


@pytest.mark.parametrize(
    "make", [blocks, coin_flips, wide_range, shares, repeated_fractions, near_twins_and_one_far_away, whole_and_one_far_away]
)
@pytest.mark.parametrize("n", [7, 60, 160])
def test_ties_and_rounding_never_keep_a_climb_going_in_circles(make, n):
    """Where dissimilarities are equal, rounding decides which swap seems to gain: it must not take turns for ever."""
    for seed in range(12 if n < 100 else 3):
        embedding = make(n, np.random.default_rng((n, seed)))
        state = state_of(embedding, *average_linkage(embedding))
        for _ in range(4):
            regraft(state, np.arange(2 * n - 1), 24)
            _, finished = climb(state, np.arange(2 * n - 1), 200 * n)
            assert finished, seed
            fill(state)


def test_children_come_before_parents():
    left, right = random_children(40, np.random.default_rng(9))
    state = state_of(whole(40), left, right)
    seen = set(range(40))
    order = upward(state.left, state.right, 78)
    for node in order:
        assert {int(state.left[node]), int(state.right[node])} <= seen
        seen.add(int(node))
    assert len(order) == 39
    assert len(seen) == 79


def test_random_trees_join_two_clusters_drawn_at_random():
    """Of three users each pair is the first to be joined one time in three; of four, two pairs come one time in three."""
    rng = np.random.default_rng(10)
    first = [frozenset((int(a[0]), int(b[0]))) for a, b in (random_children(3, rng) for _ in range(6_000))]
    assert chisquare([first.count(pair) for pair in set(first)]).pvalue > 1e-3
    trees = [HierarchicalClusterTree.from_children(*random_children(4, rng)) for _ in range(3_000)]
    balanced = sum(sorted(tree.size[4:]) == [2, 2, 4] for tree in trees)
    assert chisquare([balanced, 3_000 - balanced], [1_000, 2_000]).pvalue > 1e-3


# The Boltzmann law. Clusters are sets of users as bits.


def all_trees(users):
    """Every full binary tree over some users, as the set of its clusters."""
    users = list(users)
    if len(users) == 1:
        return [frozenset([1 << users[0]])]
    first, *others = users
    found = []
    for mask in range(2 ** len(others) - 1):
        a = [first, *(u for i, u in enumerate(others) if mask >> i & 1)]
        b = [u for u in users if u not in a]
        whole_set = sum(1 << u for u in users)
        found += [x | y | {whole_set} for x in all_trees(a) for y in all_trees(b)]
    return found


def cost_of(tree, matrix):
    """Dasgupta's cost by its definition: each pair times the size of the smallest cluster that holds both."""
    n = len(matrix)
    smallest = {(i, j): min(c.bit_count() for c in tree if c >> i & 1 and c >> j & 1) for i in range(n) for j in range(i)}
    return sum(matrix[i][j] * size for (i, j), size in smallest.items())


def clusters_of(left, right, root, n):
    """The clusters of a search's tree."""
    found = set()

    def below(node):
        bits = 1 << node if node < n else below(left[node]) | below(right[node])
        found.add(bits)
        return bits

    below(root)
    return frozenset(found)


def test_the_number_of_trees_is_a_double_factorial():
    assert [len(set(all_trees(range(n)))) for n in (2, 3, 4, 5)] == [1, 3, 15, 105]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "samples"), [(4, 12_000), (5, 30_000)])
def test_a_chain_samples_the_boltzmann_law_and_no_other(n, samples):
    rng = np.random.default_rng(11)
    matrix = np.triu(rng.integers(1, 9, (n, n)), 1)
    matrix = matrix + matrix.T
    trees = sorted(set(all_trees(range(n))), key=sorted)
    costs = np.array([cost_of(tree, matrix.tolist()) for tree in trees], dtype=float)
    temperature = np.ptp(costs) / 3.0  # the best tree is twenty times as likely as the worst

    def law(at):
        weight = np.exp((costs - costs.max()) / at)
        return weight / weight.sum()

    assert law(temperature).max() > 15 * law(temperature).min()
    state = random_state_of(Embedding.from_matrix(matrix.astype(float)), rng)
    number = {tree: i for i, tree in enumerate(trees)}
    seen = np.zeros(len(trees))
    run_chain(state, 1_000, temperature, rng)
    for _ in range(samples):
        run_chain(state, 60, temperature, rng)  # far apart, so that samples are nearly independent
        seen[number[clusters_of(state.left.tolist(), state.right.tolist(), 2 * n - 2, n)]] += 1
    assert (samples * law(temperature)).min() > 20
    assert chisquare(seen, samples * law(temperature)).pvalue > 1e-3
    for wrong in (1.5 * temperature, temperature / 1.5):
        assert chisquare(seen, samples * law(wrong)).pvalue < 1e-9
    assert chisquare(seen).pvalue < 1e-9  # nor is it uniform


def test_tree_of_keeps_the_clusters():
    state = random_state_of(whole(12), np.random.default_rng(12))
    run_chain(state, 500, 100.0, np.random.default_rng(13))
    tree = tree_of(state, [f"user {i}" for i in range(12)])
    found = {sum(1 << int(leaf) for leaf in tree.order[s : s + m]) for s, m in zip(tree.start, tree.size, strict=True)}
    assert found == clusters_of(state.left.tolist(), state.right.tolist(), 22, 12)
    assert tree.users is not None
