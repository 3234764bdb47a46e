"""What the profile of a group should be, given the public bins of its members.

Contacts inside a group are spread over the bins of a round as its members are, and contacts outside as everybody is:

    profile[g, k] = everybody[k] + inside * (share of members of g in bin k - share of everybody in bin k)

A real group keeps to this up to chance: its contacts are a sample of its members, so the variance of a share is about the share
over the number of members. A mixture without this prior is free to describe noise, and under strong noise it does: profiles that
belong to nobody explain the reports better than those of the communities that exist. The first round has no part in it: its bins
do not come from reports, so the bins of likely members say nothing about where the true members are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.mixture import Expected, SideBySide, normalise_profiles

__all__ = ["MemberProfiles"]

INSIDE = 0.8
"""The share of contacts inside a group, of which chance is a part; a typical one."""

FIRST_SPREAD = 0.02
"""Variance of a profile around what is expected, in units of the share, before it is estimated."""


class MemberProfiles:
    """Expects the profile of a group to follow the bins of its members.

    bins: the public bin of each user in each round, -1 for none; None for a round whose bins were not made from reports.
    """

    settles_after = 8

    def __init__(self, reports: SideBySide, bins: Sequence[NDArray[np.integer[Any]] | None]) -> None:
        self._everybody, self._round_of, self._contacts = reports.everybody, reports.round_of, reports.contacts
        self._bins = bins

    def begin(self, n_groups: int) -> Expected:
        """Everybody's shares, until there are members."""
        centre = np.tile(self._everybody, (n_groups, 1))
        return Expected(centre, FIRST_SPREAD * centre)

    def follow(
        self, expected: Expected, member: NDArray[np.float64], best: NDArray[np.float64], fisher: NDArray[np.float64]
    ) -> Expected:
        """The shares of the members, with the share of contacts inside that fits each round best."""
        stubs = member * self._contacts[:, None]
        centre = np.tile(self._everybody, (member.shape[1], 1))
        for t, own in enumerate(self._bins):
            columns = np.flatnonzero(self._round_of == t)
            if own is None or len(columns) < 2:
                continue
            shift, base = _spread_members(own, stubs, len(columns)), self._everybody[columns]
            weight = fisher[:, columns]
            follows = (weight * (best[:, columns] - base) * shift).sum()
            inside = np.clip(follows / max(float((weight * shift**2).sum()), 1e-9), 0.0, 1.0)
            centre[:, columns] = normalise_profiles(base + inside * shift, base, np.zeros(len(base), np.int64))
        return expected._replace(centre=centre)

    def widen(
        self, expected: Expected, member: NDArray[np.float64], profile: NDArray[np.float64], fisher: NDArray[np.float64]
    ) -> Expected:
        """As wide as the profiles of each round are found to be, and never narrower than chance."""
        uncertainty = 1.0 / (fisher + 1.0 / expected.spread)
        found = (((profile - expected.centre) ** 2 + uncertainty) / self._everybody).mean(axis=0)
        estimate = (np.bincount(self._round_of, found) / np.bincount(self._round_of))[self._round_of]
        stubs = member * self._contacts[:, None]
        members = stubs.sum(axis=0) ** 2 / np.maximum((stubs * self._contacts[:, None]).sum(axis=0), 1e-12)
        chance = INSIDE**2 / np.maximum(members, 1.0)
        return expected._replace(spread=np.maximum(estimate, chance[:, None]) * self._everybody)

    def judge(self, expected: Expected, profile: NDArray[np.float64]) -> NDArray[np.float64]:
        """(G, C) the variances that were expected."""
        return expected.spread


def _spread_members(own: NDArray[np.integer[Any]], stubs: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    """(G, K) share of each group's stubs in each bin, less the share of everybody's; 0 for a group without a user in any bin."""
    binned = np.flatnonzero(own >= 0)
    mass = np.stack([np.bincount(own[binned], group[binned], n_bins) for group in stubs.T])
    total, members = mass.sum(axis=0), mass.sum(axis=1, keepdims=True)
    shift = mass / np.maximum(members, 1e-9) - total / max(float(total.sum()), 1e-9)
    return np.asarray(np.where(members > 1e-9, shift, 0.0))
