"""The compiled drawing of block_model.py: pairs of users in time that follows the number of contacts drawn."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True)
def draw_pairs(first, second, rate, same, rng):  # type: ignore[no-untyped-def]
    """Pairs of places (k, l), each independently with probability min(1, rate * first[k] * second[l]).

    first, second: shares, falling. same: whether both are one and the same, so that only l > k are drawn.

    For each k the probability only falls with l. So l may jump to the next place that would be drawn at the probability of
    the place before; there it is taken with the part that is left of that probability (Miller and Hagberg, 2011).
    """
    pairs = np.empty((16, 2), np.int64)
    count = 0
    for k in range(first.shape[0]):
        place = k + 1 if same else 0
        if place >= second.shape[0]:
            break
        chance = min(1.0, rate * first[k] * second[place])
        while place < second.shape[0] and chance > 0.0:
            if chance < 1.0:
                jump = math.log(1.0 - rng.random()) / math.log1p(-chance)
                if jump >= second.shape[0] - place:
                    break
                place += int(jump)
            here = min(1.0, rate * first[k] * second[place])
            if rng.random() * chance < here:
                if count == pairs.shape[0]:
                    grown = np.empty((2 * count, 2), np.int64)
                    grown[:count] = pairs
                    pairs = grown
                pairs[count, 0] = k
                pairs[count, 1] = place
                count += 1
            chance = here
            place += 1
    return pairs[:count]
