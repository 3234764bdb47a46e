"""From the reports of a series to the groups of its users; the reports decide how many groups there are.

Two criteria bound the number of groups. The evidence of the mixture says how many profiles the reports tell apart. The held-out
modularity says up to how many groups users can be assigned reliably: each of the last two rounds in turn is left out of the
inference and used to judge it. The result is the largest number within a tenth of the best modularity that the evidence supports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.contact_numbers import ContactNumbers, fit_contact_numbers
from privact.learn.evidence.series.held_out_modularity import estimate_modularity
from privact.learn.evidence.series.mixture import Groups, SideBySide, find_memberships, fit_groups
from privact.learn.evidence.series.own_bin_evidence import THRESHOLD, combine_evidence, measure_evidence
from privact.learn.evidence.series.report_laws import LARGEST, ReportLaws, tabulate_laws
from privact.learn.evidence.series.series_rounds import SeriesRound, combine_totals
from privact.learn.evidence.series.spectral_start import find_principal_points, group_by_means
from privact.progress import Progress, ignore_progress

__all__ = ["NUMBERS", "GroupPosterior", "infer_groups"]

NUMBERS = (1, 2, 3, 4, 6, 8, 12, 16)
"""Numbers of groups that are tried."""

PARSIMONY = 0.004
"""Take fewer groups if they lose at most this share of what groups explain: the reports of one user in several rounds share the
chance of who the contacts are, which the model does not know and more groups seem to explain."""

RELIABLE = 0.9
"""Take more groups if their held-out modularity is at least this share of the best."""

SAMPLE = 20_000
"""The most users that the profiles of groups are learned from."""

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
    modularity: held-out estimate of the modularity of `groups`; None with fewer than two rounds.
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
        n = len(rounds[0].reports)
        contacts = self.numbers.expect(combine_totals(rounds)[0])
        found = np.empty(n, np.int64)
        for first in range(0, n, BLOCK):
            part = slice(first, first + BLOCK)
            rows = np.hstack([each.reports[part] for each in rounds])
            found[part] = self.memberships(rows, contacts[part], groups or self.groups).argmax(axis=1)
        return found


def infer_groups(
    rounds: Sequence[SeriesRound],
    numbers: Sequence[int] = NUMBERS,
    *,
    judge: bool = True,
    seed: int = 0,
    progress: Progress = ignore_progress,
) -> GroupPosterior:
    """Infer the groups of all users from all rounds so far. It reads reports and public bins only and costs no privacy.

    rounds: in the order they were played.
    numbers: numbers of groups to try, ascending.
    judge: bound the number of groups by held-out modularity; False takes the evidence alone, in a third of the time.
    seed: decides the starts; the same reports and seed give the same groups.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):  # sums must not depend on how many cores share them
        posterior, fits = _infer(rounds, numbers, seed, progress)
        if not judge or len(rounds) < 2 or len(fits) < 2:
            return posterior
        return _bound_by_modularity(posterior, fits, rounds, numbers, seed, progress)


def _infer(
    rounds: Sequence[SeriesRound], numbers: Sequence[int], seed: int, progress: Progress
) -> tuple[GroupPosterior, list[Groups]]:
    """The posterior whose number of groups the evidence chooses, and all fits."""
    totals, variance = combine_totals(rounds)
    law = fit_contact_numbers(totals, variance)
    rng = np.random.default_rng(seed)
    n = len(totals)
    users = np.arange(n) if n <= SAMPLE else np.sort(rng.choice(n, SAMPLE, replace=False))
    contacts = law.expect(totals[users])
    round_epsilons = tuple(each.epsilon_report for each in rounds)
    epsilons = tuple(sorted(set(round_epsilons), key=lambda epsilon: np.inf if epsilon is None else epsilon))
    sums = [np.maximum(np.asarray(each.reports.sum(axis=0), dtype=np.float64), 1.0) for each in rounds]
    largest = float(contacts.max())
    empty = Groups(np.ones((1, 1)), np.ones(1), -np.inf)
    posterior = GroupPosterior(
        law, tabulate_laws(epsilons, largest), epsilons, round_epsilons, tuple(each.n_bins for each in rounds),
        np.concatenate([total / total.sum() for total in sums]), empty, empty, 0.0, np.zeros(len(rounds)), None, largest,
    )  # fmt: skip
    sample = posterior.read(np.hstack([each.reports[users] for each in rounds]), contacts)
    fits = _fit_numbers(sample, numbers, rng, progress)
    evidence = np.array([fit.evidence for fit in fits])
    gain = evidence.max() - evidence[0]
    enough = int(np.flatnonzero(evidence >= evidence.max() - PARSIMONY * gain)[0])
    figures = measure_evidence(sample, [None if each.bins is None else np.asarray(each.bins)[users] for each in rounds])
    found = GroupPosterior(
        law, posterior.laws, epsilons, round_epsilons, posterior.widths, posterior.everybody,
        fits[enough], fits[int(evidence.argmax())], combine_evidence(figures), figures, None, largest,
    )  # fmt: skip
    return found, fits


def _fit_numbers(sample: SideBySide, numbers: Sequence[int], rng: np.random.Generator, progress: Progress) -> list[Groups]:
    """A mixture for each number of groups, from a spectral start; stops when the evidence has fallen twice."""
    n = len(sample.contacts)
    points, weight = find_principal_points(sample, max(min(max(numbers), sample.column.shape[1]) - 1, 1))
    fits: list[Groups] = []
    for done, number in enumerate(numbers):
        progress("inferring groups", done, len(numbers))
        label = group_by_means(points[:, : max(number - 1, 1)], weight, number, rng)
        start = np.full((n, number), 0.1 / number)
        start[np.arange(n), label] += 0.9
        fits.append(fit_groups(sample, start))
        if number >= 8 and len(fits) > 2 and fits[-1].evidence < fits[-2].evidence < fits[-3].evidence:
            break
    return fits


def _bound_by_modularity(
    posterior: GroupPosterior,
    fits: Sequence[Groups],
    rounds: Sequence[SeriesRound],
    numbers: Sequence[int],
    seed: int,
    progress: Progress,
) -> GroupPosterior:
    """Take the largest number of groups that evidence supports and that is nearly the best by held-out modularity."""
    modularity: dict[int, list[float]] = {}
    for out in range(max(1, len(rounds) - 2), len(rounds)):
        judged = rounds[out]
        if judged.bins is None:
            continue
        others = [each for t, each in enumerate(rounds) if t != out]
        without, found = _infer(others, numbers, seed, progress)
        contacts = without.numbers.expect(combine_totals(others)[0])
        for fit in found:
            number = len(fit.weight)
            value = estimate_modularity(without.find_likeliest(others, fit), number, judged, contacts)
            modularity.setdefault(number, []).append(value)
    mean = {number: float(np.mean(values)) for number, values in modularity.items() if number > 1}
    allowed = [fit for fit in fits if len(fit.weight) <= posterior.n_groups and len(fit.weight) in mean]
    if not allowed:
        return posterior
    best = max(mean[len(fit.weight)] for fit in allowed)
    chosen = [fit for fit in allowed if mean[len(fit.weight)] >= best - (1.0 - RELIABLE) * abs(best)][-1]

    return replace(posterior, groups=chosen, modularity=mean[len(chosen.weight)])
