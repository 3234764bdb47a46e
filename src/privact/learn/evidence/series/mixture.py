"""Groups of users by what they report: a mixture model fitted by expectation maximisation.

User u of group g has contacts[u] * profile[g, c] contacts in bin c in expectation, and reports them under the exact law of
report_laws.py. Fisher scoring updates the profiles under a prior: free_profiles.py, or member_profiles.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.report_laws import ReportLaws

__all__ = ["Expected", "Groups", "ProfilePrior", "SideBySide", "find_memberships", "fit_groups", "normalise_profiles"]

LEAST = 0.003
"""No profile has less than this of everybody's share in a bin."""

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


class Expected(NamedTuple):
    """What profiles are expected to be before the reports are read.

    centre: (G, C) their means. spread: (G, C) their variances.
    """

    centre: NDArray[np.float64]
    spread: NDArray[np.float64]


class ProfilePrior(Protocol):
    """What a fit expects of profiles, and how that follows from the fit itself.

    settles_after: steps after which the fit may stop.
    """

    settles_after: int

    def begin(self, n_groups: int) -> Expected:
        """What is expected before anything is known about the members."""

    def follow(
        self, expected: Expected, member: NDArray[np.float64], best: NDArray[np.float64], fisher: NDArray[np.float64]
    ) -> Expected:
        """The same with the means that the members let expect.

        member: (n, G) memberships. best: (G, C) profiles that explain the reports best without a prior. fisher: (G, C) the
        information of the reports about them.
        """

    def widen(
        self, expected: Expected, member: NDArray[np.float64], profile: NDArray[np.float64], fisher: NDArray[np.float64]
    ) -> Expected:
        """The same with the variances that the fitted profiles show; arguments as in `follow`."""

    def judge(self, expected: Expected, profile: NDArray[np.float64]) -> NDArray[np.float64]:
        """(G, C) the variances by which the evidence prices the fitted profiles."""


def find_memberships(reports: SideBySide, groups: Groups) -> NDArray[np.float64]:
    """(n, G) probability of each group for each user."""
    return _normalise(_join_log_likelihood(reports, groups))[0]


def fit_groups(reports: SideBySide, start: NDArray[np.float64], prior: ProfilePrior) -> Groups:
    """Fit a mixture by expectation maximisation.

    start: (n, G) memberships to begin with. prior: of the profiles.
    """
    n, n_groups = start.shape
    base, round_of = reports.everybody, reports.round_of
    groups = Groups(np.tile(base, (n_groups, 1)), np.full(n_groups, 1.0 / n_groups), -np.inf)
    expected, member, before = prior.begin(n_groups), start, -np.inf
    for step in range(STEPS):
        for _ in range(2 if step == 0 else 1):  # the first profiles are far from where Fisher scoring is accurate
            score, fisher = _add_up(reports, groups, member)
            expected = prior.follow(expected, member, groups.profile + score / np.maximum(fisher, 1e-9), fisher)
            pull = (groups.profile - expected.centre) / expected.spread
            moved = groups.profile + (score - pull) / (fisher + 1.0 / expected.spread)
            groups = groups._replace(profile=normalise_profiles(moved, base, round_of))
        judged = prior.judge(expected, groups.profile)
        price = _price(groups, expected.centre, judged, fisher, round_of, n)
        expected = prior.widen(expected, member, groups.profile, fisher)
        groups = groups._replace(weight=(member.sum(axis=0) + 1.0) / (n + n_groups))
        member, total = _normalise(_join_log_likelihood(reports, groups))
        value = total - price
        if step > prior.settles_after and abs(value - before) < TOLERANCE * n:
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


def normalise_profiles(
    profile: NDArray[np.float64], base: NDArray[np.float64], round_of: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Profiles above zero whose shares add up to 1 in each round."""
    profile = np.maximum(profile, LEAST * base)
    for t in range(int(round_of.max()) + 1):
        part = profile[:, round_of == t]
        profile[:, round_of == t] = part / part.sum(axis=1, keepdims=True)
    return profile
