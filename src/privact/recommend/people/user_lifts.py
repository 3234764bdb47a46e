"""How each user differs from others of the same group, and how many contacts the user has, from one round of reports.

A user of group g with d contacts has d * shares[g, k] * lift contacts in group k. Numbers of contacts and lifts are unknown:
how d is distributed over users is estimated by expectation maximisation over a grid, and how much users differ (the shape of
`count_laws`) is the one under which the reports are likeliest. Where users of a group do not differ more than noise and chance
explain, that shape is infinite and every lift is 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.limits import LIMITS, Limits
from privact.recommend.people.count_laws import LARGEST, CountLaws, tabulate_counts

__all__ = ["SHAPES", "FittedLaw", "ReportSample", "UserLifts", "estimate_users", "fit_user_lifts"]

SHAPES = (np.inf, 32.0, 16.0, 8.0, 4.0, 2.0, 1.0, 0.5)
"""How much users of a group may differ, from not at all."""

GRID = 64
"""Numbers of contacts at which their distribution is estimated."""

STEPS = 60
"""Steps of expectation maximisation."""

BLOCK = 1 << 14
"""Users that are computed at a time."""


class UserLifts(NamedTuple):
    """What a round says about each user.

    contacts: (n,) expected number of contacts. log_lift: (n, K) logarithm of how many times the contacts that others of the
        user's group have in each group. log_reach: (n, K) logarithm of the expected product of both: what is known of them comes
        from the same report, so that the one is larger where the other is smaller.
    shape: how much users differ: the variance of lifts is 1 / shape.
    """

    contacts: NDArray[np.float64]
    log_lift: NDArray[np.float32]
    log_reach: NDArray[np.float32]
    shape: float


class ReportSample:
    """The reports of a sample of users, against which laws of reports are held.

    reports: (n, K) noisy number of contacts in each group; may be memory-mapped.
    epsilon_report: the privacy parameter of a report; None without noise. limits: where large networks are sampled.
    """

    def __init__(self, reports: NDArray[np.integer[Any]], epsilon_report: float | None, limits: Limits = LIMITS) -> None:
        n = len(reports)
        self.users = np.arange(0, n, max(1, -(-n // limits.posterior_sample)))
        self.reports, _ = _scale(reports[self.users])
        self.epsilon_report = epsilon_report
        self.largest = float(max(self.reports.sum(axis=1).max(), self.reports.max(), 4.0))
        self.grid = np.append(0.05, np.geomspace(0.3, 1.1 * self.largest, GRID - 1))
        self._laws: dict[float, CountLaws] = {}

    def fit(self, row: NDArray[np.integer[Any]], shares: NDArray[np.float64], shape: float) -> FittedLaw:
        """The law of reports with one shape. row: (n,) the row of `shares` that is the user's."""
        if shape not in self._laws:
            self._laws[shape] = tabulate_counts(self.largest, shape, self.epsilon_report)
        prior, fit = _spread(_log_likelihood(self._laws[shape], self.reports, row[self.users], shares, self.grid))
        return FittedLaw(fit, self._laws[shape], prior)

    def fit_shape(self, row: NDArray[np.integer[Any]], shares: NDArray[np.float64]) -> FittedLaw:
        """The law of reports with the likeliest shape."""
        shapes = SHAPES if shares.shape[1] > 1 else SHAPES[:1]
        return max((self.fit(row, shares, shape) for shape in shapes), key=lambda found: found.log_likelihood)


class FittedLaw(NamedTuple):
    """A law of reports.

    log_likelihood: of the reports of the sample. laws: tables of its shape.
    prior: (GRID,) distribution of the number of contacts.
    """

    log_likelihood: float
    laws: CountLaws
    prior: NDArray[np.float64]


