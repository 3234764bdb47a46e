"""Reports clamped to what an honest device could have sent: one hostile report cannot claim more than a network holds.

A user of a network of n users has at most n - 1 contacts, in one bin or in all together, and a device adds discrete Laplace
noise. So an entry lies between -t and n - 1 + t, and the total of a report between -u and n - 1 + u, unless the noise
is larger than t in some bin or than u in total. Both limits are chosen so that this happens to an honest report with
probability at most TOUCHED, half of it each:

    one entry:   P(|noise| > t) = 2 a^(t + 1) / (1 + a) with a = exp(-epsilon_report), K times by the union bound
    the total:   P(|sum of K| > u) <= 2 exp(-s u') M(s)^K for u' = u + 1 and every 0 < s < epsilon_report (Chernoff), where
                 M(s) = (1 - a)^2 / ((1 - a e^s) (1 - a e^-s)) is the moment generating function of the noise

It is post-processing: it reads reports and public numbers only. It bounds what a report can claim, not whether that is true.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError
from privact.learn.evidence.count_posterior import as_reports
from privact.learn.reports.report_table import Batch, ReportBatches

__all__ = ["TOUCHED", "clamp_batches", "largest_noise", "largest_total_noise", "plausible_counts"]

TOUCHED: Final = 1e-9
"""The most probability with which an honest report is changed."""

_BLOCK: Final = 65_536  # reports at a time: bounds the memory beside the result


def plausible_counts(reports: ArrayLike, n_users: int, epsilon_report: float) -> NDArray[np.int64]:
    """Reports in which nothing exceeds what a count can be and noise can plausibly add; others are returned as they came.

    An entry out of range becomes the nearest in range. If the total is still too high, the highest entries are lowered to one
    level, the highest that makes the total possible; if it is too low, the lowest are raised likewise. Clamping twice
    changes nothing more, and the order of a report's entries stays.

    reports: (n, K) noisy integer counts.
    n_users: users registered in the round; a user has at most n_users - 1 contacts among them.
    epsilon_report: the privacy parameter of each report.
    """
    noisy = as_reports(reports, fewest=1)
    if n_users < 1:
        raise InputError(f"n_users is {n_users}; a round has at least 1 registered user")
    n_bins = noisy.shape[1]
    entry, total = largest_noise(epsilon_report, n_bins), largest_total_noise(epsilon_report, n_bins)
    clamped = np.clip(noisy, -entry, n_users - 1 + entry)
    for first in range(0, len(clamped), _BLOCK):
        block = clamped[first : first + _BLOCK]  # a view: what is written here is written there
        sums = block.sum(axis=1)
        high, low = sums > n_users - 1 + total, sums < -total
        block[high] = _lower(block[high], n_users - 1 + total)
        block[low] = -_lower(-block[low], total)
    return clamped


def clamp_batches(batches: ReportBatches, n_users: int, epsilon_report: float) -> Iterator[Batch]:
    """Batches of reports as they come, each clamped; arguments as for `plausible_counts`."""
    for users, vectors in batches:
        yield users, plausible_counts(vectors, n_users, epsilon_report)


def largest_noise(epsilon_report: float, n_bins: int, touched: float = TOUCHED) -> int:
    """The smallest t such that none of n_bins noise values exceeds t in size, except with probability touched / 2.

    epsilon_report: the privacy parameter of each report.
    n_bins: noise values in a report.
    touched: the probability with which a report may be touched.
    """
    _check(epsilon_report, n_bins)
    # n_bins * 2 a^(t + 1) / (1 + a) <= touched / 2, solved for t
    allowed = math.log(touched / 4.0) - math.log(n_bins) + math.log1p(math.exp(-epsilon_report))
    return max(0, math.ceil(-allowed / epsilon_report) - 1)


def largest_total_noise(epsilon_report: float, n_bins: int, touched: float = TOUCHED) -> int:
    """A u such that the sum of n_bins noise values does not exceed u in size, except with probability touched / 2.

    Chernoff's bound, with the best of many exponents: never below what is needed, and rarely a few percent above it. Arguments
    as for largest_noise.
    """
    _check(epsilon_report, n_bins)
    part = 1.0 - np.geomspace(1e-6, 1.0, 400, endpoint=False)  # of epsilon_report, dense near 1
    exponent = epsilon_report * np.concatenate([part, np.geomspace(1e-4, 1e-1, 200)])
    # (1 - a)^2 / ((1 - a e^s)(1 - a e^-s)) in terms that keep their digits where epsilon is small
    moment = 2.0 * math.log(-math.expm1(-epsilon_report)) - np.log(-np.expm1(exponent - epsilon_report))
    moment -= np.log(-np.expm1(-exponent - epsilon_report))
    needed = (n_bins * moment - math.log(touched / 4.0)) / exponent
    return max(0, math.ceil(float(needed.min())) - 1)


def _lower(reports: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Reports whose highest entries are cut at the highest whole level at which the total is at most `most`.

    With the entries in descending order, cutting the first j at one level leaves the rest, so the level is
    (most - rest) // j for the first j at which it is not below the next entry.
    """
    n_bins = reports.shape[1]
    ordered = -np.sort(-reports, axis=1)
    rest = ordered.sum(axis=1, keepdims=True) - np.cumsum(ordered, axis=1)
    level = (most - rest) // np.arange(1, n_bins + 1)
    following = np.concatenate([ordered[:, 1:], np.full((len(reports), 1), np.iinfo(np.int64).min)], axis=1)
    first = np.argmax(level >= following, axis=1)
    return np.asarray(np.minimum(reports, np.take_along_axis(level, first[:, None], axis=1)))


def _check(epsilon_report: float, n_bins: int) -> None:
    if not 0.0 < epsilon_report < math.inf:
        raise InputError(
            f"epsilon_report is {epsilon_report!r}; it must be a finite number above 0: give half the promise per edge"
        )
    if n_bins < 1:
        raise InputError(f"n_bins is {n_bins}; a report has at least 1 bin")
