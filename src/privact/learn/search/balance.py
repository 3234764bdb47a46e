"""The balance floor: the fewest users that the smaller side of a split may hold, by the size of the cluster.

Trees of the highest cost peel off users one by one. Splitting g users off a cluster of s users costs about g^2 s of
Dasgupta's cost, because each pair inside the group loses up to s. A share g / s = balance * (n / s)^1.5 would make that loss the
same at every level; a power of 2 costs hardly more and keeps the clusters of a cut more even. The cap of a quarter is reached at
about a third of all users. Smaller clusters hardly count in the cost, so they are held to what people expect of communities.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError

__all__ = ["BALANCE", "FEW", "check_balance", "compute_floors", "floor_of"]

BALANCE = 0.03
"""The default: the smaller side of the first split holds at least this share of all users."""

POWER = 2.0
"""The share grows with this power of how many times all users are the cluster."""

CAP = 0.25
"""The largest share that small clusters are held to."""

FEW = 24
"""Clusters of at most this many users may split in any way."""

COMMUNITY = 50
"""The size of communities that people are shown unless they ask for another."""

TWO_COMMUNITIES = 150
"""Clusters of at least this many users split into sides of at least COMMUNITY, at the cap or where there are MANY users."""

MANY = 1_000
"""So many users in all: sides of at least COMMUNITY part no group that stands out then."""


def check_balance(balance: object) -> float:
    """A balance from 0 (no floor) to 0.5 (halves), or InputError."""
    if isinstance(balance, bool) or not isinstance(balance, (int, float, np.integer, np.floating)) or not 0 <= balance <= 0.5:
        raise InputError(f"balance {balance!r} is not a share from 0 to 0.5: 0 sets no floor, {BALANCE} is the default")
    return float(balance)


def floor_of(size: int, n_users: int, balance: float) -> int:
    """The fewest users that the smaller side of a cluster's split may hold.

    size: users of the cluster. n_users: users of the whole tree. balance: the share that the first split is held to.

    At the cap a cluster splits into sides of at least a quarter. So where the smallest cluster of at least m users around a
    user has more than twice as many, the next smaller one has at least half as many. From 150 users on both sides hold at least
    50; with 1,000 users and more that holds for all clusters, so the smallest one of at least 50 users around anybody holds fewer
    than 150.

    >>> floor_of(10_000, 10_000, 0.03), floor_of(1_000, 10_000, 0.03), floor_of(150, 10_000, 0.03), floor_of(100, 10_000, 0.03)
    (300, 250, 50, 25)
    """
    if balance == 0.0 or size <= FEW:
        return 1
    cap = max(CAP, balance)
    share = min(cap, balance * (n_users / size) ** POWER)
    least = math.ceil(share * size - 1e-9)
    if size >= TWO_COMMUNITIES and (share == cap or n_users >= MANY):
        least = max(least, COMMUNITY)
    return int(max(1, min(size // 2, least)))


def compute_floors(most: int, n_users: int, balance: float) -> NDArray[np.int32]:
    """(most + 1) `floor_of` every size up to `most`, for kernels to look up."""
    size = np.arange(most + 1, dtype=np.float64)
    if balance == 0.0:
        return np.ones(most + 1, np.int32)
    cap = max(CAP, balance)
    share = np.minimum(cap, balance * (n_users / np.maximum(size, 1.0)) ** POWER)
    least = np.ceil(share * size - 1e-9)
    least = np.where((size >= TWO_COMMUNITIES) & ((share == cap) | (n_users >= MANY)), np.maximum(least, COMMUNITY), least)
    least = np.clip(least, 1, np.maximum(1, size // 2))
    return np.where(size <= FEW, 1, least).astype(np.int32)
