"""Newman's modularity of groups, estimated from reports.

Let N[g, k] be the contacts that group g reports in bin k, and P[h, k] the share of the contacts of group h that belong to members
in bin k, which is public. Contacts of g in h spread over bins as h does, N = M P, so the contacts M between groups follow by
least squares over all rounds together. The modularity is trace(M) / sum(M) - sum over groups of their share of all contacts,
squared. Noise averages out over users. Groups that were inferred from the same reports follow their noise a little, so the
estimate is a little high.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.series_rounds import SeriesRound

__all__ = ["estimate_modularity"]

RIDGE = 1e-3
"""Keeps the least squares stable where two groups are spread alike over the bins."""


def estimate_modularity(
    label: NDArray[np.int64], n_groups: int, played: Sequence[SeriesRound], contacts: NDArray[np.float64]
) -> float:
    """The modularity of groups; 0 for a single group.

    label: (n,) the group of each user, from 0. played: rounds with their bins; together they tell more groups apart than one.
    contacts: (n,) expected number of contacts of each user.
    """
    mass = np.bincount(label, contacts, n_groups)
    there = mass > 0
    mass = mass[there]
    reported_overlap, overlaps = np.zeros((len(mass), len(mass))), RIDGE * np.eye(len(mass))
    for each in played:
        assert each.bins is not None
        binned = np.flatnonzero(each.bins >= 0)
        reported = np.stack([np.bincount(label, each.reports[:, k], n_groups) for k in range(each.n_bins)], axis=1)[there]
        spread = np.zeros((n_groups, each.n_bins))
        np.add.at(spread, (label[binned], each.bins[binned]), contacts[binned])
        spread = spread[there] / mass[:, None]
        if reported.sum() > 0:
            reported_overlap += reported @ spread.T * (mass.sum() / reported.sum())
            overlaps += spread @ spread.T
    if len(mass) < 2 or not reported_overlap.any():
        return 0.0
    between = reported_overlap @ np.linalg.inv(overlaps)
    return float(np.trace(between) / mass.sum() - ((mass / mass.sum()) ** 2).sum())
