"""The public bins of each round of a series: random at first, then the groups found so far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.group_posterior import infer_groups
from privact.learn.evidence.series.series_rounds import SeriesRound
from privact.progress import Progress, ignore_progress

__all__ = ["FIRST_BINS", "next_bins"]

FIRST_BINS = 8
"""Random bins of the first round. More of them carry no more signal than noise allows; fewer depend more on luck."""

SECOND = (8,)
"""Groups after the first round, when hardly anything is known: as many as bins, so that none is merged too early."""

LATER = (6, 8, 12)
"""Groups that are tried after later rounds: the number with the highest evidence is used."""


def next_bins(
    rounds: Sequence[SeriesRound], *, seed: int = 0, progress: Progress = ignore_progress
) -> tuple[NDArray[np.int64], int]:
    """The public bin of each user in the next round, and the number of bins, from all rounds so far.

    seed: decides the starts of the inference; the same reports and seed give the same bins.
    """
    posterior = infer_groups(rounds, SECOND if len(rounds) == 1 else LATER, judge=False, seed=seed, progress=progress)
    label = posterior.find_likeliest(rounds, posterior.finer)
    present, bins = np.unique(label, return_inverse=True)
    if len(present) < 2:  # nothing tells users apart: halves in any order keep the round useful
        return np.asarray(np.arange(len(label)) % 2, dtype=np.int64), 2
    return bins.astype(np.int64), len(present)