def fit_user_lifts(
    reports: NDArray[np.integer[Any]],
    row: NDArray[np.integer[Any]],
    shares: NDArray[np.float64],
    epsilon_report: float | None,
    limits: Limits = LIMITS,
) -> UserLifts:
    """Estimate all users of a round.

    reports: (n, K) noisy number of contacts in each group; may be memory-mapped.
    row: (n,) the row of `shares` that is the user's. shares: (rows, K) expected share of contacts in each group.
    epsilon_report: the privacy parameter of a report; None without noise. limits: where large networks are sampled.
    """
    sample = ReportSample(reports, epsilon_report, limits)
    return estimate_users(reports, row, shares, sample, sample.fit_shape(row, shares))


def estimate_users(
    reports: NDArray[np.integer[Any]],
    row: NDArray[np.integer[Any]],
    shares: NDArray[np.float64],
    sample: ReportSample,
    fitted: FittedLaw,
) -> UserLifts:
    """What each report says under a law. reports, row, shares: as for `fit_user_lifts`. sample: that the law was fitted to."""
    n, n_bins = reports.shape
    _, laws, prior = fitted
    grid = sample.grid
    contacts, log_lift, log_reach = np.empty(n), np.zeros((n, n_bins), np.float32), np.empty((n, n_bins), np.float32)
    for first in range(0, n, BLOCK):
        part = slice(first, first + BLOCK)
        scaled, scale = _scale(reports[part])
        found = _log_likelihood(laws, scaled, row[part], shares, grid) + np.log(prior)
        weight = np.exp(found - found.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        exact = sample.epsilon_report is None
        contacts[part] = np.maximum(reports[part].sum(axis=1), 0.05) if exact else (weight @ grid) / scale
        log_reach[part] = np.log(contacts[part, None])
        if not np.isinf(laws.shape):
            log_lift[part] = np.log(_expected_lifts(laws, scaled, row[part], shares, grid, weight))
            both = _expected_lifts(laws, scaled, row[part], shares, grid, weight * grid)
            log_reach[part] += np.log(both / (weight @ grid)[:, None]).astype(np.float32)
    return UserLifts(contacts, log_lift, log_reach, laws.shape)


def _scale(reports: NDArray[np.integer[Any]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Reports with totals that the tables reach, and what they were multiplied by."""
    scale = np.minimum(1.0, LARGEST / np.maximum(np.asarray(reports.sum(axis=1), dtype=np.float64), 1.0))
    return np.asarray(reports * scale[:, None], dtype=np.float64), scale


def _log_likelihood(
    laws: CountLaws,
    reports: NDArray[np.float64],
    row: NDArray[np.integer[Any]],
    shares: NDArray[np.float64],
    grid: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(q, GRID) log-probability of each user's report for each number of contacts."""
    columns = laws.find_columns(reports)
    found = np.zeros((len(reports), len(grid)))
    for each in np.unique(row):
        users = np.flatnonzero(row == each)
        for k, share in enumerate(shares[each]):
            found[users] += laws.log_probability[laws.find_rows(grid * share)][:, columns[users, k]].T
    return found


def _expected_lifts(
    laws: CountLaws,
    reports: NDArray[np.float64],
    row: NDArray[np.integer[Any]],
    shares: NDArray[np.float64],
    grid: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(q, K) lifts summed over numbers of contacts. weight: (q, GRID) of each; their posterior gives the expectation."""
    columns = laws.find_columns(reports)
    found = np.ones(reports.shape)
    for each in np.unique(row):
        users = np.flatnonzero(row == each)
        for k, share in enumerate(shares[each]):
            lifts = laws.expected_lifts(laws.find_rows(grid * share)[:, None], columns[users, k])
            found[users, k] = np.einsum("ug,gu->u", weight[users], lifts)
    return found


def _spread(evidence: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """The distribution of the number of contacts, and the log-likelihood of all users under it."""
    peak = evidence.max(axis=1, keepdims=True)
    likelihood = np.exp(evidence - peak)
    prior = np.full(evidence.shape[1], 1.0 / evidence.shape[1])
    for _ in range(STEPS):
        prior = prior * (likelihood.T @ (1.0 / (likelihood @ prior))) / len(evidence)
    prior = np.maximum(prior, 1e-12)
    prior /= prior.sum()
    return prior, float((np.log(likelihood @ prior) + peak[:, 0]).sum())
