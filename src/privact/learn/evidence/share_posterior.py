"""Who rather than how many: users by the share of their contacts in each group. Post-processing, it costs no privacy.

The share of group k is the chance that one more contact of the user would be in k. Before anything is known of a user it is the
share of all users' contacts, which weighs as much as CONCENTRATION contacts of the user's own:

    p(k) = (E[count of k | report] + CONCENTRATION * everybody(k)) / (E[contacts | report] + CONCENTRATION),

the mean of a Dirichlet posterior. The dissimilarity of two users is the chance that a contact of the one and a contact of the
other are in different groups,

    S(x, y) = 1 - sum_k p_x(k) p_y(k).

It is bilinear, and what is known of one user is independent of what is known of another, so that no other tree has a better
expected cost given the reports: the expectation of a product is the product of these expectations. A point has one coordinate a
group. Where the groups of users themselves are public, a user can count as well: S is then the chance that two draws differ,
each of them the user or one of the user's contacts, half of the time either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError
from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.limits import LIMITS, Limits
from privact.tree.embedding import Embedding, as_vectors, on_grid

__all__ = ["CONCENTRATION", "SharePosterior"]

CONCENTRATION = 5.0
"""The number of own contacts that weigh as much as the share over all users: see docs/communities.md for other values."""

BLOCK = 1 << 16
"""Users embedded at a time: bounds the memory beside the points."""


@dataclass(frozen=True, eq=False)
class SharePosterior:
    """What the reports say about the groups of each user's contacts.

    everybody: (K,) share of all contacts in each group.
    counts: the law of true counts given a report; None takes the reports as they are, negative ones as no contacts.
    own: whether a user's own public group counts half.
    """

    everybody: NDArray[np.float64]
    counts: CountPosterior | None = None
    own: bool = False

    @classmethod
    def fit(
        cls,
        reports: ArrayLike,
        epsilon_report: float | None = None,
        *,
        equal_bins: bool = False,
        own: bool = False,
        limits: Limits = LIMITS,
    ) -> SharePosterior:
        """Learn how contacts are spread from the reports of a whole round.

        reports: (n, K) counts, noisy or exact, of at least two groups.
        epsilon_report: the privacy parameter of each report; None for exact counts, or to take noisy ones as they are.
        equal_bins: groups were drawn at random.
        own: users' own groups will be given too.
        limits: see `CountPosterior.fit`.
        """
        vectors = as_vectors(reports)
        n_groups = vectors.shape[1]
        if n_groups < 2:
            raise InputError(f"shares of {n_groups} bin are 1 for all users: give at least 2 bins, or use profile='counts'")
        means = np.maximum(vectors.mean(axis=0), 1e-3)
        everybody = np.full(n_groups, 1.0 / n_groups) if equal_bins else means / means.sum()
        counts = None
        if epsilon_report is not None:  # the distribution functions are not used: few thresholds keep the tables small
            counts = CountPosterior.fit(reports, epsilon_report, equal_bins=equal_bins, max_thresholds=1, limits=limits)
        return cls(everybody, counts, own)

    def expected_counts(self, reports: ArrayLike) -> NDArray[np.float64]:
        """(q, K) how many contacts each user is expected to have in each group."""
        vectors = as_vectors(reports, fewest=1)
        if vectors.shape[1] != len(self.everybody):
            raise InputError(f"reports have {vectors.shape[1]} bins, not the {len(self.everybody)} learned: use the same round")
        return np.maximum(vectors, 0.0) if self.counts is None else self.counts.counts(vectors)

    def shares(self, reports: ArrayLike) -> NDArray[np.float64]:
        """(q, K) the expected share of each user's contacts in each group; rows add up to 1."""
        prior = CONCENTRATION * self.everybody
        known = self.expected_counts(reports) + prior
        return np.asarray(known / known.sum(axis=1, keepdims=True))

    def embed(self, reports: ArrayLike, groups: ArrayLike | None = None) -> Embedding:
        """Users as points; the dissimilarity of two is the chance that their draws are in different groups.

        groups: (q,) own group of each user, 0 to K - 1; -1, or None for all users, where it is not known: then draws of the
            user are spread as all users' contacts are. Only where `own` says that groups count.
        """
        vectors = as_vectors(reports, fewest=1)
        known = self._checked_groups(groups, len(vectors)) if self.own else None
        points = np.empty((len(vectors), len(self.everybody)), np.float32)
        for first in range(0, len(vectors), BLOCK):
            part = slice(first, first + BLOCK)
            shares = self.shares(vectors[part])
            points[part] = on_grid(shares if known is None else (shares + self._themselves(known[part])) / 2.0)
        return Embedding(points, np.ones(len(self.everybody)), 1.0)

    def _themselves(self, groups: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, K) the group of each user as a share: all of it in one group, or that of all users where it is not known."""
        rows = np.vstack([np.eye(len(self.everybody)), self.everybody])
        return np.asarray(rows[groups])  # -1 is the last row

    def _checked_groups(self, groups: ArrayLike | None, n_users: int) -> NDArray[np.int64]:
        if groups is None:
            return np.full(n_users, -1)
        found: NDArray[Any] = np.asarray(groups)
        most = len(self.everybody) - 1
        if found.shape != (n_users,) or found.dtype.kind not in "iu":
            raise InputError(
                f"groups have shape {found.shape}, type {found.dtype}: give a whole number for each of {n_users} users"
            )
        if n_users and not -1 <= int(found.min()) <= int(found.max()) <= most:
            raise InputError(f"groups go from {found.min()} to {found.max()}: they must be 0 to {most}, or -1 for no group")
        return found.astype(np.int64)
