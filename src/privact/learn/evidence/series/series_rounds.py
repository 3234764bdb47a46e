"""The rounds of a series as inference reads them: reports, the public bins they count contacts in, and their noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["NoisyTotals", "SeriesRound", "combine_totals", "noise_variance"]


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


class NoisyTotals(NamedTuple):
    """Noisy numbers of contacts of some users, one or several for each.

    values: (n, C) the totals. variances: (C,) of their noise; a single 0 without noise. laplace: (C,) whether the noise is that
    of a single bin; otherwise it is the sum of many and taken as normal.
    """

    values: NDArray[np.float64]
    variances: tuple[float, ...]
    laplace: tuple[bool, ...]


def noise_variance(epsilon_report: float | None) -> float:
    """Variance of the discrete Laplace noise in one bin of a report; 0 without noise."""
    if epsilon_report is None:
        return 0.0
    q = float(np.exp(-epsilon_report))
    return 2.0 * q / (1.0 - q) ** 2


def combine_totals(rounds: Sequence[SeriesRound]) -> NoisyTotals:
    """What the reports of each user say about the number of contacts, from all rounds.

    Rounds of several bins are averaged by inverse variance, as the noise of many bins is nearly normal. A round of a single bin
    stays apart, because its noise is a Laplace law, which tells up to twice as much as a normal law of the same variance.
    """
    totals = [each.reports.sum(axis=1).astype(np.float64) for each in rounds]
    variances = [each.n_bins * noise_variance(each.epsilon_report) for each in rounds]
    if min(variances) == 0.0:
        exact = [total for total, variance in zip(totals, variances, strict=True) if variance == 0.0]
        return NoisyTotals(np.maximum.reduce(exact)[:, None], (0.0,), (False,))
    single = [t for t, each in enumerate(rounds) if each.n_bins == 1]
    several = [t for t, each in enumerate(rounds) if each.n_bins > 1]
    values, kept = [totals[t] for t in single], [variances[t] for t in single]
    if several:
        precision = sum(1.0 / variances[t] for t in several)
        values.append(sum((totals[t] / variances[t] for t in several), np.zeros(len(totals[0]))) / precision)
        kept.append(1.0 / precision)
    return NoisyTotals(np.column_stack(values), tuple(kept), tuple(place < len(single) for place in range(len(kept))))
