from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import squareform

from privact.errors import InputError
from privact.learn.search import gentree
from privact.learn.search._swaps import climb, fill
from privact.learn.search.gentree import SWEEPS, WINDOW, anneal, schedule
from privact.learn.search.learn_tree import learn_tree
from privact.learn.search.search_state import random_state_of, state_of
from privact.learn.search.swaps import PlainSearch
from privact.tree.embedding import Embedding


def vectors(n, seed=0):
    return np.random.default_rng(seed).poisson(4.0, (n, 3))


def quiet(_sweep, _cost):
    pass


def test_a_number_is_the_temperature_of_every_sweep():
    assert schedule(2.5, 3).tolist() == [2.5, 2.5, 2.5]
    assert schedule(0, 2).tolist() == [0.0, 0.0]
    assert schedule(None, 2).tolist() == [1.0, 1.0]  # the paper's
    assert schedule([7.0], 2).tolist() == [7.0, 7.0]
    assert schedule(1.0, 0).tolist() == []


def test_a_pair_cools_geometrically():
    assert schedule((100.0, 1.0), 3) == pytest.approx([100.0, 10.0, 1.0])
    assert schedule([1.0, 16.0], 5) == pytest.approx([1, 2, 4, 8, 16])


def test_a_list_is_taken_as_it_is():
    assert schedule([5.0, 0.0, 2.0], 3).tolist() == [5.0, 0.0, 2.0]
    assert schedule(np.array([5, 4, 3]), 3).tolist() == [5.0, 4.0, 3.0]


@pytest.mark.parametrize(
    ("temperature", "words"),
    [
        (-1.0, "-1.0"),
        (np.nan, "nan"),
        (np.inf, "inf"),
        ([1.0, -2.0, 3.0], "not a number >= 0"),
        ([], "not a number >= 0"),
        ([[1.0, 2.0]], "not a number >= 0"),
        ((10.0, 0.0), "cannot cool geometrically through 0"),
        ([3.0, 2.0, 1.0], "3 temperatures for 5 sweeps: give one each, or sweeps=3"),
        ("hot", "'hot'"),
        ([1.0, [2.0, 3.0]], "not a number >= 0"),
    ],
)
def test_what_is_no_schedule_is_refused_in_one_line(temperature, words):
    with pytest.raises(InputError, match=words) as caught:
        schedule(temperature, 5)
    assert "\n" not in str(caught.value)


def test_at_temperature_zero_the_cost_only_rises():
    state = random_state_of(Embedding.from_counts(vectors(60)), np.random.default_rng(0))
    start = fill(state)
    costs = anneal(state, np.zeros(60), np.random.default_rng(1), quiet)
    assert costs[0] > start
    assert all(later >= earlier for earlier, later in pairwise(costs))
    assert costs[-1] == fill(state)


def test_it_stops_at_a_proven_local_optimum_when_nothing_can_be_gained():
    apart = np.random.default_rng(4).random((30, 3))  # no two dissimilarities are equal, so no swap gains exactly nothing
    state = random_state_of(Embedding.from_counts(apart), np.random.default_rng(0))
    assert climb(state, np.arange(59), 10_000)[1]
    costs = anneal(state, np.zeros(200), np.random.default_rng(1), quiet)
    assert len(costs) == 1
    assert costs[0] == fill(state)


def test_where_it_stops_at_temperature_zero_no_swap_gains():
    embedding = Embedding.from_counts(vectors(30, seed=5))
    state = random_state_of(embedding, np.random.default_rng(0))
    costs = anneal(state, np.zeros(2_000), np.random.default_rng(1), quiet)
    assert len(costs) < 2_000
    plain = PlainSearch(
        squareform(embedding.condensed()).tolist(), state.left.tolist(), state.right.tolist(), state.parent.tolist()
    )
    assert max(plain.gain(node, side) for node in range(30, 58) for side in (True, False)) <= 1e-9 * costs[-1]


@pytest.mark.parametrize("kind", ["dissimilarity", "similarity"])
@pytest.mark.parametrize("temperature", [0.0, 1e-9])
def test_it_stops_when_a_window_of_sweeps_gains_nothing(kind, temperature):
    matrix = squareform(np.random.default_rng(2).random(45))
    found = learn_tree(
        **{kind: matrix}, return_trace=True, search="gentree", sweeps=3_000, temperature=temperature, random_state=0
    )
    assert len(found.cost_trace) - 1 < 1_500
    trace = found.cost_trace if kind == "dissimilarity" else -found.cost_trace
    if temperature > 0:  # nothing was gained in exactly the last WINDOW sweeps
        last = trace[-1]
        assert trace[-WINDOW - 1 :] == pytest.approx(np.full(WINDOW + 1, last), rel=1e-9)
        assert trace[-WINDOW - 2] < last * (1 - 1e-9) if last > 0 else trace[-WINDOW - 2] < last * (1 + 1e-9)


