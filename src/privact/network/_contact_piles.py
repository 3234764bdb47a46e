"""Compiled loops of streamed_degrees.py: contacts to their piles, and piles to counts."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def sort_into_piles(first, second, n_piles):  # type: ignore[no-untyped-def]
    """Contacts as one number each, smaller row << 32 | larger row, pile by pile, and where each pile begins.

    first, second: the rows of both ends; contacts of users with themselves are left out.
    """
    bounds = np.zeros(n_piles + 1, np.int64)
    for i in range(first.shape[0]):
        if first[i] != second[i]:
            bounds[min(first[i], second[i]) % n_piles + 1] += 1
    for pile in range(n_piles):
        bounds[pile + 1] += bounds[pile]
    at = bounds[:-1].copy()
    keys = np.empty(bounds[-1], np.int64)
    for i in range(first.shape[0]):
        if first[i] != second[i]:
            low, high = min(first[i], second[i]), max(first[i], second[i])
            pile = low % n_piles
            keys[at[pile]] = np.int64(low) << 32 | np.int64(high)
            at[pile] += 1
    return keys, bounds


@njit(cache=True, nogil=True)
def count_contacts(keys, bins, vectors):  # type: ignore[no-untyped-def]
    """Count each contact of a pile at both ends, in the bin of the other end; returns how many different ones there are.

    keys: in ascending order. bins: of each row, -1 for none.
    """
    different = 0
    last = np.int64(-1)
    for key in keys:
        if key == last:
            continue
        last = key
        different += 1
        one, other = key >> 32, key & 0xFFFFFFFF
        if bins[other] >= 0:
            vectors[one, bins[other]] += 1
        if bins[one] >= 0:
            vectors[other, bins[one]] += 1
    return different
