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


def test_borders_reach_five_deviations_around_the_share_of_the_sample():
    sample = on_a_line(np.arange(1_000))
    found = find_borders(split_at(99.0, 899.0), sample, 950)
    assert found.share.tolist() == [0.0, 0.9]  # the lower split has 900 users, too few for a border
    assert (found.lower[1], found.upper[1]) == (851.0, 948.0)  # 5 sqrt(1000 * .9 * .1) = 47.4
    assert found.lower[0] > found.upper[0]


def moved(users, parting, share, balance=0.04, reach=100.0):
    """How many users are left of a parting that has been moved."""
    sketch = split_at(parting)._replace(
        lower=np.array([parting - reach]), upper=np.array([parting + reach]), share=np.array([share])
    )
    n = len(users)
    part = move_partings(sketch, route(sketch, users), n, balance)
    left = part == 0
    if left.any() and not left.all():  # a parting, not any set of so many users
        assert users.points[left].max() < users.points[~left].min()
    return int(count_users(sketch, part)[0])


LINE = on_a_line(np.random.default_rng(0).permutation(1_000))


@pytest.mark.parametrize(("parting", "share"), [(40.0, 0.1), (130.0, 0.1), (870.0, 0.9), (930.0, 0.9)])
def test_a_parting_moves_to_the_share_that_the_sample_had(parting, share):
    assert moved(LINE, parting, share) == round(share * 1_000)


@pytest.mark.parametrize(("parting", "share", "left"), [(20.0, 0.03, 50), (990.0, 0.99, 950)])
def test_a_parting_moves_on_to_the_floor(parting, share, left):
    assert moved(LINE, parting, share, balance=0.05) == left


def test_a_parting_moves_no_farther_than_its_border():
    assert moved(LINE, 199.0, 0.5, reach=10.0) == 210


def test_users_with_the_same_score_stay_together():
    users = on_a_line(np.repeat([0.0, 1.0, 2.0], [35, 100, 865]))
    assert moved(users, 0.0, 0.04) == 135  # 35 miss the floor of 40
    assert moved(on_a_line(np.zeros(1_000)), 0.0, 0.5) == 1_000  # nobody can be told apart


def test_the_highest_partings_move_first():
    sketch = split_at(400.0, 700.0)._replace(
        lower=np.array([300.0, 600.0]), upper=np.array([599.0, 900.0]), share=np.array([0.5, 0.8])
    )
    part = move_partings(sketch, route(sketch, LINE), 1_000, 0.04)
    assert np.bincount(part).tolist() == [400, 400, 200]  # four fifths of all users, and half of those
