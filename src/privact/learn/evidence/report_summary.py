"""What a posterior needs to know of all reports, found in two passes over blocks: reports may be memory-mapped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 16
"""Reports looked at at a time: bounds the memory beside the reports themselves."""


class Overview(NamedTuple):
    """The reports whose total a user could have: absurd ones answer for themselves and do not spoil what others are worth.

    lowest, highest: the least and the largest entry.
    largest_total: the largest sum of a report's entries.
    means: (K,) the mean entry of each bin.
    sample: (m, K) some reports, evenly spaced.
    """

    lowest: int
    highest: int
    largest_total: int
    means: NDArray[np.float64]
    sample: NDArray[np.int64]


def overview(reports: NDArray[Any], reach: int, most: int) -> Overview:
    """Look at all reports, each entry clipped to what a count and noise can be.

    reports: (n, K) whole numbers. reach: how far noise goes. most: how many reports the sample has at most.
    """
    n, n_bins = reports.shape
    possible = np.empty(n, np.bool_)
    for first, block in _clipped(reports, reach):
        total = block.sum(axis=1)
        possible[first : first + len(block)] = (total >= -reach) & (total < n + reach)
    if np.count_nonzero(possible) <= 1:
        possible[:] = True
    lowest, highest, largest, sums = [], [], [], np.zeros(n_bins, np.int64)
    for first, block in _clipped(reports, reach):
        kept = block[possible[first : first + len(block)]]
        if len(kept):
            lowest.append(int(kept.min()))
            highest.append(int(kept.max()))
            largest.append(int(kept.sum(axis=1).max()))
            sums += kept.sum(axis=0)
    chosen = np.flatnonzero(possible)
    sample = _within(reports[chosen[:: -(-len(chosen) // most)]], n, reach)
    return Overview(min(lowest), max(highest), max(largest), sums / len(chosen), sample)


def _clipped(reports: NDArray[Any], reach: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    for first in range(0, len(reports), BLOCK):
        yield first, _within(reports[first : first + BLOCK], len(reports), reach)


def _within(block: NDArray[Any], n_users: int, reach: int) -> NDArray[np.int64]:
    return np.clip(block.astype(np.int64), -reach, n_users - 1 + reach)
