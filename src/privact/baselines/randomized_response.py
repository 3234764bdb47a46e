"""Randomized response on the contact list (section 2.2): the arithmetic of false contacts, beside a PrivaCT report.

The naive way to be locally private. Both ends of a contact answer for it, so the promise of epsilon per contact leaves
epsilon / 2 for each answer, and a bit is flipped with probability q = 1 / (1 + e^(epsilon / 2)). Most bits are zeros: a
user claims q n contacts whom they do not have, whatever they do have. Sums over many bits can be cleared of that,

    (claims - q * bits) / (1 - 2 q)  is the number of true ones, on average,

single contacts cannot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from privact.errors import InputError
from privact.protocol.report import report_length
from privact.protocol.round import MAX_USERS, default_bins, epsilon_per_report

__all__ = [
    "PAPER_CLAIM",
    "PAPER_DEGREE",
    "Explanation",
    "explain_paper_example",
    "explain_randomized_response",
    "flip_probability",
    "noise_variance",
]

PAPER_USERS, PAPER_DEGREE, PAPER_KEPT, PAPER_CLAIM = 1_000_000, 70, 0.7, 700_000
"""The paper's example in section 2.2: a user with 70 contacts keeps each bit with 70 % and, it says, claims 700,000 contacts."""


@dataclass(frozen=True)
class Explanation:
    """What one user's randomized contact list holds, in expectation, and what a PrivaCT report of the same epsilon does.

    users, epsilon, degree: how many users, the promise per contact, and how many contacts the user has.
    epsilon_report: what the promise leaves for each end's report.
    kept: the probability with which each bit is reported as it is.
    flipped: the probability with which it is not.
    claimed: how many contacts the user claims.
    true_claims: how many of them are true.
    false_claims: how many are not.
    precision: which part of the claimed contacts are true.
    both_claimed, both_precision: how many of the user's contacts are claimed from both ends, and which part of them are true.
    degree_sd: standard deviation of the number of contacts, estimated from the user's own claims, in contacts.
    degree_sd_both: the same, estimated from the claims of both ends.
    bytes_sent: by each user, one bit for each user of the network.
    privact_counts, privact_bytes: numbers in a PrivaCT report, and the bytes of the report.
    privact_degree_sd: standard deviation of the number of contacts, as the sum of the report's counts.
    """

    users: int
    epsilon: float
    degree: int
    epsilon_report: float
    kept: float
    flipped: float
    claimed: float
    true_claims: float
    false_claims: float
    precision: float
    both_claimed: float
    both_precision: float
    degree_sd: float
    degree_sd_both: float
    bytes_sent: int
    privact_counts: int
    privact_bytes: int
    privact_degree_sd: float


def explain_randomized_response(n: int, epsilon: float, degree: int | None = None) -> Explanation:
    """The arithmetic of randomized response on the contact list of one user.

    n: how many users the network has, at least 2.
    epsilon: the promise per contact; each end's report is made with half of it.
    degree: how many contacts the user has; the paper's 70 unless given, or everybody in a smaller network.
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 2 <= n <= MAX_USERS:
        raise InputError(f"users is {n!r}; it must be a whole number from 2 to {MAX_USERS}")
    degree = min(PAPER_DEGREE, n - 1) if degree is None else degree
    if isinstance(degree, bool) or not isinstance(degree, int) or not 0 <= degree <= n - 1:
        raise InputError(f"degree is {degree!r}; among {n} users it must be a whole number from 0 to {n - 1}")
    each, flip = epsilon_per_report(epsilon), flip_probability(epsilon)
    strangers = n - 1 - degree
    true, false = (1.0 - flip) * degree, flip * strangers
    both_true, both_false = (1.0 - flip) ** 2 * degree, flip**2 * strangers
    spread = math.sqrt((n - 1) * flip * (1.0 - flip)) / math.tanh(each / 2.0)  # tanh(eps / 2) = 1 - 2 flip
    counts = default_bins(n)
    return Explanation(
        users=n,
        epsilon=float(epsilon),
        degree=degree,
        epsilon_report=each,
        kept=1.0 - flip,
        flipped=flip,
        claimed=true + false,
        true_claims=true,
        false_claims=false,
        precision=_part(true, false),
        both_claimed=both_true + both_false,
        both_precision=_part(both_true, both_false),
        degree_sd=spread,
        degree_sd_both=spread / math.sqrt(2.0),
        bytes_sent=-(-n // 8),
        privact_counts=counts,
        privact_bytes=report_length(counts),
        privact_degree_sd=math.sqrt(counts * noise_variance(each)),
    )


def flip_probability(epsilon: float) -> float:
    """The probability with which each bit of a contact list is flipped.

    epsilon: the promise per contact; halved here for each answer, as both ends give one.
    """
    kept = math.exp(-epsilon_per_report(epsilon))
    return kept / (1.0 + kept)


def noise_variance(epsilon_report: float) -> float:
    """Variance of the discrete Laplace law, P(k) proportional to exp(-epsilon_report |k|): 2 a / (1 - a)^2, a = e^-epsilon."""
    return 2.0 * math.exp(-epsilon_report) / math.expm1(-epsilon_report) ** 2


def explain_paper_example() -> Explanation:
    """The paper's own example: a million users, 70 contacts, each bit kept with 70 %."""
    return explain_randomized_response(PAPER_USERS, 2.0 * math.log(PAPER_KEPT / (1.0 - PAPER_KEPT)), PAPER_DEGREE)


def _part(true: float, false: float) -> float:
    return true / (true + false) if true + false > 0.0 else 0.0
