from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from privact.errors import InputError
from privact.protocol.labels import LabelTable
from privact.recommend.data.ratings import Ratings
from privact.recommend.taste_groups import find_taste_groups, make_taste_vectors


@pytest.fixture
def checkerboard():
    """Users 0, 2, 4, ... rate only even items and the others odd ones; user 7 rates nothing."""
    rng = np.random.default_rng(0)
    dense = rng.random((60, 20)) * (np.add.outer(np.arange(60), np.arange(20)) % 2 == 0)
    dense[7] = 0
    return Ratings.from_csr(csr_array(dense * (rng.random((60, 20)) < 0.8)))


def test_users_of_one_taste_are_in_one_group_and_users_without_ratings_in_none(checkerboard):
    groups = find_taste_groups(checkerboard, 2, np.random.default_rng(1))
    assert groups.n_groups == 2
    assert groups.labels[7] == -1
    even, odd = set(groups.labels[::2]), set(np.delete(groups.labels, 7)[1::2]) - set(groups.labels[::2])
    assert len(even) == 1
    assert {groups.labels[user] for user in range(1, 60, 2) if user != 7} == odd
    assert len(odd) == 1


def test_the_seed_decides_everything(checkerboard):
    first, again = (find_taste_groups(checkerboard, 4, np.random.default_rng(5)).labels for _ in range(2))
    assert (first == again).all()


def test_a_seed_is_as_good_as_a_generator(checkerboard):
    by_seed, by_generator = (find_taste_groups(checkerboard, 4, rng).labels for rng in (5, np.random.default_rng(5)))
    assert (by_seed == by_generator).all()
    assert (make_taste_vectors(checkerboard, 5, 3) == make_taste_vectors(checkerboard, np.random.default_rng(5), 3)).all()


def test_vectors_have_length_1_and_nothing_to_say_about_users_without_ratings(checkerboard):
    vectors = make_taste_vectors(checkerboard, np.random.default_rng(0), factors=3)
    assert vectors.shape == (60, 3)
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.delete(lengths, 7) == pytest.approx(np.ones(59))
    assert lengths[7] == 0


def test_groups_become_the_labels_of_a_round(checkerboard):
    groups = find_taste_groups(checkerboard, 2, np.random.default_rng(1))
    named = groups.as_labels(checkerboard.users)
    assert "7" not in named
    table = LabelTable.from_labels(named, groups.n_groups, key=bytes(16))
    assert table.label_of("7") == -1
    assert table.label_of("0") == groups.labels[0]


@pytest.mark.parametrize("wanted", [0, 60])
def test_more_groups_than_users_are_refused(checkerboard, wanted):
    with pytest.raises(InputError, match=f"{wanted} taste groups of 59 users with ratings: choose from 1 to 59"):
        find_taste_groups(checkerboard, wanted, np.random.default_rng(0))


def test_alike_users_leave_fewer_groups_and_one_item_is_enough():
    same = Ratings.from_csr(csr_array(np.ones((5, 1))))
    groups = find_taste_groups(same, 3, np.random.default_rng(0))
    assert groups.n_groups == 1
    assert groups.labels.tolist() == [0] * 5


def test_equal_camps_are_grouped_alike_every_time():
    """Six camps that rate apart from each other have six equal factors: which directions stand for them must not be chance."""
    dense = np.kron(np.eye(6), np.ones((8, 5)))
    found = [find_taste_groups(Ratings.from_csr(csr_array(dense)), 6, np.random.default_rng(7)).labels.tolist() for _ in range(4)]
    assert all(each == found[0] for each in found)
    assert len(set(found[0])) == 6
    assert all(len(set(found[0][8 * camp : 8 * camp + 8])) == 1 for camp in range(6))
