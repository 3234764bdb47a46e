"""Does a series see who, or only how many? A figure from reports alone that stays low where there is nothing to see.

The bins of a round were made from earlier reports, whose noise is independent of this round's. If bins are communities, users
have more contacts in their own bin than other users with as many contacts have there. The figure adds the scores of all reports
in the user's own bin, in standard deviations of noise and chance. Users with many contacts avoid each other in any simple graph,
which follows from how many they have; so shifts are measured among users with as many contacts, and only an excess counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.mixture import SideBySide
from privact.learn.evidence.series.spectral_start import score_reports

__all__ = ["THRESHOLD", "combine_evidence", "measure_evidence", "measure_first"]

THRESHOLD = 7.0
"""Above this a series sees communities. Later rounds amplify chance too: random contacts reached 6.0 in 160 series, and 6.9 by an
earlier inference."""

STRATA = 16
"""Classes of users by number of contacts, within which shifts are measured."""


def measure_evidence(reports: SideBySide, bins: Sequence[NDArray[np.integer[Any]] | None]) -> NDArray[np.float64]:
    """(rounds,) the figure of each round; 0 for the first round and for rounds of one bin or unknown bins.

    bins: the public bins of the users in `reports`, for each round.
    """
    return _measure_rounds(reports, [None, *bins[1:]])


def measure_first(reports: SideBySide, own: NDArray[np.integer[Any]] | None) -> float:
    """The figure of the first round: near 0 for random bins, large for public labels that are communities.

    It is no evidence of a series, because labels need not come from reports; it says whether the round tells who already.
    """
    return float(_measure_rounds(reports, [own])[0])


def _measure_rounds(reports: SideBySide, bins: Sequence[NDArray[np.integer[Any]] | None]) -> NDArray[np.float64]:
    scores = score_reports(reports)
    score = _centre_within_strata(scores.score, scores.precision, reports.contacts)
    figures = np.zeros(len(bins))
    for t, own in enumerate(bins):
        inside = reports.round_of == t
        if own is not None and inside.sum() > 1:
            axis = np.sqrt(reports.everybody[inside])
            figures[t] = _excess_in_own_bin(score[:, inside], scores.precision[:, inside], own, axis)
    return figures


def combine_evidence(figures: NDArray[np.float64]) -> float:
    """One figure for a series: the rounds with bins to judge together; 0 if there is none."""
    later = figures[figures != 0.0]
    return float(later.sum() / np.sqrt(len(later))) if len(later) else 0.0


def _centre_within_strata(
    score: NDArray[np.float64], precision: NDArray[np.float64], contacts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Scores less what users with as many contacts have in common."""
    stratum = np.searchsorted(np.quantile(contacts, np.linspace(0.0, 1.0, STRATA + 1)[1:-1]), contacts)
    centred = score.copy()
    for s in range(STRATA):
        chosen = stratum == s
        known = np.maximum(precision[chosen].sum(axis=0), 1e-12)
        centred[chosen] -= precision[chosen] * (score[chosen].sum(axis=0) / known)
    return centred


def _excess_in_own_bin(
    score: NDArray[np.float64],
    precision: NDArray[np.float64],
    bins: NDArray[np.integer[Any]],
    axis: NDArray[np.float64],
) -> float:
    """How many more contacts users have in their own bin than elsewhere, in standard deviations of noise.

    axis: (K,) how an error in the number of contacts shifts a report; that direction is taken out of each report.
    """
    users = np.flatnonzero(bins >= 0)
    own, row = bins[users], np.arange(len(users))
    along = precision[users] * axis
    whole = np.maximum((along * axis).sum(axis=1), 1e-12)
    level = (score[users] * axis).sum(axis=1) / whole
    value = score[users, own] - along[row, own] * level
    variance = precision[users, own] - along[row, own] ** 2 / whole
    return float(value.sum() / np.sqrt(max(variance.sum(), 1e-12)))
