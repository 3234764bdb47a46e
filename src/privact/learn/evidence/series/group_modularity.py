"""Newman's modularity of groups, estimated from reports.

Let N[g, k] be the contacts that group g reports in bin k, and P[h, k] the share of the contacts of group h that belong to members
in bin k, which is public. Contacts of g in h spread over bins as h does, N = M P, so the contacts M between groups follow by
least squares, and the modularity is trace(M) / sum(M) - sum over groups of their share of all contacts, squared. Noise averages
out over users. Groups that were inferred from the same reports follow their noise a little, so the estimate is a little high.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.series_rounds import SeriesRound

__all__ = ["estimate_modularity"]

RIDGE = 1e-3
"""Keeps the least squares stable where two groups are spread alike over the bins."""


def estimate_modularity(label: NDArray[np.int64], n_groups: int, played: SeriesRound, contacts: NDArray[np.float64]) -> float:
    """The modularity of groups; 0 for a single group.

    label: (n,) the group of each user, from 0. played: the round, with its bins.
    contacts: (n,) expected number of contacts of each user.
    """
    assert played.bins is not None
    binned = np.flatnonzero(played.bins >= 0)
    mass = np.bincount(label, contacts, n_groups)
    reported = np.stack([np.bincount(label, played.reports[:, k], n_groups) for k in range(played.n_bins)], axis=1)
    overlap = np.zeros((n_groups, played.n_bins))
    np.add.at(overlap, (label[binned], played.bins[binned]), contacts[binned])
    there = mass > 0
    if there.sum() < 2 or reported.sum() <= 0:
        return 0.0
    mass, reported, overlap = mass[there], reported[there], overlap[there]
    reported = reported * (mass.sum() / reported.sum())
    spread = overlap / mass[:, None]
    between = reported @ spread.T @ np.linalg.inv(spread @ spread.T + RIDGE * np.eye(len(mass)))
    return float(np.trace(between) / mass.sum() - ((mass / mass.sum()) ** 2).sum())
