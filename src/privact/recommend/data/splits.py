"""Ratings -> what a recommender may learn from, and what it is judged on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from privact.errors import InputError
from privact.recommend.data.ratings import Ratings

__all__ = ["FOLDS", "Split", "draw_folds", "split_ratings", "split_users"]

FOLDS = 5
"""The number of folds in the paper."""


@dataclass(frozen=True, eq=False)
class Split:
    """One fold: the ratings to learn from, and those that are hidden.

    fold: its number, from 0.
    train: ratings of the same users and items without the hidden ones.
    users: (q) ascending row numbers of the users who are judged: those who have hidden ratings.
    relevant: (q, n_items) CSR array of their hidden ratings.
    """

    fold: int
    train: Ratings
    users: NDArray[np.int64]
    relevant: csr_array


def split_users(ratings: Ratings, rng: np.random.Generator, folds: int = FOLDS) -> Iterator[Split]:
    """Cold start: each fold hides all ratings of a part of the users, who then have none.

    ratings: of all users; users without ratings are never in a test set.
    rng: decides who is in which fold.
    folds: how many parts, equal up to one user.
    """
    fold_of = draw_folds(ratings.n_users, folds, rng)
    owner = np.repeat(np.arange(ratings.n_users), ratings.activity)
    return _splits(ratings, fold_of[owner], folds)


def split_ratings(ratings: Ratings, rng: np.random.Generator, folds: int = FOLDS) -> Iterator[Split]:
    """Existing users: each fold hides a random part of all ratings.

    ratings: of all users.
    rng: decides which rating is in which fold.
    folds: how many parts, equal up to one rating.
    """
    return _splits(ratings, draw_folds(ratings.n_ratings, folds, rng), folds)


def draw_folds(count: int, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(count) the fold of each of some things, drawn so that folds are equal up to one.

    folds: at least 2 and at most as many as things.
    """
    if not 2 <= folds <= count:
        raise InputError(f"{folds} folds of {count}: choose from 2 to {count}")
    return rng.permutation(np.arange(count) % folds)


def _splits(ratings: Ratings, fold_of: NDArray[np.int64], folds: int) -> Iterator[Split]:
    for fold in range(folds):
        hidden = fold_of == fold
        test = ratings.keep(hidden)
        users = np.flatnonzero(test.activity)
        if len(users):
            yield Split(fold, ratings.keep(~hidden), users, test.matrix[users])
