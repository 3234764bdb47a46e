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

__all__ = ["LEAST", "MemberBins", "find_centre", "find_spread"]

INSIDE = 0.8
"""The share of contacts inside a group, of which chance is a part; a typical one."""

LEAST = 0.003
"""No profile is expected to have less than this of everybody's share in a bin."""

MemberBins = Sequence[NDArray[np.integer[Any]] | None]
"""The public bin of each user in each round, -1 for none; None for a round whose bins were not made from reports."""


def find_centre(
    bins: MemberBins,
    round_of: NDArray[np.int64],
    everybody: NDArray[np.float64],
    stubs: NDArray[np.float64],
    best: NDArray[np.float64],
    fisher: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(G, C) the profile that the members' bins let expect, with the share of contacts inside that fits each round best.

    round_of, everybody: (C,) as in `SideBySide`. stubs: (n, G) contacts of each user times the probability of each group.
    best: (G, C) the profiles that explain the reports best without a prior. fisher: (G, C) how precisely they are known.
    """
    centre = np.tile(everybody, (stubs.shape[1], 1))
    for t, own in enumerate(bins):
        columns = np.flatnonzero(round_of == t)
        if own is None or len(columns) < 2:
            continue
        shift = _spread_members(own, stubs, len(columns))
        weight = fisher[:, columns]
        follows = (weight * (best[:, columns] - everybody[columns]) * shift).sum()
        inside = np.clip(follows / max(float((weight * shift**2).sum()), 1e-9), 0.0, 1.0)
        expected = np.maximum(everybody[columns] + inside * shift, LEAST * everybody[columns])
        centre[:, columns] = expected / expected.sum(axis=1, keepdims=True)
    return centre


def find_spread(
    profile: NDArray[np.float64],
    centre: NDArray[np.float64],
    uncertainty: NDArray[np.float64],
    everybody: NDArray[np.float64],
    round_of: NDArray[np.int64],
    stubs: NDArray[np.float64],
    contacts: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(G, C) variance of profiles around the centre: as estimated for each round, but never less than chance gives.

    uncertainty: (G, C) variance of the profiles given the reports. contacts: (n,) of each user; the rest as in `find_centre`.
    """
    found = (((profile - centre) ** 2 + uncertainty) / everybody).mean(axis=0)
    estimate = (np.bincount(round_of, found) / np.bincount(round_of))[round_of]
    members = stubs.sum(axis=0) ** 2 / np.maximum((stubs * contacts[:, None]).sum(axis=0), 1e-12)
    chance = INSIDE**2 / np.maximum(members, 1.0)
    return np.asarray(np.maximum(estimate, chance[:, None]) * everybody)


def _spread_members(own: NDArray[np.integer[Any]], stubs: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    """(G, K) share of each group's stubs in each bin, less the share of everybody's; 0 for a group without a user in any bin."""
    binned = np.flatnonzero(own >= 0)
    mass = np.stack([np.bincount(own[binned], group[binned], n_bins) for group in stubs.T])
    total, members = mass.sum(axis=0), mass.sum(axis=1, keepdims=True)
    shift = mass / np.maximum(members, 1e-9) - total / max(float(total.sum()), 1e-9)
    return np.asarray(np.where(members > 1e-9, shift, 0.0))