def test_it_does_not_stop_while_the_temperature_is_still_changing(monkeypatch):
    monkeypatch.setattr(gentree, "WINDOW", 2)
    state = random_state_of(Embedding.from_counts(np.array([[0], [1], [5], [9]])), np.random.default_rng(0))
    assert len(anneal(state, np.geomspace(1e3, 1e-6, 30), np.random.default_rng(1), quiet)) == 30
    assert len(anneal(state, np.full(30, 1e-6), np.random.default_rng(1), quiet)) == 2
    assert len(anneal(state, np.append(np.geomspace(1e3, 1e-6, 10), np.full(20, 1e-6)), np.random.default_rng(1), quiet)) < 15


def test_progress_is_told_each_sweep_and_its_cost():
    told = []
    state = random_state_of(Embedding.from_counts(vectors(20)), np.random.default_rng(0))
    costs = anneal(state, np.full(6, 1e6), np.random.default_rng(1), lambda sweep, cost: told.append((sweep, cost)))
    assert [sweep for sweep, _ in told] == [1, 2, 3, 4, 5, 6]
    assert [cost for _, cost in told] == pytest.approx(costs)


def test_two_users_have_one_tree():
    state = state_of(Embedding.from_counts([[0], [7]]), np.array([0]), np.array([1]))
    assert anneal(state, np.ones(9), np.random.default_rng(0), quiet) == [14.0]  # S = 7, two users


def test_no_sweeps_leave_the_tree_as_it_is():
    state = random_state_of(Embedding.from_counts(vectors(9)), np.random.default_rng(0))
    left = state.left.copy()
    assert anneal(state, np.empty(0), np.random.default_rng(1), quiet) == [fill(state)]
    assert np.array_equal(state.left, left)


def test_heating_and_cooling_escapes_a_local_optimum():
    """Pairs {0,1}, {2,3} are close; {0,2}, {1,3} hardly less. From a trap that no single swap leaves upward, heat does."""
    rng = np.random.default_rng(3)
    for _ in range(200):  # a matrix and a tree that is a local optimum of swaps, but not the best tree found
        matrix = squareform(rng.integers(1, 30, 15).astype(float))
        embedding = Embedding.from_matrix(matrix)
        ends = []
        for seed in range(12):
            state = random_state_of(embedding, np.random.default_rng(seed))
            climb(state, np.arange(11), 10_000)
            ends.append((fill(state), state.left[6:].copy(), state.right[6:].copy()))
        low, high = min(ends, key=lambda end: end[0]), max(ends, key=lambda end: end[0])
        if low[0] < 0.98 * high[0]:
            break
    else:
        pytest.fail("no trap found")
    trapped = state_of(embedding, low[1], low[2])
    cold = anneal(trapped, np.zeros(SWEEPS), np.random.default_rng(0), quiet)
    assert cold[-1] == pytest.approx(low[0], rel=1e-12)
    heated = state_of(embedding, low[1], low[2])
    warm = anneal(heated, schedule((200.0, 0.01), SWEEPS), np.random.default_rng(0), quiet)
    assert warm[-1] >= high[0] * (1 - 1e-12)


def test_kept_sums_are_recounted_now_and_then(monkeypatch):
    """The cost that a sweep reports is that of a recount, however the kept sums were spoilt before."""
    monkeypatch.setattr(gentree, "RECOUNT", 3)
    state = random_state_of(Embedding.from_counts(np.random.default_rng(5).random((20, 3))), np.random.default_rng(0))
    climb(state, np.arange(39), 10_000)  # from here no swap is taken, so nothing else could mend the sums
    cost = fill(state)
    told = []

    def spoil(sweep, reported):
        told.append(reported)
        if sweep == 1:
            state.across[38] += 1e9  # of the root, which holds 20 users

    anneal(state, np.full(4, 1e-9), np.random.default_rng(1), spoil)
    assert told == pytest.approx([cost, cost + 20e9, cost, cost], rel=1e-12)
