from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from privact.errors import InputError
from privact.recommend.data.ratings import Ratings
from privact.recommend.data.splits import draw_folds, split_ratings, split_users


@pytest.fixture
def ratings():
    """23 users, of whom user 4 has no ratings, and 9 items."""
    dense = np.random.default_rng(0).integers(0, 3, (23, 9)).astype(float)
    dense[4] = 0
    dense[5] = 1
    return Ratings.from_csr(csr_array(dense))


@pytest.mark.parametrize("splits", [split_users, split_ratings])
def test_every_rating_is_hidden_once_and_shown_in_the_other_folds(ratings, splits):
    whole = ratings.matrix.toarray()
    hidden = np.zeros_like(whole)
    for split in splits(ratings, np.random.default_rng(1)):
        part = np.zeros_like(whole)
        part[split.users] = split.relevant.toarray()
        assert (split.train.matrix.toarray() + part == whole).all()
        assert ((split.train.matrix.toarray() > 0) & (part > 0)).sum() == 0
        assert np.diff(split.relevant.indptr).min() >= 1
        hidden += part
    assert (hidden == whole).all()


def test_cold_users_have_no_ratings_to_learn_from(ratings):
    judged = []
    for split in split_users(ratings, np.random.default_rng(1)):
        assert split.train.activity[split.users].tolist() == [0] * len(split.users)
        judged += split.users.tolist()
    assert sorted(judged) == [user for user in range(23) if user != 4]


def test_folds_are_equal_up_to_one_and_follow_the_seed():
    folds = draw_folds(23, 5, np.random.default_rng(3))
    assert sorted(np.bincount(folds).tolist()) == [4, 4, 5, 5, 5]
    assert (folds == draw_folds(23, 5, np.random.default_rng(3))).all()
    assert (folds != draw_folds(23, 5, np.random.default_rng(4))).any()


@pytest.mark.parametrize("folds", [1, 24])
def test_impossible_folds_are_one_line(folds):
    with pytest.raises(InputError, match=f"{folds} folds of 23: choose from 2 to 23"):
        draw_folds(23, folds, np.random.default_rng(0))
