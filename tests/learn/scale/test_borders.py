from __future__ import annotations

import numpy as np
import pytest

from privact.learn.scale.borders import SplitSketch, count_users, find_borders, move_partings, route
from privact.tree.embedding import Embedding


def on_a_line(scores):
    return Embedding(np.array(scores, np.float32)[:, None], np.ones(1), 1.0)


def split_at(*partings):
    """Users on a line: the highest go right, those left are split again at the next parting."""
    n = len(partings)
    left = np.array([0, *range(n + 1, 2 * n)], np.int32)
    return SplitSketch.without_borders(left, np.arange(1, n + 1, dtype=np.int32), np.ones((n, 1)), np.array(partings, float))


def test_users_go_where_their_score_says():
    sketch = SplitSketch.without_borders(
        np.array([0], np.int32), np.array([1], np.int32), np.array([[1.0, 0.0]]), np.array([0.5])
    )
    users = Embedding(np.array([[0.5, 9.0], [0.75, -9.0], [-3.0, 0.0]], np.float32), np.ones(2), 1.0)
    routed = route(sketch, users)
    assert routed["part"].tolist() == [0, 1, 0]
    assert routed["border"].tolist() == [-1, -1, -1]


def test_users_in_a_border_are_told_where_the_other_side_leads():
    sketch = split_at(10.0, 20.0)._replace(lower=np.array([np.inf, 18.0]), upper=np.array([-np.inf, 22.0]))
    routed = route(sketch, on_a_line([5, 15, 19, 20, 21, 30]))
    assert routed["part"].tolist() == [0, 1, 1, 1, 2, 2]
    assert routed["border"].tolist() == [-1, -1, 1, 1, 1, -1]
    assert routed["other"].tolist() == [-1, -1, 2, 2, 1, -1]
    assert routed["beyond"][2:5].tolist() == [-1.0, 0.0, 1.0]


def test_a_user_in_two_borders_counts_in_the_higher_one():
    sketch = split_at(19.0, 20.0)._replace(lower=np.array([0.0, 18.0]), upper=np.array([30.0, 22.0]))
    assert route(sketch, on_a_line([19, 5]))["border"].tolist() == [1, 0]


def test_borders_reach_five_deviations_to_both_sides():
    sample = on_a_line(np.arange(1_000))
    found = find_borders(split_at(99.0, 899.0), sample, np.array([False, True]))
    assert (found.lower[1], found.upper[1]) == (851.0, 948.0)  # 900, 5 sqrt(1000 * .9 * .1) = 47.4
    assert found.lower[0] > found.upper[0]


def moved(users, parting, at_floor, balance=0.04, reach=100.0):
    """How many users are left of a parting that has been moved."""
    sketch = split_at(parting)._replace(
        lower=np.array([parting - reach]), upper=np.array([parting + reach]), at_floor=np.array([at_floor], np.int8)
    )
    part = move_partings(sketch, route(sketch, users), len(users), balance)
    left = part == 0
    if left.any() and not left.all():  # a parting, not any set of so many users
        assert users.points[left].max() < users.points[~left].min()
    return int(count_users(sketch, part)[0])


LINE = on_a_line(np.random.default_rng(0).permutation(1_000))
"""A thousand users, whose floor is 50: sides of a community at least."""


@pytest.mark.parametrize(("parting", "at_floor", "left"), [(20.0, -1, 50), (90.0, -1, 50), (930.0, 1, 950), (985.0, 1, 950)])
def test_a_split_at_the_floor_of_the_sample_moves_to_the_floor_of_all(parting, at_floor, left):
    assert moved(LINE, parting, at_floor) == left


@pytest.mark.parametrize(("parting", "left"), [(90.0, 91), (500.0, 501), (20.0, 50), (985.0, 950)])
def test_other_splits_move_only_to_keep_the_floor(parting, left):
    assert moved(LINE, parting, 0) == left


def test_a_parting_moves_no_farther_than_its_border():
    assert moved(LINE, 199.0, -1, reach=10.0) == 189


def test_users_with_the_same_score_stay_together():
    users = on_a_line(np.repeat([0.0, 1.0, 2.0], [35, 100, 865]))
    assert moved(users, 0.0, -1) == 135  # 35 miss the floor
    assert moved(on_a_line(np.repeat([0.0, 1.0], [950, 50])), 1.0, 0, reach=0.0) == 950  # all of the border change sides
    assert moved(on_a_line(np.zeros(1_000)), 0.0, -1) == 1_000  # nobody can be told apart


def test_the_highest_partings_move_first():
    sketch = split_at(100.0, 880.0)._replace(
        lower=np.array([0.0, 800.0]), upper=np.array([300.0, 999.0]), at_floor=np.array([-1, 1], np.int8)
    )
    part = move_partings(sketch, route(sketch, LINE), 1_000, 0.2)
    assert np.bincount(part).tolist() == [200, 600, 200]  # a fifth of all users, and a quarter of the 800 that are left
