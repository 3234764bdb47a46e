"""From the reports of one round to the affinity of its users."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from privact.learn.evidence.series.contact_numbers import fit_contact_numbers
from privact.learn.evidence.series.series_rounds import SeriesRound, combine_totals, noise_variance
from privact.recommend.people.circle_lifts import WEIGHTS, CircleLifts, refine_lifts
from privact.recommend.people.contact_affinity import ContactAffinity, rank_by_contacts
from privact.recommend.people.group_lifts import GroupLifts, fit_group_lifts
from privact.recommend.people.taste_circles import TasteCircles, find_taste_circles
from privact.recommend.people.user_lifts import FittedLaw, ReportSample, UserLifts, estimate_users

__all__ = ["fit_round"]

DOUBT = 2.0
"""How much likelier, in logarithms, the reports must be with taste than without for taste to count."""


def fit_round(played: SeriesRound, taste: NDArray[np.float64] | None = None) -> ContactAffinity:
    """The affinity of the users of one round; by the number of contacts alone where own groups are not known.

    taste: (n, f) taste of each user, where the service holds ratings (`make_taste_vectors`).
    """
    if played.bins is None or played.n_bins < 2:
        totals = combine_totals([played])
        return rank_by_contacts(fit_contact_numbers(totals).expect(totals))
    group = np.asarray(played.bins, dtype=np.int64)
    lifts = fit_group_lifts(played.reports, group, noise_variance(played.epsilon_report))
    sample = ReportSample(played.reports, played.epsilon_report)
    row = np.where(group < 0, played.n_bins, group)
    plain = sample.fit_shape(row, lifts.shares)
    users = estimate_users(played.reports, row, lifts.shares, sample, plain)
    if taste is not None:
        circles = find_taste_circles(taste, group, np.random.default_rng(0))
        found = _weigh_taste(sample, lifts, circles, users, plain)
        if found is not None:
            refined, fitted = found
            row = np.where(group < 0, len(circles.group), circles.circle)
            users = estimate_users(played.reports, row, refined.shares, sample, fitted)
            return _make_affinity(users, row, refined.lift, group)
    lift = np.ones((played.n_bins + 1, played.n_bins + 1))  # the last is of users in no group
    lift[:-1, :-1] = lifts.lift
    return _make_affinity(users, row, lift, group)


def _weigh_taste(
    sample: ReportSample, groups: GroupLifts, circles: TasteCircles, users: UserLifts, plain: FittedLaw
) -> tuple[CircleLifts, FittedLaw] | None:
    """The lifts under which the reports are likeliest, with the law of reports; None where taste makes them no likelier."""
    row = np.where(circles.circle < 0, len(circles.group), circles.circle)
    tried = [refine_lifts(groups, circles, users.contacts, weight) for weight in WEIGHTS if weight]
    likely = [sample.fit(row, each.shares, users.shape).log_likelihood for each in tried]
    best = tried[int(np.argmax(likely))]
    fitted = sample.fit_shape(row, best.shares)
    return (best, fitted) if fitted.log_likelihood > plain.log_likelihood + DOUBT else None


def _make_affinity(
    users: UserLifts, row: NDArray[np.int64], lift: NDArray[np.float64], group: NDArray[np.integer[Any]]
) -> ContactAffinity:
    member = csr_array((np.ones(len(row), np.float32), (np.arange(len(row)), row)), shape=(len(row), len(lift)))
    return ContactAffinity(users.contacts, member, lift, np.asarray(group, np.int64), users.log_lift, users.log_reach)
