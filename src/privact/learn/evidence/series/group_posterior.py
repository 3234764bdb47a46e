"""From the reports of a series to the groups of its users; the reports decide how many groups there are.

Two criteria bound the number of groups. The evidence of the mixture says how many profiles the reports tell apart. Modularity
times certainty says up to how many groups users are assigned reliably: the modularity of the groups, estimated from the reports,
times the mean probability of a user's likeliest group. The result is the largest number that the evidence supports and whose
product is within 3 % of the best; among numbers whose mean probability is at least 0.85, a modularity within 5 % of their best is
enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.contact_numbers import ContactNumbers, fit_contact_numbers
from privact.learn.evidence.series.free_profiles import FreeProfiles
from privact.learn.evidence.series.group_modularity import estimate_modularity
from privact.learn.evidence.series.member_profiles import MemberProfiles
from privact.learn.evidence.series.mixture import Groups, SideBySide, find_memberships, fit_groups
from privact.learn.evidence.series.own_bin_evidence import THRESHOLD, combine_evidence, measure_evidence
from privact.learn.evidence.series.report_laws import LARGEST, ReportLaws, tabulate_laws
from privact.learn.evidence.series.series_rounds import SeriesRound, combine_totals
from privact.learn.evidence.series.spectral_start import find_principal_points, group_by_means
from privact.learn.limits import LIMITS, Limits
from privact.progress import Progress, ignore_progress

__all__ = ["NUMBERS", "GroupPosterior", "draw_sample", "infer_groups"]

NUMBERS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24)
"""Numbers of groups that are tried."""

PARSIMONY = 0.005
"""Take fewer groups if they lose at most this share of what groups explain: the reports of one user in several rounds share the
chance of who the contacts are, which the model does not know and more groups seem to explain."""

RELIABLE = 0.03
"""Take more groups if their modularity times certainty is at most this share below the best."""

CERTAIN, TOLERABLE = 0.85, 0.05
"""Where users are assigned with at least this certainty, modularity alone counts, and more groups may lose this share of it:
small communities add little to the modularity, and leaving them merged is the greater error."""

BLOCK = 1 << 15
"""Users that are given memberships at a time."""


@dataclass(frozen=True, eq=False)
class GroupPosterior:
    """What a series knows about its users so far.

    numbers: the distribution of the number of contacts. laws, epsilons: the tables of the report law, and whose they are.
    round_epsilons, widths: the privacy parameter and the number of bins of each round.
    everybody: (C,) share of all contacts of a round in each bin.
    groups: the mixture with as many groups as the reports support.
    finer: the mixture whose evidence is highest; as many groups or more.
    evidence: how much more contacts users have in their own bins than chance and noise give, in standard deviations.
    round_evidence: (rounds,) the same for each round.
    threshold: what the evidence stays below on a network without communities.
    modularity: of `groups`, estimated from the reports; None where no round was counted in groups.
    largest_contacts: the largest expected number of contacts that the tables of the law reach.
    """

    numbers: ContactNumbers
    laws: ReportLaws
    epsilons: tuple[float | None, ...]
    round_epsilons: tuple[float | None, ...]
    widths: tuple[int, ...]
    everybody: NDArray[np.float64]
    groups: Groups
    finer: Groups
    evidence: float
    round_evidence: NDArray[np.float64]
    modularity: float | None
    largest_contacts: float
    threshold: float = THRESHOLD

    @property
    def sees_communities(self) -> bool:
        """Whether the reports tell who a user's contacts are, not only how many."""
        return self.evidence > self.threshold

    @property
    def n_groups(self) -> int:
        """How many groups the reports support."""
        return len(self.groups.weight)

    def read(self, rows: NDArray[np.integer[Any]], contacts: NDArray[np.float64]) -> SideBySide:
        """Reports ready for the model.

        rows: (q, C) reports of some users, rounds side by side. contacts: (q,) their expected numbers of contacts.
        """
        scale = np.minimum(1.0, LARGEST / contacts)
        law_of = np.repeat([self.epsilons.index(epsilon) for epsilon in self.round_epsilons], self.widths)
        round_of = np.repeat(np.arange(len(self.widths)), self.widths)
        column = self.laws.find_columns(np.asarray(rows * scale[:, None], dtype=np.float64))
        return SideBySide(column, law_of.astype(np.int64), round_of, contacts * scale, self.everybody, self.laws)

    def memberships(self, rows: NDArray[np.integer[Any]], contacts: NDArray[np.float64], groups: Groups) -> NDArray[np.float64]:
        """(q, G) probability of each group; arguments as for `read`."""
        return find_memberships(self.read(rows, contacts), groups)

    def find_likeliest(self, rounds: Sequence[SeriesRound], groups: Groups | None = None) -> NDArray[np.int64]:
        """(n,) the likeliest group of every user of some rounds, block by block."""
        chosen = groups or self.groups
        return self.label_users(rounds, lambda reports: find_memberships(reports, chosen).argmax(axis=1))

    def label_users(
        self, rounds: Sequence[SeriesRound], choose: Callable[[SideBySide], NDArray[np.integer[Any]]]
    ) -> NDArray[np.int64]:
        """(n,) a label for every user of some rounds, block by block.

        choose: gives the labels of the users of a block.
        """
        n = len(rounds[0].reports)
        contacts = self.numbers.expect(combine_totals(rounds))
        found = np.empty(n, np.int64)
        for first in range(0, n, BLOCK):
            part = slice(first, first + BLOCK)
            found[part] = choose(self.read(np.hstack([each.reports[part] for each in rounds]), contacts[part]))
        return found


