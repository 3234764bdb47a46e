"""What fitting a posterior needs from all reports, found in two passes over blocks: reports may be memory-mapped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 16
"""Reports read at a time: bounds the memory beside the reports themselves."""


class ReportSummary(NamedTuple):
    """A summary of the reports whose total a user could have; impossible ones are left out, so that they cannot distort it.

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


def summarise_reports(reports: NDArray[Any], reach: int, most: int, block: int = BLOCK) -> ReportSummary:
    """Summarise all reports, each entry clipped to what a count and noise can be.

    reports: (n, K) whole numbers. reach: the largest noise. most: the most reports in the sample. block: reports at a time.
    """
    n, n_bins = reports.shape
    possible = np.empty(n, np.bool_)
    for first, clipped in _clip_blocks(reports, reach, block):
        total = clipped.sum(axis=1)
        possible[first : first + len(clipped)] = (total >= -reach) & (total < n + reach)
    if np.count_nonzero(possible) <= 1:
        possible[:] = True
    lowest, highest, largest, sums = [], [], [], np.zeros(n_bins, np.int64)
    for first, clipped in _clip_blocks(reports, reach, block):
        kept = clipped[possible[first : first + len(clipped)]]
        if len(kept):
            lowest.append(int(kept.min()))
            highest.append(int(kept.max()))
            largest.append(int(kept.sum(axis=1).max()))
            sums += kept.sum(axis=0)
    chosen = np.flatnonzero(possible)
    sample = _within(reports[chosen[:: -(-len(chosen) // most)]], n, reach)
    return ReportSummary(min(lowest), max(highest), max(largest), sums / len(chosen), sample)


def _clip_blocks(reports: NDArray[Any], reach: int, block: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    for first in range(0, len(reports), block):
        yield first, _within(reports[first : first + block], len(reports), reach)


def _within(block: NDArray[Any], n_users: int, reach: int) -> NDArray[np.int64]:
    return np.clip(block.astype(np.int64), -reach, n_users - 1 + reach)
