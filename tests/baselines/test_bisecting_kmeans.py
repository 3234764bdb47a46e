from __future__ import annotations

import numpy as np
import pytest

from privact.baselines.bisecting_kmeans import bisecting_kmeans, two_means
from privact.errors import InputError


def test_far_groups_are_split_first():
    group = np.arange(40) % 2
    vectors = 100 * group[:, None] + np.random.default_rng(0).random((40, 3))
    labels = bisecting_kmeans(vectors, 0).cut(2)
    assert len(set(zip(labels.tolist(), group.tolist(), strict=True))) == 2


def test_two_means_are_the_means_of_their_sides():
    points = np.random.default_rng(1).random((200, 2))
    side = two_means(points, np.random.default_rng(0))
    centres = np.array([points[side].mean(axis=0), points[~side].mean(axis=0)])
    nearest = np.square(points[:, None] - centres).sum(axis=2).argmin(axis=1)
    assert np.mean((nearest == 0) == side) > 0.97  # after at most ten steps


@pytest.mark.parametrize("vectors", [np.zeros((33, 2)), np.arange(33)[:, None] ** 3, np.eye(5), np.array([[0], [1]])])
def test_everybody_is_in_one_tree(vectors):
    tree = bisecting_kmeans(vectors, 0)
    assert sorted(tree.order.tolist()) == list(range(len(vectors)))


def test_users_who_are_all_the_same_are_halved():
    assert bisecting_kmeans(np.ones((64, 2)), 0).depths.tolist() == [6] * 64


def test_same_seed_same_tree():
    vectors = np.random.default_rng(2).random((300, 3))
    assert bisecting_kmeans(vectors, 5) == bisecting_kmeans(vectors, 5)


def test_one_user_is_refused():
    with pytest.raises(InputError, match="at least 2"):
        bisecting_kmeans([[1.0]])
