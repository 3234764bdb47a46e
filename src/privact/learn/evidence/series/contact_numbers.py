"""How many contacts each user has, from the totals of all rounds together.

The total of a report is the number of contacts plus the noise of its bins. How the number of contacts is distributed over users
is estimated from all totals by expectation maximisation over a grid, with no assumption on its shape; a user's posterior under it
gives the expected number, and the chance that it is below any number on the grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ContactNumbers", "fit_contact_numbers"]

GRID = 96
"""Numbers of contacts at which the distribution is estimated, evenly spaced in their square root."""

STEPS = 60
"""Steps of expectation maximisation; more change nothing that matters."""

SAMPLE = 20_000
"""The most users, evenly spaced, that the distribution is estimated from."""

BLOCK = 1 << 15
"""Users that are estimated at a time."""

FEWEST = 0.5
"""Estimates below this many contacts are raised to it: rates stay above zero."""


@dataclass(frozen=True, eq=False)
class ContactNumbers:
    """The distribution of the number of contacts over users, and what a noisy total says about one user.

    grid: (GRID,) numbers of contacts. law: (GRID,) share of users at each. variance: of the noise of a total; 0 without noise.
    """

    grid: NDArray[np.float64]
    law: NDArray[np.float64]
    variance: float

    def expect(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """(q,) expected number of contacts given each total; a total beyond the grid is taken as it is."""
        if self.variance == 0.0:
            return np.maximum(totals, FEWEST)
        expected = np.empty(len(totals))
        for first in range(0, len(totals), BLOCK):
            block = totals[first : first + BLOCK]
            weight = self._posterior(block)
            expected[first : first + BLOCK] = np.where(block > self.grid[-1], block, weight @ self.grid)
        return np.maximum(expected, FEWEST)

    def distribution(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """(q, GRID - 1) the chance that each user has at most as many contacts as each number on the grid but the last."""
        if self.variance == 0.0:
            return np.asarray(totals[:, None] <= self.grid[:-1], dtype=np.float64)
        return np.asarray(np.cumsum(self._posterior(totals), axis=1)[:, :-1])

    def _posterior(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        weight = _likelihood(np.minimum(totals, self.grid[-1]), self.grid, self.variance) * self.law
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def fit_contact_numbers(totals: NDArray[np.float64], variance: float) -> ContactNumbers:
    """Estimate how numbers of contacts are distributed from the noisy totals of all users.

    variance: of the noise of a total.
    """
    sample = totals[:: max(1, -(-len(totals) // SAMPLE))]
    grid = np.linspace(np.sqrt(FEWEST), np.sqrt(max(float(sample.max()), 1.0)), GRID) ** 2
    law = np.full(GRID, 1.0 / GRID)
    if variance > 0.0:
        likelihood = _likelihood(sample, grid, variance)
        for _ in range(STEPS):
            law = (likelihood / (likelihood @ law)[:, None]).mean(axis=0) * law
    return ContactNumbers(grid, law, variance)


def _likelihood(totals: NDArray[np.float64], grid: NDArray[np.float64], variance: float) -> NDArray[np.float64]:
    """(q, GRID) how likely each total is for each number of contacts; the noise of many bins together is nearly normal."""
    spread = variance + (np.gradient(grid) / 2.0) ** 2  # neighbours on the grid overlap where it is coarser than the noise
    found = np.exp(-0.5 * (totals[:, None] - grid) ** 2 / spread) / np.sqrt(spread)
    return np.asarray(found + 1e-300)
