"""Profile "series": users by the groups that the reports of several rounds say they and their contacts are in.

A point has two halves, each taken as draws that agree or not: the probabilities of the user's own group, and the expected shares
of the user's contacts in the bins of the last round. Its length grows with the user's number of contacts: users of one group with
many contacts are likelier to be each other's than users with few. Where the reports do not tell who contacts are, users are
compared by how many they have: the posterior expected difference between the square roots of numbers of contacts, the scale on
which reports of many and of few contacts are equally uncertain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.learn.evidence.profile import Evidence, Profile, RoundReports
from privact.learn.evidence.series.contact_numbers import ContactNumbers
from privact.learn.evidence.series.group_posterior import GroupPosterior, infer_groups
from privact.learn.evidence.series.mixture import Groups
from privact.learn.evidence.series.report_laws import tabulate_laws
from privact.learn.evidence.series.series_rounds import NoisyTotals, SeriesRound, combine_totals, noise_variance
from privact.learn.limits import Limits
from privact.tree.embedding import Embedding, SplitBy, on_grid

__all__ = ["SEES_NOTHING", "SERIES", "SERIES_PROFILE", "SeriesRows", "as_series", "series_posterior"]

SERIES_PROFILE = "series"
"""The name of the profile."""

SEES_NOTHING = (
    "the reports tell how many contacts users have, not who they are: the tree compares users by their number of contacts. "
    "Give a larger epsilon, more users, or public labels as bins"
)
"""What a user is told when the evidence of a series stays below its threshold."""

OWN = 0.5
"""How much a user's own group counts beside the groups of the contacts."""

LENGTH = 0.2
"""The length of a point grows with this power of the number of contacts. On facebook .15 to .5 find as many contacts."""

BLOCK = 1 << 15
"""Users that are embedded at a time."""


@dataclass(frozen=True, eq=False)
class SeriesRows:
    """Makes points of rows that hold the reports of all rounds side by side.

    posterior: what the series knows about its users.
    """

    posterior: GroupPosterior

    def embed(self, rows: NDArray[Any], /) -> Embedding:
        """The points of some users."""
        make = self._embed_groups if self.posterior.sees_communities else self._embed_numbers
        parts = [make(rows[first : first + BLOCK]) for first in range(0, len(rows), BLOCK)]
        weights, constant = self._scale()
        split_by: SplitBy = "cost" if self.posterior.sees_communities else "means"
        return Embedding(on_grid(np.concatenate(parts)), weights, constant, split_by=split_by)

    def _scale(self) -> tuple[NDArray[np.float64], float]:
        """The weights and the constant of the embedding."""
        if self.posterior.sees_communities:
            return np.ones(len(self.posterior.finer.weight) + self.posterior.widths[-1]), 1.0
        weights = np.diff(np.sqrt(self.posterior.numbers.grid)) / 2.0
        return weights, float(weights.sum())

    def _embed_groups(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        known = self.posterior
        contacts = known.numbers.expect(self._totals(rows))
        member = known.memberships(rows, contacts, known.finer)
        last = rows[:, -known.widths[-1] :]
        expected = contacts[:, None] * (member @ known.finer.profile[:, -known.widths[-1] :])
        trust = expected / (expected + noise_variance(known.round_epsilons[-1]))
        counts = np.maximum(expected + trust * (last - expected), 0.0) + 1e-6
        shares = counts / counts.sum(axis=1, keepdims=True)
        length = np.minimum(contacts / known.numbers.grid[-1], 1.0) ** LENGTH
        return np.asarray(length[:, None] * np.hstack([np.sqrt(OWN) * member, np.sqrt(1.0 - OWN) * shares]))

    def _embed_numbers(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        below = self.posterior.numbers.distribution(self._totals(rows))
        return np.asarray(2.0 * below - 1.0)

    def _totals(self, rows: NDArray[Any]) -> NoisyTotals:
        ends = np.cumsum((0, *self.posterior.widths))
        parts = zip(pairwise(ends), self.posterior.round_epsilons, strict=True)
        return combine_totals([SeriesRound(rows[:, a:b], None, epsilon) for (a, b), epsilon in parts])


def as_series(rounds: Sequence[RoundReports]) -> list[SeriesRound]:
    """Rounds of reports as the inference of groups reads them."""
    return [SeriesRound(each.table.matrix, each.own_labels, each.epsilon_report) for each in rounds]


def series_posterior(evidence: Evidence) -> GroupPosterior:
    """What a series knows about its users, from the evidence of its tree."""
    assert isinstance(evidence.embedder, SeriesRows)
    return evidence.embedder.posterior


def _fit(rounds: Sequence[RoundReports], denoise: bool, limits: Limits) -> Evidence:
    if len(rounds) < 2:
        raise InputError("profile 'series' compares users by two rounds or more, not 1: use profile 'counts' or 'shares'")
    if not denoise:
        raise InputError("profile 'series' infers groups from the law of the noise: leave denoise on")
    return Evidence(SERIES_PROFILE, SeriesRows(infer_groups(as_series(rounds), limits=limits)), None)


def _describe(evidence: Evidence) -> dict[str, Any]:
    known = series_posterior(evidence)
    return {
        "numbers": {"grid": known.numbers.grid.tolist(), "law": known.numbers.law.tolist()},
        "round_epsilons": list(known.round_epsilons),
        "widths": list(known.widths),
        "everybody": known.everybody.tolist(),
        "groups": _describe_groups(known.groups),
        "finer": _describe_groups(known.finer),
        "evidence": known.evidence,
        "round_evidence": known.round_evidence.tolist(),
        "modularity": known.modularity,
        "threshold": known.threshold,
        "largest_contacts": known.largest_contacts,
    }


def _restore(facts: Mapping[str, Any]) -> Evidence:
    numbers = ContactNumbers(np.array(facts["numbers"]["grid"]), np.array(facts["numbers"]["law"]))
    round_epsilons = tuple(facts["round_epsilons"])
    epsilons = tuple(sorted(set(round_epsilons), key=lambda epsilon: np.inf if epsilon is None else epsilon))
    known = GroupPosterior(
        numbers, tabulate_laws(epsilons, facts["largest_contacts"]), epsilons, round_epsilons, tuple(facts["widths"]),
        np.array(facts["everybody"]), _restore_groups(facts["groups"]), _restore_groups(facts["finer"]),
        facts["evidence"], np.array(facts["round_evidence"]), facts["modularity"], facts["largest_contacts"], facts["threshold"],
    )  # fmt: skip
    return Evidence(SERIES_PROFILE, SeriesRows(known), None)


def _describe_groups(groups: Groups) -> dict[str, Any]:
    return {"profile": groups.profile.tolist(), "weight": groups.weight.tolist(), "evidence": groups.evidence}


def _restore_groups(facts: Mapping[str, Any]) -> Groups:
    return Groups(np.array(facts["profile"]), np.array(facts["weight"]), facts["evidence"])


SERIES = Profile(_fit, _describe, _restore)
