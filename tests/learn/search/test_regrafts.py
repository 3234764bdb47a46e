"""Taking a subtree out, putting it back, and what that does to the cost: all held to a recount."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from privact.learn.search._regrafts import attach, best_place, best_siblings, detach, regraft
from privact.learn.search._swaps import between, climb, fill, gains, random_children, sibling_of
from privact.learn.search.regrafts import polish
from privact.learn.search.search_state import random_state_of, state_of, tree_of
from privact.tree.embedding import Embedding, Thresholds
from privact.tree.hct import HierarchicalClusterTree


def whole(n, seed=0):
    return Embedding.from_counts(np.random.default_rng(seed).poisson(5.0, (n, 3)))


def copy_of(state):
    return type(state)(*(x.copy() if isinstance(x, np.ndarray) else x for x in state))


def assert_state_holds(state):
    """A tree over all users whose every kept number is what a fresh count gives (exact, as all points are whole)."""
    n = (len(state.left) + 1) // 2
    HierarchicalClusterTree.from_children(state.left[n:], state.right[n:])  # refuses what is not one tree
    fresh = copy_of(state)
    fill(fresh)
    for kept, counted in zip(state[2:6], fresh[2:6], strict=True):  # parent, size, sums, across
        assert np.array_equal(kept, counted)
    for node in range(n, 2 * n - 2):
        if not np.isnan(state.partial[node]):
            assert state.partial[node] == between(fresh, fresh.left[node], sibling_of(fresh, node))


def below(state, node):
    """All nodes of a subtree, itself included."""
    found, waiting = set(), [int(node)]
    while waiting:
        node = waiting.pop()
        found.add(node)
        if state.left[node] >= 0:
            waiting += [int(state.left[node]), int(state.right[node])]
    return found


def clusters(state):
    """The leaves below each node, as sets."""
    n = (len(state.left) + 1) // 2
    return {frozenset(leaf for leaf in below(state, node) if leaf < n) for node in range(2 * n - 1)}


def moves(state, x):
    """Every node that X may be put above, in the tree as it stands."""
    n = (len(state.left) + 1) // 2
    parent, sibling = int(state.parent[x]), int(sibling_of(state, x))
    root = 2 * n - 2
    places = set(range(2 * n - 1)) - below(state, x) - {parent}
    return places - {sibling} if parent == root else places  # the sibling becomes the root itself


@pytest.mark.parametrize("n", [3, 4, 5, 7])
@pytest.mark.parametrize("seed", range(4))
def test_out_and_in_again_keeps_a_valid_tree_everywhere(n, seed):
    embedding = whole(n, seed)
    left, right = random_children(n, np.random.default_rng(seed))
    start = state_of(embedding, left, right)
    tried = set()
    for x in range(2 * n - 2):
        for where in moves(start, x):
            state = copy_of(start)
            for node in range(n, 2 * n - 2):
                gains(state, node)  # so that every partial sum is known, and may go stale
            parent_is_root = start.parent[x] == 2 * n - 2
            before = {leaf for leaf in below(start, x) if leaf < n}
            beside = {leaf for leaf in below(start, where) if leaf < n} - before
            attach(state, x, where, detach(state, x, -1), -1)
            assert_state_holds(state)
            assert state.parent[2 * n - 2] == -1
            assert frozenset(before | beside) in clusters(state)
            tried.add((bool(parent_is_root), where == 2 * n - 2))
    assert (False, False) in tried
    assert (False, True) in tried  # moved above the root
    assert n < 5 or (True, False) in tried  # out of a child of the root


def test_putting_back_beside_the_sibling_changes_nothing():
    state = random_state_of(whole(9), np.random.default_rng(1))
    before = clusters(state)
    for x in range(16):
        if state.parent[x] != 16:
            sibling = sibling_of(state, x)
            attach(state, x, sibling, detach(state, x, -1), -1)
            assert_state_holds(state)
            assert clusters(state) == before


@pytest.mark.parametrize("height", [1, 2, 3, 50])
@pytest.mark.parametrize("seed", range(6))
def test_the_promised_gain_is_the_change_of_the_cost(height, seed):
    n = 14
    start = random_state_of(whole(n, seed), np.random.default_rng(seed))
    cost = fill(start)
    gained = 0
    for x in range(2 * n - 2):
        if start.parent[x] == 2 * n - 2 and sibling_of(start, x) < n:
            continue
        where, best, here, _ = best_place(start, x, height, np.empty(n, np.int32), np.empty(n), np.empty_like(start.weights))
        assert where not in below(start, x)
        if where == sibling_of(start, x):
            continue
        state = copy_of(start)
        attach(state, x, where, detach(state, x, -1), -1)
        assert fill(state) - cost == pytest.approx(best - here, abs=1e-9 * cost)
        gained += best > here
    assert gained > 0


@pytest.mark.parametrize("seed", range(6))
def test_above_the_root_is_always_looked_at(seed):
    n = 12
    start = random_state_of(whole(n, seed), np.random.default_rng(seed))
    cost = fill(start)
    for x in range(2 * n - 2):
        if start.parent[x] != 2 * n - 2:
            _, best, here, _ = best_place(start, x, 50, np.empty(n, np.int32), np.empty(n), np.empty_like(start.weights))
            state = copy_of(start)
            attach(state, x, 2 * n - 2, detach(state, x, -1), -1)
            assert best - here >= fill(state) - cost


def test_nobody_moves_further_than_the_height_allows():
    n = 40
    for seed in range(10):
        for height in (1, 2, 4):
            start = random_state_of(whole(n, seed), np.random.default_rng(seed))
            x = seed
            top = x
            for _ in range(height):
                top = int(start.parent[top]) if start.parent[top] != -1 else top
            inside = below(start, top)
            outside = {c for c in clusters(start) if not c <= {leaf for leaf in inside if leaf < n}}
            state = copy_of(start)
            regraft(state, np.array([x]), height)
            assert outside <= clusters(state)
            assert frozenset(leaf for leaf in inside if leaf < n) in clusters(state)


@pytest.mark.parametrize("height", [1, 3, 24])
@pytest.mark.parametrize("seed", range(5))
def test_a_round_of_regrafts_gains_what_it_says_and_never_loses(height, seed):
    n = 60
    state = random_state_of(whole(n, seed), np.random.default_rng(seed))
    before = fill(state)
    moved, gained = regraft(state, np.arange(2 * n - 1), height)
    assert moved > 0
    assert gained > 0
    assert_state_holds(state)
    assert fill(state) - before == pytest.approx(gained, rel=1e-9)


def test_one_misplaced_user_goes_home():
    # Two tight groups; user 4 belongs with 0 to 3 and sits among 5 to 8.
    vectors = [[0], [1], [0], [1], [0], [90], [91], [90], [91]]
    nested = (((0, 1), (2, 3)), ((4, 5), (6, (7, 8))))
    tree = HierarchicalClusterTree.from_nested(nested)
    state = state_of(Embedding.from_counts(vectors), tree.left, tree.right)
    moved, _ = regraft(state, np.array([4]), 24)
    assert moved == 1
    assert frozenset(range(5)) in clusters(state)


@pytest.mark.parametrize("height", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_a_move_below_its_top_leaves_the_nodes_above_as_they_are(height, seed):
    """A move that stays below some node changes no leaf set above it, so nothing there needs to be counted again."""
    n = 14
    start = random_state_of(whole(n, seed), np.random.default_rng(seed))
    for node in range(n, 2 * n - 2):
        gains(start, node)
    stopped = 0
    for x in range(2 * n - 2):
        if start.parent[x] == 2 * n - 2 and sibling_of(start, x) < n:
            continue
        where, _, _, top = best_place(start, x, height, np.empty(n, np.int32), np.empty(n), np.empty_like(start.weights))
        if where == sibling_of(start, x):
            continue
        state = copy_of(start)
        stop = int(state.parent[top])
        attach(state, x, where, detach(state, x, stop), stop)
        assert_state_holds(state)
        stopped += stop != -1
    assert stopped > 0 or height > 3


def test_newcomers_join_the_users_they_look_like():
    # Three kinds of users, far apart; a newcomer of each kind, and one in between that is nearer to the second kind.
    vectors = np.repeat([[0, 0], [50, 0], [0, 90]], 4, axis=0)
    tree = HierarchicalClusterTree.from_nested(((((0, 1), (2, 3)), ((4, 5), (6, 7))), ((8, 9), (10, 11))))
    state = state_of(Embedding.from_counts(vectors), tree.left, tree.right)
    newcomers = Thresholds.of(vectors).embed([[0, 0], [50, 0], [0, 90], [40, 0]]).points.astype(np.float64)
    found = best_siblings(state, newcomers, 12)
    kinds = [{leaf // 4 for leaf in below(state, node) if leaf < 12} for node in found]
    assert kinds == [{0}, {1}, {2}, {1}]


def test_ties_go_down_to_a_leaf():
    """A newcomer who looks like everybody is as well anywhere; it joins one user, not everybody at once."""
    for nested in (((((0, 1), 2), 3), 4), 5), ((0, (1, (2, (3, 4)))), 5):
        state = state_of(Embedding.from_counts([[0], [0], [0], [0], [0], [9]]), *children_of(nested))
        assert best_siblings(state, np.array([[-1.0]]), 1_000)[0] < 5


def children_of(nested):
    tree = HierarchicalClusterTree.from_nested(nested)
    return tree.left, tree.right


def test_two_users_cannot_move():
    state = state_of(Embedding.from_counts([[0], [3]]), np.array([0]), np.array([1]))
    assert regraft(state, np.arange(3), 24) == (0, 0.0)
    assert_state_holds(state)


@pytest.mark.parametrize("seed", range(4))
def test_polish_rises_to_a_local_optimum_of_swaps(seed):
    state = random_state_of(whole(80, seed), np.random.default_rng(seed))
    before = fill(state)
    told = []
    costs = polish(state, None, lambda done, cost: told.append((done, cost)))
    assert all(later >= earlier for earlier, later in pairwise([before, *costs]))
    assert told == list(enumerate(costs, start=1))
    assert costs[-1] == fill(state)
    assert costs[-1] - (costs[-2] if len(costs) > 1 else before) <= 5e-4 * costs[-1]
    assert climb(state, np.arange(159), 10_000) == (0, True)
    assert_state_holds(state)


def test_polish_does_as_many_rounds_as_it_is_told():
    for rounds in (0, 1, 2):
        state = random_state_of(whole(80), np.random.default_rng(0))
        assert len(polish(state, rounds, lambda done, cost: None)) == rounds


def test_polish_beats_swaps_alone_from_the_same_tree():
    """Swaps move one level at a time and get stuck; a regraft crosses the tree."""
    polished, swapped = (random_state_of(whole(200, 3), np.random.default_rng(3)) for _ in range(2))
    climb(swapped, np.arange(399), 10**6)
    polish(polished, None, lambda done, cost: None)
    assert fill(polished) > fill(swapped)


def test_the_tree_that_comes_out_holds_every_user():
    state = random_state_of(whole(50), np.random.default_rng(4))
    polish(state, 3, lambda done, cost: None)
    assert sorted(tree_of(state).order.tolist()) == list(range(50))
