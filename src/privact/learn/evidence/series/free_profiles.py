"""Profiles of groups that may be anything: a weak prior around the shares of all contacts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.mixture import Expected, SideBySide

__all__ = ["FreeProfiles"]

SPREAD = 0.5
"""Variance of a profile around the shares of all contacts before anything is reported, in units of the share."""


class FreeProfiles:
    """Expects nothing of a group but everybody's shares, and hardly that."""

    settles_after = 3

    def __init__(self, reports: SideBySide) -> None:
        self._everybody, self._round_of = reports.everybody, reports.round_of

    def begin(self, n_groups: int) -> Expected:
        """Everybody's shares, with a wide spread."""
        centre = np.tile(self._everybody, (n_groups, 1))
        return Expected(centre, SPREAD * centre)

    def follow(
        self, expected: Expected, member: NDArray[np.float64], best: NDArray[np.float64], fisher: NDArray[np.float64]
    ) -> Expected:
        """The same whoever the members are."""
        return expected

    def widen(
        self, expected: Expected, member: NDArray[np.float64], profile: NDArray[np.float64], fisher: NDArray[np.float64]
    ) -> Expected:
        """The same whatever was found."""
        return expected

    def judge(self, expected: Expected, profile: NDArray[np.float64]) -> NDArray[np.float64]:
        """(G, C) how far the profiles of each round are from everybody's shares, as found: the width that they are priced by."""
        found = ((profile - expected.centre) ** 2 / self._everybody).mean(axis=0)
        by_round = np.bincount(self._round_of, found) / np.bincount(self._round_of)
        return np.asarray(np.broadcast_to(np.maximum(by_round, 1e-7)[self._round_of] * self._everybody, profile.shape))
