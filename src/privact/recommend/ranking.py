"""Scores -> the k best items, in an order that never depends on chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NOTHING", "best_items"]

NOTHING = -1
"""Stands where a list has ended."""


def best_items(scores: NDArray[np.floating], k: int) -> NDArray[np.int64]:
    """(q, k) the items with the k largest scores of each row, best first; of equal ones the smaller item number first.

    scores: (q, n_items) minus infinity for an item that must not be listed; NOTHING fills lists that it makes short.
    k: how many.
    """
    n_lists, n_items = scores.shape
    listed = np.full((n_lists, k), NOTHING, np.int64)
    wanted = min(k, n_items)
    if not wanted:
        return listed
    for row, line in enumerate(scores):
        least = np.partition(line, n_items - wanted)[n_items - wanted]
        better = np.flatnonzero(line > least)
        level = np.flatnonzero(line == least)[: wanted - len(better)] if least > -np.inf else better[:0]
        chosen = np.concatenate((better, level))
        listed[row, : len(chosen)] = chosen[np.lexsort((chosen, -line[chosen]))]
    return listed
