from __future__ import annotations

import numpy as np

from privact.learn.scale.balanced_sketch import SplitSketch, apply_sketch, compute_sample_floors, draw_split_sketch, find_parts
from privact.learn.search.balance import floor_of
from privact.tree.embedding import Embedding


def test_users_go_where_their_score_says():
    sketch = SplitSketch(np.array([0], np.int32), np.array([1], np.int32), np.array([[1.0, 0.0]]), np.array([0.5]))
    users = Embedding(np.array([[0.5, 9.0], [0.75, -9.0], [-3.0, 0.0]], np.float32), np.ones(2), 1.0)
    assert find_parts(sketch, users).tolist() == [0, 1, 0]


def test_a_split_below_the_floor_is_not_made():
    leaf = np.array([0, 3], np.int32), np.array([1, 2], np.int32)  # ((0, 1), 2)
    sketch = SplitSketch(*leaf, np.zeros((2, 1)), np.zeros(2))
    part = np.repeat([0, 1, 2], [500, 1, 499]).astype(np.int32)
    found = apply_sketch(sketch, part, 1_000, 0.04, 100)
    assert np.diff(found.bounds).tolist() == [499, 501] or np.diff(found.bounds).tolist() == [501, 499]
    alone = apply_sketch(sketch, np.repeat([0, 2], [999, 1]).astype(np.int32), 1_000, 0.04, 100)
    assert np.diff(alone.bounds).tolist() == [500, 500]  # nobody can be told apart: halves


def test_a_sample_is_held_to_more_than_the_floor():
    sampled = compute_sample_floors(1_000, 100.0, 100_000, 0.04)
    assert sampled[1_000] == 59  # 40, and three times sqrt(1000 * .04 * .96 * .99) = 6.2
    everybody = compute_sample_floors(1_000, 1.0, 1_000, 0.04)
    assert everybody[1_000] == floor_of(1_000, 1_000, 0.04)


def test_a_sketch_of_two_kinds_parts_them():
    sample = Embedding.from_counts(np.repeat([[0, 9], [9, 0]], [100, 100], axis=0))
    sketch = draw_split_sketch(sample, 20_000, 20_000, 0.04, 15_000)
    parts = find_parts(sketch, sample)
    assert len(set(parts[:100])) == 1
    assert len(set(parts)) == 2
