"""Taste groups: users with like ratings, as public labels for the bins of a round.

A group is learned from ratings that the service already holds, never from contacts: a label that came from private contacts
would tell them to everyone who downloads the label table, and no noise in the reports could take that back.

Ratings -> binary matrix, items weighted by inverse frequency -> rows of length 1 -> truncated SVD -> rows of length 1 -> k-means.
Everything is decided by one generator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from privact.errors import InputError
from privact.recommend.data.ratings import Ratings
from privact.recommend.k_means import cluster_points

__all__ = ["FACTORS", "NO_GROUP", "TasteGroups", "find_taste_groups", "make_taste_vectors"]

NO_GROUP = -1
"""The group of users without ratings; they are left out of all counts."""

FACTORS = 32
"""Dimensions of taste unless told otherwise."""

DENSE = 200
"""Below this number of users or items, compute all factors with a dense SVD: few may be
equal, and ARPACK would pick among equal ones at random."""


@dataclass(frozen=True, eq=False)
class TasteGroups:
    """Which taste group each user is in.

    labels: (n_users) int32, 0 to n_groups - 1, or NO_GROUP (-1) for users without ratings: `PrivaCT(bins=labels)`.
    n_groups: how many groups; none is empty.
    """

    labels: NDArray[np.int32]
    n_groups: int

    def as_labels(self, users: tuple[str, ...]) -> dict[str, int]:
        """User id to group, users without one left out: what a label table is made from."""
        return {user: label for user, label in zip(users, self.labels.tolist(), strict=True) if label != NO_GROUP}


def find_taste_groups(ratings: Ratings, n_groups: int, rng: int | np.random.Generator, factors: int = FACTORS) -> TasteGroups:
    """Groups of users who rated like items.

    ratings: what the service holds; how high a rating is does not matter here.
    n_groups: how many groups; fewer come out if fewer users differ.
    rng: a seed or a generator; decides everything.
    factors: dimensions of taste.
    """
    rng = np.random.default_rng(rng)
    rated = np.flatnonzero(ratings.activity)
    if not 1 <= n_groups <= len(rated):
        raise InputError(f"{n_groups} taste groups of {len(rated)} users with ratings: choose from 1 to {len(rated)}")
    labels = np.full(ratings.n_users, NO_GROUP, np.int32)
    found = cluster_points(make_taste_vectors(ratings, rng, factors)[rated], n_groups, rng)
    used, labels[rated] = np.unique(found, return_inverse=True)
    return TasteGroups(labels, len(used))


def make_taste_vectors(ratings: Ratings, rng: int | np.random.Generator, factors: int = FACTORS) -> NDArray[np.float64]:
    """(n_users, factors) the direction of each user's taste, of length 1; 0 for users without ratings.

    rng: a seed or a generator.
    factors: dimensions of taste, fewer if there are fewer users or items.
    """
    from scipy.sparse.linalg import svds
    from threadpoolctl import threadpool_limits

    binary, counts = ratings.binary, ratings.counts
    rarity = np.log((1.0 + (ratings.activity > 0).sum()) / (1.0 + counts)) + 1.0
    owner = np.repeat(np.arange(ratings.n_users), ratings.activity)
    length = np.sqrt(np.bincount(owner, rarity[binary.indices] ** 2, minlength=ratings.n_users))
    weighted = csr_array((rarity[binary.indices] / length[owner], binary.indices, binary.indptr), shape=binary.shape)
    rank = min(factors, *(side - 1 for side in weighted.shape))
    if rank < 1:
        return np.asarray((ratings.activity > 0).astype(np.float64)[:, None])
    start = np.random.default_rng(rng).standard_normal(min(weighted.shape))
    with threadpool_limits(1, user_api="blas"):  # the same bits whatever the number of threads
        if min(weighted.shape) <= DENSE:
            left, strength, _ = np.linalg.svd(weighted.toarray(), full_matrices=False)
            left, strength = left[:, :rank], strength[:rank]
        else:
            left, strength, _ = svds(weighted, k=rank, v0=start)
            left, strength = left[:, ::-1], strength[::-1]
    left = left * strength
    left = left * np.where(left.sum(axis=0) < 0, -1.0, 1.0)  # the sign of a factor is chance
    norm = np.linalg.norm(left, axis=1, keepdims=True)
    return np.asarray(np.divide(left, norm, out=np.zeros_like(left), where=norm > 1e-12))
