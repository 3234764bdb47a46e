"""The public bins of each round of a series: random at first, then the groups found so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.group_posterior import GroupPosterior, draw_sample, infer_groups
from privact.learn.evidence.series.mixture import Groups
from privact.learn.evidence.series.own_bin_evidence import THRESHOLD, measure_first
from privact.learn.evidence.series.report_cells import ReportCells, find_cells
from privact.learn.evidence.series.series_rounds import SeriesRound, combine_totals, noise_variance
from privact.learn.limits import LIMITS, Limits
from privact.progress import Progress, ignore_progress

__all__ = ["FIRST_BINS", "NextBins", "choose_first_bins", "infer_next", "next_bins"]

FIRST_BINS, MOST_FIRST_BINS = 8, 32
"""Random bins of the first round under strong noise, and without noise."""

CONTACTS = 30
"""Contacts of a user that the number of first bins is chosen for."""

EARLY = 8
"""Bins of the second and, under noise, of the third round: as long as little is known, more groups than the evidence supports
keep more of it."""

LATER = (6, 8, 12)
"""Numbers of groups that are tried as bins of later rounds: the one with the highest evidence is used."""

FEW = (1, 2, 3, 4)
"""Numbers of groups by which a series decides whether there is anything to see."""

HOPE = 1.5
"""While the evidence is above this, a series goes on to look for communities even if one group explains the reports best."""

SMALL_COMMUNITY = 100
"""Users of a community that is easy to see, by which a series judges after one or two rounds whether it can see anything."""

PATIENCE = 2
"""After at most so many rounds a series that has seen nothing still goes on, if there is enough signal."""

ENOUGH_SIGNAL = 1.0
"""The signal of small communities from which on they can be seen, see `_measure_signal`."""


def choose_first_bins(epsilon_report: float | None, n_users: int) -> int:
    """How many random bins the first round has.

    The signal about communities in a report of d contacts is proportional to 1 / (d / K + v), v the variance of the noise in a
    bin: more bins help as long as d / K is not small beside v, and then only add noise.

    epsilon_report: the privacy parameter of one report of the round; None without noise.
    """
    noise = noise_variance(epsilon_report)
    wish = MOST_FIRST_BINS if noise == 0.0 else round(2 * CONTACTS / noise)
    return min(max(wish, FIRST_BINS), MOST_FIRST_BINS, n_users)


class NextBins(NamedTuple):
    """Decides the public bins of the next round.

    posterior: what is known after the rounds so far; its finer groups are the bins.
    cells: the bins where one noisy round does not tell groups yet; None where it does.
    """

    posterior: GroupPosterior
    cells: ReportCells | None = None

    def label(self, rounds: Sequence[SeriesRound]) -> tuple[NDArray[np.int64], int]:
        """The public bin of each user in the next round, and the number of bins.

        rounds: the reports of the users who get a bin, the same rounds in the same order.
        """
        n = len(rounds[0].reports)
        if self.cells is not None:
            label = self.posterior.label_users(rounds, self.cells.find_nearest)
        elif len(self.posterior.finer.weight) == 1:
            return np.zeros(n, np.int64), 1
        else:
            label = self.posterior.find_likeliest(rounds, _weigh_equally(self.posterior.finer))
        present, bins = np.unique(label, return_inverse=True)
        if len(present) < 2:  # nothing tells users apart: halves in any order keep the round useful
            return np.arange(n, dtype=np.int64) % 2, 2
        return bins.astype(np.int64), len(present)


def next_bins(
    rounds: Sequence[SeriesRound], *, seed: int = 0, progress: Progress = ignore_progress
) -> tuple[NDArray[np.int64], int]:
    """The public bin of each user in the next round, and the number of bins, from all rounds so far.

    A series that has seen nothing after three rounds, or earlier if even small communities would stay below the noise, asks for
    the number of contacts alone, in a single bin: that has the least noise, and the tree will compare users by it.

    seed: decides the starts of the inference; the same reports and seed give the same bins.
    """
    return infer_next(rounds, seed=seed, progress=progress).label(rounds)


def infer_next(
    rounds: Sequence[SeriesRound], *, seed: int = 0, progress: Progress = ignore_progress, limits: Limits = LIMITS
) -> NextBins:
    """What decides the bins of the next round, from all rounds so far; arguments as for `next_bins`.

    limits: where large networks are sampled.
    """
    few = infer_groups(rounds, FEW, seed=seed, progress=progress, limits=limits)
    weak = len(rounds) > PATIENCE or _measure_signal(few, len(rounds[0].reports)) < ENOUGH_SIGNAL
    if weak and len(few.finer.weight) == 1 and few.evidence < HOPE:
        return NextBins(few)
    if len(rounds) > 1:
        numbers = (EARLY,) if len(rounds) == 2 and _is_noisy(rounds[0]) else LATER
        return NextBins(infer_groups(rounds, numbers, seed=seed, progress=progress, limits=limits))
    cells = _make_cells(few, rounds[0], seed, limits) if _is_noisy(rounds[0]) else None
    if cells is not None:
        return NextBins(few, cells)
    return NextBins(infer_groups(rounds, (EARLY,), seed=seed, progress=progress, limits=limits))


def _weigh_equally(groups: Groups) -> Groups:
    """The same groups, each as likely before a report is read: users whose reports tell little do not all join the largest."""
    return groups._replace(weight=np.full(len(groups.weight), 1.0 / len(groups.weight)))


def _is_noisy(first: SeriesRound) -> bool:
    """Whether noise hides in which directions communities differ: few bins, each with more noise than chance."""
    usual = choose_first_bins(first.epsilon_report, max(len(first.reports), FIRST_BINS))
    return first.n_bins <= FIRST_BINS and usual == FIRST_BINS


def _make_cells(posterior: GroupPosterior, first: SeriesRound, seed: int, limits: Limits) -> ReportCells | None:
    """Cells by the reports of the first round; None where its bins are public labels that tell communities already."""
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(seed)
    users = draw_sample(len(first.reports), rng, limits)
    bins = None if first.bins is None else np.asarray(first.bins)[users]
    some = SeriesRound(first.reports[users], bins, first.epsilon_report)
    sample = posterior.read(np.asarray(some.reports), posterior.numbers.expect(combine_totals([some])))
    with threadpool_limits(1, "blas"):  # sums must not depend on how many cores share them
        if measure_first(sample, bins) > THRESHOLD:
            return None
        return find_cells(sample, min(EARLY, len(users)), rng)


def _measure_signal(posterior: GroupPosterior, n_users: int) -> float:
    """How far small communities stand out in the first round; principal components see them above 1.

    A community of s users differs from others by d^2 / (s K) in each of K bins (squared), against a variance of d / K + v. The
    leading component of n such reports follows the communities if K times that ratio is above sqrt(K / n).
    """
    law, grid, n_bins = posterior.numbers.law, posterior.numbers.grid, posterior.widths[0]
    variance = float(law @ grid) / n_bins + noise_variance(posterior.round_epsilons[0])
    return float(law @ grid**2 / SMALL_COMMUNITY / variance * np.sqrt(n_users / n_bins))
