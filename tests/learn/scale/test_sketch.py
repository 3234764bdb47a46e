from __future__ import annotations

import numpy as np
import pytest

from privact.learn.scale.sketch import assign_to_sample, cut_sketch, draw_sample, split_in_half
from privact.tree.embedding import Embedding

# A sketch over four sampled users: ((0, 1), (2, 3)).
LEFT, RIGHT = np.array([0, 2, 4]), np.array([1, 3, 5])


def parts_of(found):
    return [found.order[a:b].tolist() for a, b in zip(found.bounds[:-1], found.bounds[1:], strict=True)]


def test_nearest_is_by_the_distance_between_points():
    """The lowest expected dissimilarity would send the uncertain user to the certain one at (1, 1)."""
    sample = Embedding(np.array([[1.0, 1.0], [0.1, 0.1], [-1.0, -1.0]]), np.array([0.5, 2.0]), 2.5)
    users = Embedding(np.array([[0.2, 0.2], [0.9, 0.9], [-0.7, -0.7], [0.1, 0.1]]), sample.weights, 2.5)
    assert assign_to_sample(sample, users).tolist() == [1, 0, 2, 1]


def test_nearest_is_the_same_for_any_block():
    rng = np.random.default_rng(0)
    users = Embedding.from_counts(rng.integers(0, 30, (300, 3)))
    sample = users.take(np.arange(0, 300, 7))
    plain = np.abs(users.counts[:, None] - sample.counts).sum(axis=2)
    found = assign_to_sample(sample, users)
    np.testing.assert_array_equal(plain[np.arange(300), found], plain.min(axis=1))
    np.testing.assert_array_equal(assign_to_sample(sample, users, block=13), found)


def test_a_sample_is_at_most_half_and_ascending():
    sample = draw_sample(9, 100, np.random.default_rng(0))
    assert len(sample) == 4
    assert sample.tolist() == sorted(set(sample.tolist()))
    assert len(draw_sample(900, 100, np.random.default_rng(0))) == 100


def test_the_largest_branches_that_are_small_enough_become_parts():
    near = np.array([0, 1, 0, 2, 3, 3, 2, 3])  # 2 + 1 users on the left, 2 + 3 on the right
    whole_sides = cut_sketch(LEFT, RIGHT, near, 5)
    assert parts_of(whole_sides) == [[0, 1, 2], [3, 4, 5, 6, 7]]
    assert (whole_sides.left.tolist(), whole_sides.right.tolist()) == ([0], [1])
    right_apart = cut_sketch(LEFT, RIGHT, near, 4)
    assert sorted(map(tuple, parts_of(right_apart))) == [(0, 1, 2), (3, 6), (4, 5, 7)]
    # The two parts of the right side are joined first.
    sizes = [len(part) for part in parts_of(right_apart)]
    first = {right_apart.left[0], right_apart.right[0]}
    assert sorted(sizes[part] for part in first) == [2, 3]
    assert {right_apart.left[1], right_apart.right[1]} == {3, *({0, 1, 2} - first)}


def test_one_sampled_user_may_stand_for_more_than_a_part():
    near = np.array([0, 0, 0, 0, 0, 1, 2, 3])
    assert sorted(map(len, parts_of(cut_sketch(LEFT, RIGHT, near, 3)))) == [1, 2, 5]


def test_users_who_cannot_be_told_apart_are_halved():
    near = np.zeros(41, np.int64)
    near[-3:] = [1, 2, 3]
    assert parts_of(cut_sketch(LEFT, RIGHT, near, 10)) == [list(range(21)), list(range(21, 41))]


@pytest.mark.parametrize("n", [2, 3, 10])
def test_halves(n):
    found = split_in_half(n)
    assert len(found) == 2
    assert found.order.tolist() == list(range(n))
    assert found.bounds.tolist() == [0, (n + 1) // 2, n]
