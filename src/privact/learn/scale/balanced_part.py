"""One part under the balance floor: clusters split from the top down, then improved by swaps that keep the floor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.scale.part import Part, children_first
from privact.learn.search._swaps import climb, fill
from privact.learn.search.balance import compute_floors
from privact.learn.search.search_state import state_of
from privact.learn.search.split import LARGE, split_users
from privact.learn.search.split_choice import choose_split
from privact.progress import Progress
from privact.tree.embedding import Embedding

__all__ = ["BalancedPart", "learn_balanced_part"]

SWAPS = 32
"""The most local swaps per user, unless the caller says otherwise."""


class BalancedPart(NamedTuple):
    """The tree of a part, and what the trees above it need of its users.

    tree: the tree, and its cost before and after the swaps. total: the sum of the users' points.
    """

    tree: Part
    total: NDArray[np.float64]


def learn_balanced_part(
    embedding: Embedding, n_users: int, balance: float, swaps: int | None, progress: Progress
) -> BalancedPart:
    """Learn the tree of a part; all its splits keep the balance floor. There is no random choice.

    n_users: users of the whole tree. balance: see `floor_of`. swaps: at most this many per user; None for SWAPS.
    """
    n = len(embedding)
    total = embedding.points.sum(axis=0, dtype=np.float64)
    if n == 1:
        return BalancedPart(Part(np.empty(0, np.int32), np.empty(0, np.int32), [0.0]), total)
    progress("splitting clusters", 0, n)
    floor = compute_floors(n, n_users, balance)
    if n > LARGE * n_users:
        embedding = choose_split(embedding, balance)
    state = state_of(embedding, *split_users(embedding, floor, n_users))
    before = float(fill(state))
    progress("polishing", 0, 1)
    climb(state, np.arange(n, 2 * n - 1), (SWAPS if swaps is None else swaps) * n, floor)
    after = float(fill(state))
    progress("polishing", 1, 1)
    return BalancedPart(Part(*children_first(state), [before, after]), total)
