"""From the reports of a series of rounds to the affinity of its users.

The groups of a series are inferred from its reports (`learn.evidence.series`), so they are public; a user is in each of them with
a probability. The members of group g have a share of profile[g, k] of their contacts in bin k of a round. Contacts in group h
spread over the bins as the contacts of h do, so the lifts between groups follow from profiles and bins by least squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.group_posterior import GroupPosterior, infer_groups
from privact.learn.evidence.series.series_rounds import SeriesRound, combine_totals
from privact.recommend.people.contact_affinity import ContactAffinity, rank_by_contacts

__all__ = ["estimate_lifts", "fit_series"]

RIDGE = 0.05
"""How strongly lifts are held to 1, in squared shares of contacts; keeps groups apart that the bins hardly tell apart."""

LEAST = 0.02
"""The smallest lift."""

BLOCK = 1 << 15
"""Users that are given memberships at a time."""


def fit_series(rounds: Sequence[SeriesRound]) -> ContactAffinity:
    """The affinity of the users of a series; by the number of contacts alone where the reports do not tell who contacts are."""
    known = infer_groups(rounds)
    contacts = known.numbers.expect(combine_totals(rounds))
    if not known.sees_communities:
        return rank_by_contacts(contacts)
    member = np.empty((len(contacts), len(known.finer.weight)), np.float32)
    for first in range(0, len(contacts), BLOCK):
        part = slice(first, first + BLOCK)
        rows = np.hstack([each.reports[part] for each in rounds])
        member[part] = known.memberships(rows, contacts[part], known.finer)
    return replace(rank_by_contacts(contacts), member=member, lift=estimate_lifts(known, rounds, member, contacts))


def estimate_lifts(
    known: GroupPosterior, rounds: Sequence[SeriesRound], member: NDArray[np.float32], contacts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(G, G) how many times more contacts two groups have than chance gives.

    known: the posterior of these rounds. member: (n, G) probability of each of its finer groups.
    contacts: (n,) expected number of contacts.
    """
    mass = member.T @ contacts / contacts.sum()
    spread, profile = [], []
    for each, (first, last) in zip(rounds, pairwise(np.cumsum((0, *known.widths))), strict=True):
        if each.bins is None:
            continue
        binned = np.flatnonzero(np.asarray(each.bins) >= 0)
        weighted = member[binned] * contacts[binned, None]
        inside = np.stack([np.bincount(each.bins[binned], column, each.n_bins) for column in weighted.T])
        root = np.sqrt(known.everybody[first:last])
        spread.append(inside / inside.sum(axis=1, keepdims=True) / root)
        profile.append((known.finer.profile[:, first:last]) / root)
    bins, shares = np.hstack(spread), np.hstack(profile)
    excess = (shares - mass @ bins) @ bins.T @ np.linalg.inv(bins @ bins.T + RIDGE * np.eye(len(mass)))
    between = mass[:, None] * (mass + excess)  # share of all contacts between two groups, as one of them reports it
    return np.asarray(np.maximum((between + between.T) / (2.0 * np.outer(mass, mass)), LEAST))
