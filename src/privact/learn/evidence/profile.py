"""What a profile is: the reports of the rounds of some users -> evidence, which makes points of reports.

A row is all that is known about one user: the reports of each round side by side, and last the user's own public label, where the
profile looks at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError
from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.limits import Limits
from privact.learn.reports.report_table import ReportTable
from privact.learn.scale.population import Embedder
from privact.tree.embedding import Embedding, as_vectors

__all__ = ["Evidence", "Profile", "RoundReports", "only_round", "with_own_labels"]


@dataclass(frozen=True, eq=False)
class RoundReports:
    """The reports of one round, and how they were made.

    table: the reports and the ids of their users.
    epsilon_report: the privacy parameter of each report (half the promise per edge); None for exact counts.
    equal_bins: bins were drawn at random; False for labels, which hold unequal shares of contacts.
    own_labels: (n,) the public label of each user, 0 to K - 1, -1 for none; None where bins are not labels.
    """

    table: ReportTable
    epsilon_report: float | None
    equal_bins: bool = True
    own_labels: NDArray[np.integer[Any]] | None = None


@dataclass(frozen=True, eq=False)
class Evidence:
    """What reports say about their users, as a profile looks at them.

    profile: the name of the profile.
    embedder: makes points of rows.
    posterior: the law of true counts given a report; None where reports are taken as they are.
    uses_own_labels: whether rows end with the user's own label.
    """

    profile: str
    embedder: Embedder
    posterior: CountPosterior | None
    uses_own_labels: bool = False

    def embed(self, reports: ArrayLike, own_labels: ArrayLike | None = None) -> Embedding:
        """Make the points of users.

        reports: (q, K) noisy counts. own_labels: (q,) the users' own labels, -1 for none; ignored by profiles without them.
        """
        rows = as_vectors(reports, fewest=1)
        return self.embedder.embed(with_own_labels(rows, own_labels) if self.uses_own_labels else rows)

    def expected_counts(self, reports: NDArray[Any]) -> NDArray[Any]:
        """The posterior expectation of each count, or the reports themselves where they are taken as they are."""
        return reports if self.posterior is None else self.posterior.counts(reports)


@dataclass(frozen=True)
class Profile:
    """What of their contacts users are compared by.

    fit: learns from the reports of one or several rounds of the same users. The flag says whether to denoise them.
    describe: what was learned as JSON values. restore: the evidence again, with the same points for every report.
    """

    fit: Callable[[Sequence[RoundReports], bool, Limits], Evidence]
    describe: Callable[[Evidence], dict[str, Any]]
    restore: Callable[[Mapping[str, Any]], Evidence]


def only_round(profile: str, rounds: Sequence[RoundReports]) -> RoundReports:
    """The one round of a profile that looks at a single round, or InputError."""
    if len(rounds) != 1:
        raise InputError(f"profile {profile!r} compares users by one round, not {len(rounds)}: give the reports of one")
    return rounds[0]


def with_own_labels(reports: NDArray[Any], own_labels: ArrayLike | None) -> NDArray[Any]:
    """Rows of reports, each followed by the user's own label; -1 for all users without labels."""
    if own_labels is None:
        return np.column_stack([reports, np.full(len(reports), -1)])
    found: NDArray[Any] = np.asarray(own_labels)
    if found.shape != (len(reports),) or found.dtype.kind not in "iu":
        raise InputError(
            f"groups have shape {found.shape}, type {found.dtype}: give a whole number for each of {len(reports)} users"
        )
    return np.column_stack([reports, found])
