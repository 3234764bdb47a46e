"""The compiled twin of `ranking.best_items_plain`."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def fill_best(scores: NDArray[np.float64], listed: NDArray[np.int64]) -> None:
    """Write the best items of each row of scores into the row of `listed`, which holds -1 everywhere."""
    n_lists, n_items = scores.shape
    k = listed.shape[1]
    best = np.empty(k)
    for row in range(n_lists):
        held = 0
        for item in range(n_items):
            value = scores[row, item]
            if value == -np.inf or (held == k and value <= best[k - 1]):
                continue
            place = held if held < k else k - 1
            while place > 0 and best[place - 1] < value:  # of equal ones the earlier item stays in front
                best[place] = best[place - 1]
                listed[row, place] = listed[row, place - 1]
                place -= 1
            best[place] = value
            listed[row, place] = item
            if held < k:
                held += 1
