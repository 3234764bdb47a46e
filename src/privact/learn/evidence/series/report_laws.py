"""The exact law of a report: a Poisson number of contacts in a bin plus discrete Laplace noise, as a table.

Reports of a round with a small epsilon are mostly noise, and Laplace noise is not normal: its likelihood tells up to twice as
much about a small shift as a least-squares fit with the same variance does. The table has a row for each expected count, evenly
spaced in its square root, where a Poisson law keeps its width; between rows log-probabilities are interpolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST", "STEP", "ReportLaws", "tabulate_laws"]

STEP = 0.125
"""Distance of two rows in the square root of the expected count."""

LARGEST = 1024.0
"""The largest expected count in the table. The reports of users with more contacts are scaled down to it."""

TAIL = 16.0
"""How many scales of noise the table reaches beyond the counts; reports further out are taken as that far."""

FLOOR = -60.0
"""The smallest log-probability: reports below it are equally impossible."""


class ReportLaws(NamedTuple):
    """Log-probability of a report given the expected count, one table for each privacy parameter.

    log_probability: (laws, rows, width) column c stands for the report lowest + c.
    information: (laws, rows) Fisher information about the expected count in one report.
    lowest: the smallest report in the table.
    """

    log_probability: NDArray[np.float32]
    information: NDArray[np.float64]
    lowest: int

    def find_columns(self, reports: NDArray[np.float64]) -> NDArray[np.int32]:
        """The table's column of each report."""
        width = self.log_probability.shape[2]
        return np.asarray(np.clip(np.rint(reports) - self.lowest, 0, width - 1), dtype=np.int32)


def tabulate_laws(epsilons: Sequence[float | None], largest: float) -> ReportLaws:
    """Tables for some privacy parameters.

    epsilons: the parameter of one report for each law; None for no noise.
    largest: the largest expected count that will be looked up; at most LARGEST is used.
    """
    from scipy.special import gammaln

    root = np.arange(STEP / 2.0, np.sqrt(min(largest, LARGEST)) + 2.0 * STEP, STEP)
    rate = root**2
    reach = int(np.ceil(max([TAIL / epsilon for epsilon in epsilons if epsilon is not None], default=1.0)))
    count = np.arange(int(np.ceil(rate[-1] + 8.0 * np.sqrt(rate[-1]))) + reach + 1)
    poisson = np.exp(count * np.log(rate)[:, None] - rate[:, None] - gammaln(count + 1.0))
    padded = np.hstack([np.zeros((len(rate), reach)), poisson])
    tables = [_add_noise(padded, epsilon) for epsilon in epsilons]
    logs = [np.maximum(np.log(np.maximum(table, 1e-300)), FLOOR) for table in tables]
    information = [_measure_information(table, log, root) for table, log in zip(tables, logs, strict=True)]
    return ReportLaws(np.array(logs, np.float32), np.array(information), -reach)


def _add_noise(counts: NDArray[np.float64], epsilon: float | None) -> NDArray[np.float64]:
    """Convolve every row with the discrete Laplace law: one exponential filter forwards and one backwards."""
    from scipy.signal import lfilter

    if epsilon is None:
        return counts
    q = float(np.exp(-epsilon))
    forward = lfilter([1.0], [1.0, -q], counts, axis=1)
    backward = lfilter([1.0], [1.0, -q], counts[:, ::-1], axis=1)[:, ::-1]
    return np.asarray((forward + backward - counts) * (1.0 - q) / (1.0 + q))


def _measure_information(table: NDArray[np.float64], log: NDArray[np.float64], root: NDArray[np.float64]) -> NDArray[np.float64]:
    """(rows,) Fisher information about the expected count, from differences between neighbouring rows."""
    slope = np.gradient(log, root, axis=0) / (2.0 * root[:, None])
    return np.asarray((table * slope**2).sum(axis=1))
