from __future__ import annotations

import numpy as np
import pytest

from privact.learn.scale.balanced_sketch import apply_sketch, compute_sample_floors, draw_split_sketch
from privact.learn.scale.borders import ROUTED, SplitSketch, route
from privact.learn.search.balance import floor_of
from privact.tree.embedding import Embedding


def sent_to(parts, counts):
    """Users who were sent to some parts and lie in no border."""
    routed = np.zeros(sum(counts), ROUTED)
    routed["part"], routed["border"], routed["other"] = np.repeat(parts, counts), -1, -1
    return routed


def test_a_split_below_the_floor_is_not_made():
    leaf = np.array([0, 3], np.int32), np.array([1, 2], np.int32)  # ((0, 1), 2)
    sketch = SplitSketch.without_borders(*leaf, np.zeros((2, 1)), np.zeros(2))
    found = apply_sketch(sketch, sent_to([0, 1, 2], [500, 1, 499]), 1_000, 0.04, 100)
    assert sorted(np.diff(found.bounds).tolist()) == [499, 501]
    alone = apply_sketch(sketch, sent_to([0, 2], [999, 1]), 1_000, 0.04, 100)
    assert np.diff(alone.bounds).tolist() == [500, 500]  # nobody can be told apart: halves


def test_small_clusters_of_a_sample_are_held_to_more_than_the_floor():
    sampled = compute_sample_floors(1_000, 100.0, 100_000, 0.04)
    assert sampled[1_000] == 40  # the floor itself: the parting is moved when all are counted
    assert sampled[200] == 69  # 50, and three times sqrt(200 * .25 * .75 * .99) = 6.1
    everybody = compute_sample_floors(1_000, 1.0, 1_000, 0.04)
    assert everybody.tolist()[24:] == [floor_of(size, 1_000, 0.04) for size in range(24, 1_001)]


def test_a_sketch_of_two_kinds_parts_them():
    sample = Embedding.from_counts(np.repeat([[0, 9], [9, 0]], [100, 100], axis=0))
    sketch = draw_split_sketch(sample, 20_000, 20_000, 0.04, 15_000)
    parts = route(sketch, sample)["part"]
    assert len(set(parts[:100])) == 1
    assert len(set(parts)) == 2


def find_first_side(users, n_sampled, balance):
    """Which users are on the left of the first split."""
    n = len(users)
    sketch = draw_split_sketch(users.take(np.arange(n_sampled)), n, n, balance, n // 2)
    found = apply_sketch(sketch, route(sketch, users), n, balance, n // 2)
    left = {int(found.left[-1])}
    for i in range(len(found.left) - 2, -1, -1):
        if len(found) + i in left:
            left |= {int(found.left[i]), int(found.right[i])}
    below = [found.order[found.bounds[k] : found.bounds[k + 1]] for k in left if k < len(found)]
    return np.isin(np.arange(n), np.concatenate(below))


@pytest.mark.parametrize("tail", [1.2, 1.6, 2.5])
def test_the_first_split_of_a_heavy_tail_is_at_the_floor_of_all_users(tail):
    rng = np.random.default_rng(0)
    users = Embedding.from_counts(rng.poisson(np.outer(60.0 * rng.pareto(tail, 20_000) + 10.0, np.full(5, 0.2))))
    left = find_first_side(users, 2_000, 0.1)
    assert min(left.sum(), (~left).sum()) == 2_000  # the sample alone would be off by sqrt(.1 * .9 / 2000), 134 users


def test_groups_that_stand_apart_stay_whole():
    rng = np.random.default_rng(0)
    rates = np.array([[20, 20, 20, 0.2, 0.2, 0.2], [0.2, 0.2, 0.2, 20, 20, 20]])
    kind = rng.random(20_000) < 0.4
    left = find_first_side(Embedding.from_counts(rng.poisson(rates[kind.astype(int)])), 2_000, 0.03)
    assert (
        min((left == kind).sum(), (left != kind).sum()) <= 5
    )  # the share of the sample is off by sqrt(.4 * .6 / 2000), 219 users
