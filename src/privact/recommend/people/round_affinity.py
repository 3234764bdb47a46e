"""From the reports of one round to the affinity of its users."""

from __future__ import annotations

import numpy as np

from privact.learn.evidence.series.contact_numbers import fit_contact_numbers
from privact.learn.evidence.series.series_rounds import SeriesRound, combine_totals, noise_variance
from privact.recommend.people.contact_affinity import ContactAffinity, rank_by_contacts
from privact.recommend.people.group_lifts import fit_group_lifts
from privact.recommend.people.user_lifts import fit_user_lifts

__all__ = ["fit_round"]


def fit_round(played: SeriesRound) -> ContactAffinity:
    """The affinity of the users of one round; by the number of contacts alone where own groups are not known."""
    if played.bins is None or played.n_bins < 2:
        totals = combine_totals([played])
        return rank_by_contacts(fit_contact_numbers(totals).expect(totals))
    n_groups = played.n_bins
    group = np.asarray(played.bins, dtype=np.int64)
    lifts = fit_group_lifts(played.reports, group, noise_variance(played.epsilon_report))
    users = fit_user_lifts(played.reports, np.where(group < 0, n_groups, group), lifts.shares, played.epsilon_report)
    lift = np.ones((n_groups + 1, n_groups + 1))  # the last is of users in no group
    lift[:n_groups, :n_groups] = lifts.lift
    member = np.eye(n_groups + 1, dtype=np.float32)[group]
    return ContactAffinity(users.contacts, member, lift, group, users.log_lift, users.log_reach)
