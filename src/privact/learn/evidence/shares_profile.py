"""Profiles "shares" and "shares+own": users by the share of their contacts in each bin, and by their own public label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.evidence.profile import Evidence, Profile, RoundReports, only_round
from privact.learn.evidence.share_posterior import SharePosterior
from privact.learn.limits import Limits
from privact.tree.embedding import Embedding

__all__ = ["SHARES", "SHARES_OWN", "OwnLabelRows"]

_SHARES, _SHARES_OWN = "shares", "shares+own"


@dataclass(frozen=True, eq=False)
class OwnLabelRows:
    """Makes points of rows whose last number is the user's own label.

    shares: what the reports say about the groups of each user's contacts.
    """

    shares: SharePosterior

    def embed(self, rows: NDArray[Any], /) -> Embedding:
        """The points of some users."""
        return self.shares.embed(rows[:, :-1], rows[:, -1])


def _fit(rounds: Sequence[RoundReports], denoise: bool, limits: Limits, own: bool) -> Evidence:
    round = only_round(_SHARES_OWN if own else _SHARES, rounds)
    if own and round.own_labels is None:
        raise InputError("profile 'shares+own' needs public labels as bins: random bins say nothing about a user")
    epsilon = round.epsilon_report if denoise else None
    return _evidence(SharePosterior.fit(round.table.matrix, epsilon, equal_bins=round.equal_bins, own=own, limits=limits))


def _evidence(shares: SharePosterior) -> Evidence:
    if shares.own:
        return Evidence(_SHARES_OWN, OwnLabelRows(shares), shares.counts, uses_own_labels=True)
    return Evidence(_SHARES, shares, shares.counts)


def _describe(evidence: Evidence) -> dict[str, Any]:
    shares = evidence.embedder.shares if isinstance(evidence.embedder, OwnLabelRows) else evidence.embedder
    assert isinstance(shares, SharePosterior)
    posterior = None if shares.counts is None else shares.counts.to_json()
    return {"everybody": shares.everybody.tolist(), "posterior": posterior}


def _restore(facts: Mapping[str, Any], own: bool) -> Evidence:
    counts = None if facts["posterior"] is None else CountPosterior.from_json(facts["posterior"])
    return _evidence(SharePosterior(np.array(facts["everybody"]), counts, own))


SHARES = Profile(partial(_fit, own=False), _describe, partial(_restore, own=False))
SHARES_OWN = Profile(partial(_fit, own=True), _describe, partial(_restore, own=True))
