"""Groups of users by what they report: a mixture model fitted by expectation maximisation.

User u of group g has contacts[u] * profile[g, c] contacts in bin c in expectation, and reports them under the exact law of
report_laws.py. The profiles of a round have a weak prior around the shares of all contacts, or follow the bins of the members
(member_profiles.py); Fisher scoring updates them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.member_profiles import LEAST, MemberBins, find_centre, find_spread
from privact.learn.evidence.series.report_laws import ReportLaws

__all__ = ["Groups", "SideBySide", "find_memberships", "fit_groups"]

SPREAD = 0.5
"""Variance of a profile around the shares of all contacts before anything is reported, in units of the share."""

FIRST_SPREAD = 0.02
"""The same where profiles follow the bins of the members, before it is estimated."""

STEPS = 30
"""The most steps of expectation maximisation."""

TOLERANCE = 1e-4
"""Stop when a step gains less than this log-likelihood a user."""


class SideBySide(NamedTuple):
    """The reports of some users in all rounds, bins side by side.

    column: (n, C) column of each report in the tables of the law. law_of: (C,) the table of each bin. round_of: (C,) its round.
    contacts: (n,) expected number of contacts of each user.
    everybody: (C,) share of all contacts of a round in each bin.
    laws: the tables.
    """

    column: NDArray[np.int32]
    law_of: NDArray[np.int64]
    round_of: NDArray[np.int64]
    contacts: NDArray[np.float64]
    everybody: NDArray[np.float64]
    laws: ReportLaws


class Groups(NamedTuple):
    """A fitted mixture.

    profile: (G, C) share of a member's contacts of a round in each bin. weight: (G,) share of users in each group.
    evidence: approximate log marginal likelihood of all reports: what more groups explain, less what they cost.
    """

    profile: NDArray[np.float64]
    weight: NDArray[np.float64]
    evidence: float


def find_memberships(reports: SideBySide, groups: Groups) -> NDArray[np.float64]:
    """(n, G) probability of each group for each user."""
    return _normalise(_join_log_likelihood(reports, groups))[0]


def fit_groups(reports: SideBySide, start: NDArray[np.float64], bins: MemberBins | None = None) -> Groups:
    """Fit a mixture by expectation maximisation.

    start: (n, G) memberships to begin with.
    bins: the public bins of each round, which profiles are expected to follow; None for a weak prior around everybody's shares.
    """
    n, n_groups = start.shape
    base, round_of, contacts = reports.everybody, reports.round_of, reports.contacts
    groups = Groups(np.tile(base, (n_groups, 1)), np.full(n_groups, 1.0 / n_groups), -np.inf)
    spread = np.tile((SPREAD if bins is None else FIRST_SPREAD) * base, (n_groups, 1))
    centre, member, before = groups.profile, start, -np.inf
    for step in range(STEPS):
        for _ in range(2 if step == 0 else 1):  # the first profiles are far from where Fisher scoring is accurate
            score, fisher = _add_up(reports, groups, member)
            if bins is not None:
                best = groups.profile + score / np.maximum(fisher, 1e-9)
                centre = find_centre(bins, round_of, base, member * contacts[:, None], best, fisher)
            moved = groups.profile + (score - (groups.profile - centre) / spread) / (fisher + 1.0 / spread)
            groups = groups._replace(profile=_normalise_profiles(moved, base, round_of))
        used = spread
        if bins is None:
            used = _find_free_spread(groups.profile, base, round_of)
        else:
            uncertainty, stubs = 1.0 / (fisher + 1.0 / spread), member * contacts[:, None]
            spread = find_spread(groups.profile, centre, uncertainty, base, round_of, stubs, contacts)
        groups = groups._replace(weight=(member.sum(axis=0) + 1.0) / (n + n_groups))
        member, total = _normalise(_join_log_likelihood(reports, groups))
        value = total - _price(groups, centre, used, fisher, round_of, n)
        if step > (3 if bins is None else 8) and abs(value - before) < TOLERANCE * n:
            break
        before = value
    return groups._replace(evidence=value)


def _add_up(reports: SideBySide, groups: Groups, member: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(G, C) score and Fisher information of all users about each profile."""
    from privact.learn.evidence.series._mixture import add_profile_statistics

    score, fisher, laws = np.zeros_like(groups.profile), np.zeros_like(groups.profile), reports.laws
    add_profile_statistics(
        reports.column, reports.law_of, reports.contacts, groups.profile,
        laws.log_probability, laws.information, member, score, fisher,
    )  # fmt: skip
    return score, fisher


def _find_free_spread(
    profile: NDArray[np.float64], base: NDArray[np.float64], round_of: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(C,) variance of the fitted profiles of each round around everybody's shares."""
    found = np.bincount(round_of, ((profile - base) ** 2 / base).mean(axis=0)) / np.bincount(round_of)
    return np.asarray(np.maximum(found, 1e-7)[round_of] * base)


def _price(
    groups: Groups,
    centre: NDArray[np.float64],
    spread: NDArray[np.float64],
    fisher: NDArray[np.float64],
    round_of: NDArray[np.int64],
    n: int,
) -> float:
    """What the profiles of several groups cost: the logarithm of how much the reports narrow them down (Laplace's method)."""
    from scipy.special import gammaln

    n_groups = len(groups.weight)
    if n_groups == 1:
        return 0.0
    free = 1.0 - 1.0 / np.bincount(round_of)[round_of]  # shares of a round add up to 1
    cost = 0.5 * (free * ((groups.profile - centre) ** 2 / spread + np.log1p(fisher * spread))).sum()
    return float(cost + 0.5 * (n_groups - 1) * np.log(n) - gammaln(n_groups + 1))


def _join_log_likelihood(reports: SideBySide, groups: Groups) -> NDArray[np.float64]:
    """(n, G) log-probability of being in the group and sending the reports."""
    from privact.learn.evidence.series._mixture import add_log_likelihood

    joint: NDArray[np.float64] = np.tile(np.log(groups.weight), (len(reports.contacts), 1))
    table: NDArray[Any] = reports.laws.log_probability
    add_log_likelihood(reports.column, reports.law_of, reports.contacts, groups.profile, table, joint)
    return joint


def _normalise(joint: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Memberships, and the log-likelihood of all users together."""
    peak = joint.max(axis=1, keepdims=True)
    weight = np.exp(joint - peak)
    total = weight.sum(axis=1, keepdims=True)
    return weight / total, float((np.log(total) + peak).sum())


def _normalise_profiles(
    profile: NDArray[np.float64], base: NDArray[np.float64], round_of: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Profiles above zero whose shares add up to 1 in each round."""
    profile = np.maximum(profile, LEAST * base)
    for t in range(int(round_of.max()) + 1):
        part = profile[:, round_of == t]
        profile[:, round_of == t] = part / part.sum(axis=1, keepdims=True)
    return profile
