"""What clusters are split by: whichever gives a sample of the users the tree of higher cost.

Splits that expect much of the trees below them suit users who differ by degrees, as numbers of contacts do: they cut off
those who differ most. Where users are in separate groups, such cuts run through the groups, and splits that expect no more than
a random tree find the groups and a higher cost. A small tree of each kind tells which of the two the users are.
"""

from __future__ import annotations

import numpy as np

from privact.learn.search._swaps import fill
from privact.learn.search.balance import compute_floors
from privact.learn.search.search_state import state_of
from privact.learn.search.split import split_users
from privact.tree.embedding import Embedding, SplitBy

__all__ = ["SAMPLE", "choose_split"]

SAMPLE = 512
"""Users of the trees that are compared."""

CANDIDATES: tuple[SplitBy, ...] = ("size", "cost")
"""Compared where the embedding leaves the choice open; the first of equal ones is taken."""


def choose_split(embedding: Embedding, balance: float) -> Embedding:
    """The same users with what their clusters are split by decided.

    embedding: all users, or evenly drawn ones. balance: see `floor_of`.
    """
    if embedding.split_by != "size":
        return embedding
    n = len(embedding)
    sample = embedding if n <= SAMPLE else embedding.take(np.linspace(0, n - 1, SAMPLE).astype(np.int64))
    floor = compute_floors(len(sample), len(sample), balance)
    trees = [sample.with_split(by) for by in CANDIDATES]
    costs = [float(fill(state_of(each, *split_users(each, floor, len(sample))))) for each in trees]
    return embedding.with_split(CANDIDATES[int(np.argmax(costs))])
