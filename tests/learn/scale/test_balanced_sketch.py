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


def test_the_first_split_of_a_heavy_tail_has_the_share_of_all_users_that_it_had_of_the_sample():
    rng = np.random.default_rng(0)
    users = Embedding.from_counts(rng.poisson(np.outer(6.0 * rng.pareto(1.6, 20_000) + 1.0, np.full(5, 0.2))))
    sketch = draw_split_sketch(users.take(np.arange(2_000)), 20_000, 20_000, 0.03, 500)
    found = apply_sketch(sketch, route(sketch, users), 20_000, 0.03, 500)
    size = np.concatenate([np.diff(found.bounds), np.zeros(len(found.left), np.int64)])
    for i, (a, b) in enumerate(zip(found.left, found.right, strict=True)):
        size[len(found) + i] = size[a] + size[b]
    smaller = min(size[found.left[-1]], size[found.right[-1]])
    share = min(sketch.share[-1], 1.0 - sketch.share[-1])
    assert share < 0.033  # without a border the sample would be held to 3 sqrt(2000 * .03 * .97) = 23 users more than 60
    assert smaller == pytest.approx(20_000 * share, abs=5)  # some users score the same
    assert smaller >= 600
