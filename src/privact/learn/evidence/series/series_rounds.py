"""The rounds of a series as inference reads them: reports, the public bins they count contacts in, and their noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["SeriesRound", "combine_totals", "noise_variance"]


class SeriesRound(NamedTuple):
    """One round of a series.

    reports: (n, K) noisy number of contacts of each user in each bin; may be memory-mapped.
    bins: (n,) public bin of each user, 0 to K - 1; -1 for users who are counted in no bin; None where it is not known.
    epsilon_report: the privacy parameter of one report, half of the round's promise per edge; None without noise.
    """

    reports: NDArray[np.integer[Any]]
    bins: NDArray[np.integer[Any]] | None
    epsilon_report: float | None

    @property
    def n_bins(self) -> int:
        """The number of bins."""
        return int(self.reports.shape[1])


def noise_variance(epsilon_report: float | None) -> float:
    """Variance of the discrete Laplace noise in one bin of a report; 0 without noise."""
    if epsilon_report is None:
        return 0.0
    q = float(np.exp(-epsilon_report))
    return 2.0 * q / (1.0 - q) ** 2


def combine_totals(rounds: Sequence[SeriesRound], users: Any = slice(None)) -> tuple[NDArray[np.float64], float]:
    """The total of each user's reports, averaged over rounds by inverse variance, and the variance of its noise.

    users: which users, as an index; all unless given.
    """
    totals = [each.reports[users].sum(axis=1).astype(np.float64) for each in rounds]
    variances = [each.n_bins * noise_variance(each.epsilon_report) for each in rounds]
    if min(variances) == 0.0:
        exact = [total for total, variance in zip(totals, variances, strict=True) if variance == 0.0]
        return np.asarray(np.maximum.reduce(exact)), 0.0
    precision = sum(1.0 / variance for variance in variances)
    mean = sum(total / variance for total, variance in zip(totals, variances, strict=True)) / precision
    return np.asarray(mean), 1.0 / precision
