"""How many times more contacts two groups of users have than chance gives, from the reports of one round.

Contacts between groups g and h are counted by both sides, so their number is half of what the members of both report. Chance
gives D_g D_h / D, where D_g is the number of contacts of group g and D of all. The lift, reported over chance, is shrunk towards
1 as far as its error demands: true lifts vary by a variance that is estimated from all pairs of groups together, noise and
chance taken off. Where lifts vary no more than noise and chance do, all are 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["GroupLifts", "fit_group_lifts"]

LEAST = 0.05
"""The smallest lift: an estimate below it would rule out contacts that noise can hide."""


class GroupLifts(NamedTuple):
    """The affinity of groups.

    lift: (K, K) symmetric; 1 for groups that know each other no more and no less than chance.
    everybody: (K,) share of all contacts in each group.
    variance: of true lifts around 1; 0 where the reports show none.
    """

    lift: NDArray[np.float64]
    everybody: NDArray[np.float64]
    variance: float

    @property
    def shares(self) -> NDArray[np.float64]:
        """(K + 1, K) expected share of a member's contacts in each group; the last row for users in no group."""
        rows = np.vstack([self.lift, np.ones(len(self.everybody))]) * self.everybody
        return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def fit_group_lifts(reports: NDArray[np.integer[Any]], group: NDArray[np.integer[Any]], noise: float) -> GroupLifts:
    """Estimate the affinity of all pairs of groups.

    reports: (n, K) noisy number of contacts in each group. group: (n,) own group of each user, -1 for none.
    noise: variance of the noise of one number.
    """
    n_groups = reports.shape[1]
    inside = np.flatnonzero(group >= 0)
    own = np.asarray(group)[inside]
    size = np.bincount(own, minlength=n_groups).astype(np.float64)
    reported = np.stack([np.bincount(own, reports[inside, k], n_groups) for k in range(n_groups)], axis=1)
    total = np.maximum(np.asarray(reports.sum(axis=0), dtype=np.float64), 1.0)
    everybody = total / total.sum()
    contacts = (reported + reported.T) / 2.0
    members = np.maximum(contacts.sum(axis=1), 1.0)
    chance = np.outer(members, members) / members.sum()
    error = (size[:, None] + size) * noise / 4.0 + np.maximum(contacts, chance)
    diagonal = np.diag_indices(n_groups)
    error[diagonal] = size * noise + 2.0 * np.maximum(contacts, chance)[diagonal]  # each contact inside a group counts twice
    spread = error / chance**2
    apart = (contacts / chance - 1.0) ** 2 - spread
    pairs = np.triu_indices(n_groups)
    weight = 1.0 / spread[pairs]
    variance = max(float((weight * apart[pairs]).sum() / weight.sum()), 0.0)
    trust = variance / (variance + spread)
    return GroupLifts(np.maximum(1.0 + trust * (contacts / chance - 1.0), LEAST), everybody, variance)
