"""How many contacts each user has, from the totals of all rounds together.

The total of a report is the number of contacts plus the noise of its bins. How the number of contacts is distributed over users
is estimated from all totals by expectation maximisation over a grid, with no assumption on its shape; a user's posterior under it
gives the expected number, and the chance that it is below any number on the grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.series_rounds import NoisyTotals
from privact.learn.limits import LIMITS, Limits

__all__ = ["ContactNumbers", "fit_contact_numbers"]

GRID = 96
"""Numbers of contacts at which the distribution is estimated, evenly spaced in their square root."""

STEPS = 60
"""Steps of expectation maximisation; more change nothing that matters."""

BLOCK = 1 << 15
"""Users that are estimated at a time."""

FEWEST = 0.5
"""Estimates below this many contacts are raised to it: rates stay above zero."""


@dataclass(frozen=True, eq=False)
class ContactNumbers:
    """The distribution of the number of contacts over users, and what a noisy total says about one user.

    grid: (GRID,) numbers of contacts. law: (GRID,) share of users at each.
    """

    grid: NDArray[np.float64]
    law: NDArray[np.float64]

    def expect(self, totals: NoisyTotals) -> NDArray[np.float64]:
        """(q,) expected number of contacts of each user; a total beyond the grid is taken as it is."""
        mean = _average(totals)
        if totals.variances == (0.0,):
            return np.maximum(mean, FEWEST)
        expected = np.empty(len(mean))
        for first in range(0, len(mean), BLOCK):
            part = slice(first, first + BLOCK)
            weight = self._posterior(totals._replace(values=totals.values[part]))
            expected[part] = np.where(mean[part] > self.grid[-1], mean[part], weight @ self.grid)
        return np.maximum(expected, FEWEST)

    def distribution(self, totals: NoisyTotals) -> NDArray[np.float64]:
        """(q, GRID - 1) the chance that each user has at most as many contacts as each number on the grid but the last."""
        if totals.variances == (0.0,):
            return np.asarray(totals.values <= self.grid[:-1], dtype=np.float64)
        return np.asarray(np.cumsum(self._posterior(totals), axis=1)[:, :-1])

    def _posterior(self, totals: NoisyTotals) -> NDArray[np.float64]:
        weight = _likelihood(totals._replace(values=np.minimum(totals.values, self.grid[-1])), self.grid) * self.law
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def fit_contact_numbers(totals: NoisyTotals, limits: Limits = LIMITS) -> ContactNumbers:
    """Estimate how numbers of contacts are distributed from the noisy totals of all users."""
    sample = totals._replace(values=totals.values[:: max(1, -(-len(totals.values) // limits.posterior_sample))])
    grid = np.linspace(np.sqrt(FEWEST), np.sqrt(max(float(_average(sample).max()), 1.0)), GRID) ** 2
    law = np.full(GRID, 1.0 / GRID)
    if totals.variances != (0.0,):
        likelihood = _likelihood(sample, grid)
        for _ in range(STEPS):
            law = (likelihood / (likelihood @ law)[:, None]).mean(axis=0) * law
    return ContactNumbers(grid, law)


def _average(totals: NoisyTotals) -> NDArray[np.float64]:
    """(q,) the mean of each user's totals by inverse variance."""
    weight = np.array([1.0 if variance == 0.0 else 1.0 / variance for variance in totals.variances])
    return np.asarray(totals.values @ (weight / weight.sum()))


def _likelihood(totals: NoisyTotals, grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """(q, GRID) how likely the totals of each user are for each number of contacts."""
    gap = np.gradient(grid) / 2.0
    logs = np.zeros((len(totals.values), len(grid)))
    for value, variance, laplace in zip(totals.values.T, totals.variances, totals.laplace, strict=True):
        spread = variance + gap**2  # neighbours on the grid overlap where it is coarser than the noise
        apart = value[:, None] - grid
        shape = np.abs(apart) * np.sqrt(2.0 / spread) if laplace else 0.5 * apart**2 / spread
        logs -= shape + 0.5 * np.log(spread)
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)) + 1e-300)
