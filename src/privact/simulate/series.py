"""Play a series of rounds on a whole network in this process: for research, never for devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.round_bins import next_bins
from privact.learn.evidence.series.series_rounds import SeriesRound
from privact.network.graph import ContactGraph
from privact.progress import Progress, ignore_progress
from privact.protocol.promise import epsilon_per_report
from privact.simulate.reports import degree_vectors, simulate_reports

__all__ = ["PlayedRound", "play_series"]


class PlayedRound(NamedTuple):
    """One round of a series, as everybody may know it.

    bins: (n,) public bin of each user, -1 for none. n_bins: the number of bins.
    reports: (n, n_bins) what devices sent. epsilon: the promise per edge in this round; None without noise.
    evidence: how many more contacts users have in their own bins than chance gives, in standard deviations.
    """

    bins: NDArray[np.integer[Any]]
    n_bins: int
    reports: NDArray[np.int64]
    epsilon: float | None
    evidence: float | None = None

    @property
    def epsilon_report(self) -> float | None:
        """The privacy parameter of one report; None without noise."""
        return None if self.epsilon is None else epsilon_per_report(self.epsilon)


def play_series(
    graph: ContactGraph,
    epsilon: float | None,
    n_rounds: int,
    bins: NDArray[np.integer[Any]],
    n_bins: int,
    rng: np.random.Generator,
    progress: Progress = ignore_progress,
) -> list[PlayedRound]:
    """Play rounds that share epsilon equally; the groups found so far are the bins of the next round.

    epsilon: the promise per edge over all rounds together; None for no noise.
    bins, n_bins: the public bins of the first round. rng: draws the noise.
    """
    played: list[PlayedRound] = []
    share = None if epsilon is None else epsilon / n_rounds
    for number in range(n_rounds):
        progress("playing rounds", number, n_rounds)
        reports = simulate_reports(degree_vectors(graph, bins, n_bins), share, rng)
        played.append(PlayedRound(bins, n_bins, reports, share))
        if number < n_rounds - 1:
            bins, n_bins = next_bins(_as_series(played))
    return played


def _as_series(played: Sequence[PlayedRound]) -> list[SeriesRound]:
    return [SeriesRound(each.reports, each.bins, each.epsilon_report) for each in played]
