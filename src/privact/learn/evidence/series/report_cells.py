"""Cells of users whose first reports shift in similar directions: the bins of the second round where noise is strong.

After one noisy round the reports do not tell in which directions communities differ, and a mixture model that looks for them
follows the noise. So nothing is selected: weighted k-means over all directions makes cells, and whatever the reports hold
about communities is in the mix of each cell. The second round amplifies it, and the mixture model takes over from there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.mixture import SideBySide
from privact.learn.evidence.series.spectral_start import find_shifts, group_by_means

__all__ = ["ReportCells", "find_cells"]


class ReportCells(NamedTuple):
    """A partition of users by their reports.

    centres: (G, C) mean shift of the users of each cell, in standardised shares.
    """

    centres: NDArray[np.float64]

    def find_nearest(self, reports: SideBySide) -> NDArray[np.int64]:
        """(n,) the cell of each user."""
        shifts, weight = find_shifts(reports)
        apart = (self.centres**2).sum(axis=1) - 2.0 * np.einsum("uc,gc->ug", shifts / weight[:, None], self.centres)
        return np.asarray(apart.argmin(axis=1), dtype=np.int64)


def find_cells(reports: SideBySide, n_cells: int, rng: np.random.Generator) -> ReportCells:
    """Partition users into cells by k-means; users with more contacts, who are known more precisely, count more."""
    shifts, weight = find_shifts(reports)
    label = group_by_means(shifts / weight[:, None], weight, n_cells, rng)
    mass = np.maximum(np.bincount(label, weight, n_cells), 1e-12)
    sums = [np.bincount(label, shift, n_cells) for shift in shifts.T]
    return ReportCells(np.stack(sums, axis=1) / mass[:, None])