class Sample(NamedTuple):
    """The users that the profiles of groups are learned from.

    users: which of all. reports: their reports of all rounds.
    """

    users: NDArray[np.integer[Any]]
    reports: SideBySide


def draw_sample(n_users: int, rng: np.random.Generator, limits: Limits) -> NDArray[np.integer[Any]]:
    """The users of a large network that a model is learned from, in ascending order; all of a small one."""
    if n_users <= limits.series_sample:
        return np.arange(n_users)
    return np.sort(rng.choice(n_users, limits.series_sample, replace=False))


def infer_groups(
    rounds: Sequence[SeriesRound],
    numbers: Sequence[int] = NUMBERS,
    *,
    seed: int = 0,
    progress: Progress = ignore_progress,
    limits: Limits = LIMITS,
) -> GroupPosterior:
    """Infer the groups of all users from all rounds so far. It reads reports and public bins only and costs no privacy.

    rounds: in the order they were played.
    numbers: numbers of groups to try, ascending.
    seed: decides the starts; the same reports and seed give the same groups.
    limits: where large networks are sampled.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):  # sums must not depend on how many cores share them
        return _infer(rounds, numbers, seed, progress, limits)


def _infer(
    rounds: Sequence[SeriesRound], numbers: Sequence[int], seed: int, progress: Progress, limits: Limits
) -> GroupPosterior:
    totals = combine_totals(rounds)
    law = fit_contact_numbers(totals, limits)
    rng = np.random.default_rng(seed)
    n = len(totals.values)
    users = draw_sample(n, rng, limits)
    contacts = law.expect(totals._replace(values=totals.values[users]))
    round_epsilons = tuple(each.epsilon_report for each in rounds)
    epsilons = tuple(sorted(set(round_epsilons), key=lambda epsilon: np.inf if epsilon is None else epsilon))
    sums = [np.maximum(np.asarray(each.reports.sum(axis=0), dtype=np.float64), 1.0) for each in rounds]
    largest = float(contacts.max())
    empty = Groups(np.ones((1, 1)), np.ones(1), -np.inf)
    posterior = GroupPosterior(
        law, tabulate_laws(epsilons, largest), epsilons, round_epsilons, tuple(each.n_bins for each in rounds),
        np.concatenate([total / total.sum() for total in sums]), empty, empty, 0.0, np.zeros(len(rounds)), None, largest,
    )  # fmt: skip
    sample = Sample(users, posterior.read(np.hstack([each.reports[users] for each in rounds]), contacts))
    bins = [None if each.bins is None else np.asarray(each.bins)[users] for each in rounds]
    fits = _fit_numbers(sample.reports, numbers, bins[1:], rng, progress)
    evidence = np.array([fit.evidence for fit in fits])
    gain = evidence.max() - evidence[0]
    enough = int(np.flatnonzero(evidence >= evidence.max() - PARSIMONY * gain)[0])
    figures = measure_evidence(sample.reports, bins)
    posterior = replace(
        posterior,
        groups=fits[enough],
        finer=fits[int(evidence.argmax())],
        evidence=combine_evidence(figures),
        round_evidence=figures,
    )
    return _choose_reliable(posterior, fits, rounds, sample)


def _fit_numbers(
    sample: SideBySide,
    numbers: Sequence[int],
    earlier: Sequence[NDArray[np.integer[Any]] | None],
    rng: np.random.Generator,
    progress: Progress,
) -> list[Groups]:
    """A mixture for each number of groups; stops when the evidence has fallen twice.

    Each starts from spectral groups and, where an earlier inference found as many, from those groups too. From what is found the
    mixture is fitted again with profiles that follow the bins of the members. The evidence decides.

    earlier: the public bins of the rounds after the first, which are the groups that were found before them.
    """
    points, weight = find_principal_points(sample, max(min(max(numbers), sample.column.shape[1]) - 1, 1))
    free, following = FreeProfiles(sample), MemberProfiles(sample, [None, *earlier])
    fits: list[Groups] = []
    for done, number in enumerate(numbers):
        progress("inferring groups", done, len(numbers))
        starts: list[NDArray[np.integer[Any]]] = [group_by_means(points[:, : max(number - 1, 1)], weight, number, rng)]
        starts += [bins for bins in earlier[-1:] if bins is not None and bins.max() + 1 == number > 1]
        found = [fit_groups(sample, _soften(label, number), free) for label in starts]
        if number > 1 and any(bins is not None and bins.max() > 0 for bins in earlier):
            found += [fit_groups(sample, find_memberships(sample, fit), following) for fit in found]
        fits.append(max(found, key=lambda fit: fit.evidence))
        if number >= 8 and len(fits) > 2 and fits[-1].evidence < fits[-2].evidence < fits[-3].evidence:
            break
    return fits


def _soften(label: NDArray[np.integer[Any]], n_groups: int) -> NDArray[np.float64]:
    """(n, G) memberships that favour one group of each user; users without one, -1, are in any."""
    start = np.full((len(label), n_groups), 0.1 / n_groups)
    known = np.flatnonzero(label >= 0)
    start[known, label[known]] += 0.9
    return np.asarray(start / start.sum(axis=1, keepdims=True))


def _choose_reliable(
    posterior: GroupPosterior, fits: Sequence[Groups], rounds: Sequence[SeriesRound], sample: Sample
) -> GroupPosterior:
    """Take the largest number of groups that the evidence supports and that users are assigned to reliably."""
    judged = [each for t, each in enumerate(rounds) if t > 0 and each.bins is not None and each.n_bins > 1]
    allowed = [fit for fit in fits if 1 < len(fit.weight) <= posterior.n_groups]
    if not judged or not allowed:
        return posterior
    users, contacts = sample.users, sample.reports.contacts
    seen = [SeriesRound(each.reports[users], np.asarray(each.bins)[users], each.epsilon_report) for each in judged]
    members = [find_memberships(sample.reports, fit) for fit in allowed]
    certainty = np.array([float(contacts @ member.max(axis=1) / contacts.sum()) for member in members])
    found = [estimate_modularity(member.argmax(axis=1), member.shape[1], seen, contacts) for member in members]
    modularity = np.array(found)
    score = modularity * certainty
    reliable = score >= score.max() - RELIABLE * abs(float(score.max()))
    certain = certainty >= CERTAIN
    if certain.any():
        most = float(modularity[certain].max())
        reliable |= certain & (modularity >= most - TOLERABLE * abs(most))
    chosen = int(np.flatnonzero(reliable)[-1])
    return replace(posterior, groups=allowed[chosen], modularity=float(modularity[chosen]))
