"""Scores -> the k best items, in an order that never depends on chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NOTHING", "find_best_items", "find_best_items_plain"]

NOTHING = -1
"""Stands where a list has ended."""


def find_best_items(scores: NDArray[np.floating], k: int) -> NDArray[np.int64]:
    """(q, k) the items with the k largest scores of each row, best first; of equal ones the smaller item number first.

    scores: (q, n_items) minus infinity for an item that must not be listed; NOTHING fills lists that it makes short.
    k: how many.
    """
    from privact.recommend._ranking import fill_best

    listed = np.full((len(scores), k), NOTHING, np.int64)
    fill_best(np.ascontiguousarray(scores, dtype=np.float64), listed)
    return listed


def find_best_items_plain(scores: NDArray[np.floating], k: int) -> NDArray[np.int64]:
    """The same by sorting everything: the definition that the compiled one is held to."""
    listed = np.full((len(scores), k), NOTHING, np.int64)
    for row, line in enumerate(scores):
        order = [item for item in np.argsort(-line, kind="stable").tolist() if line[item] > -np.inf][:k]
        listed[row, : len(order)] = order
    return listed
