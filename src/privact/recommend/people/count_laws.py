"""The law of a report whose mean count is known: negative binomial counts plus discrete Laplace noise, as tables.

A user who is expected to have m contacts in a group has m * g of them, where g says how much this user differs from others of
the same group: a gamma variable of mean 1 and variance 1 / shape. The count is Poisson around that. An infinite shape means that
users of a group do not differ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST", "CountLaws", "tabulate_counts"]

LARGEST = 1024
"""The largest count in the tables; reports of users with more contacts are scaled down to it."""

LOWEST_MEAN = 1e-3
"""Mean counts below this are raised to it."""

MEANS = 160
"""Mean counts in a table, evenly spaced in their logarithm."""

TAIL = 12.0
"""How many scales of noise the tables reach beyond the counts; reports further out are taken as that far."""


class CountLaws(NamedTuple):
    """What a report says about the count behind it.

    means: (M,) mean counts. shape: of the gamma variable; infinite for Poisson counts.
    log_probability: (M, width) of each report; column c stands for the report lowest + c.
    expected: (M, width) expected count given the report.
    lowest: the smallest report in the tables.
    """

    means: NDArray[np.float64]
    shape: float
    log_probability: NDArray[np.float64]
    expected: NDArray[np.float64]
    lowest: int

    def find_rows(self, means: NDArray[np.float64]) -> NDArray[np.int64]:
        """The row of the tables nearest to each mean count."""
        step = np.log(self.means[1] / self.means[0])
        place = np.rint(np.log(np.maximum(means, LOWEST_MEAN) / self.means[0]) / step)
        return np.asarray(np.clip(place, 0, len(self.means) - 1), dtype=np.int64)

    def find_columns(self, reports: NDArray[np.float64]) -> NDArray[np.int64]:
        """The column of each report."""
        return np.asarray(np.clip(np.rint(reports) - self.lowest, 0, self.expected.shape[1] - 1), dtype=np.int64)

    def expected_lifts(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many times the mean count a user is expected to have: the posterior mean of the gamma variable."""
        if np.isinf(self.shape):
            return np.ones(np.broadcast_shapes(rows.shape, columns.shape))
        return np.asarray((self.shape + self.expected[rows, columns]) / (self.shape + self.means[rows]))


def tabulate_counts(largest: float, shape: float, epsilon_report: float | None) -> CountLaws:
    """The tables of one shape.

    largest: the largest count or report that will be looked up; at most LARGEST is used.
    epsilon_report: the privacy parameter of a report; None for no noise.
    """
    top = max(min(largest, float(LARGEST)), 2.0)
    means = np.geomspace(LOWEST_MEAN, 1.1 * top, MEANS)
    reach = 0 if epsilon_report is None else int(np.ceil(TAIL / epsilon_report))
    count = np.arange(int(np.ceil(top + 8.0 * np.sqrt(top))) + reach + 1, dtype=np.float64)
    law = np.exp(_log_law(count, means[:, None], shape))
    likelihood = np.maximum(_add_noise(law, reach, epsilon_report), 1e-300)
    expected = _add_noise(law * count, reach, epsilon_report) / likelihood
    if epsilon_report is None:
        expected = np.tile(count, (MEANS, 1))
    return CountLaws(means, shape, np.log(likelihood), expected, -reach)


def _log_law(count: NDArray[np.float64], mean: NDArray[np.float64], shape: float) -> NDArray[np.float64]:
    from scipy.special import gammaln

    if np.isinf(shape):
        return np.asarray(count * np.log(mean) - mean - gammaln(count + 1.0))
    part = mean / (shape + mean)
    found = gammaln(count + shape) - gammaln(shape) - gammaln(count + 1.0)
    return np.asarray(found + shape * np.log1p(-part) + count * np.log(part))


def _add_noise(law: NDArray[np.float64], reach: int, epsilon_report: float | None) -> NDArray[np.float64]:
    """Convolve every row with the discrete Laplace law, from `reach` below zero on: one exponential filter each way."""
    from scipy.signal import lfilter

    if epsilon_report is None:
        return law
    padded = np.hstack([np.zeros((len(law), reach)), law])
    q = float(np.exp(-epsilon_report))
    forward = lfilter([1.0], [1.0, -q], padded, axis=1)
    backward = lfilter([1.0], [1.0, -q], padded[:, ::-1], axis=1)[:, ::-1]
    return np.asarray((forward + backward - padded) * (1.0 - q) / (1.0 + q))
