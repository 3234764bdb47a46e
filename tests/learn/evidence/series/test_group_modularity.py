"""The modularity of groups from reports is Newman's where reports are exact and bins are the groups."""

from __future__ import annotations

import numpy as np
import pytest

from privact.learn.evidence.series.group_modularity import estimate_modularity
from privact.learn.evidence.series.series_rounds import SeriesRound

GROUP = np.repeat([0, 1], 4)
"""Two cliques of four users."""


def _clique_counts(across: int) -> np.ndarray:
    counts = np.where(GROUP[:, None] == np.arange(2), 3, across)
    return counts.astype(np.int64)


@pytest.mark.parametrize(("across", "expected"), [(0, 0.5), (1, 0.25), (3, 0.0)])
def test_two_cliques(across, expected):
    counts = _clique_counts(across)
    found = estimate_modularity(GROUP, 2, [SeriesRound(counts, GROUP, None)], counts.sum(axis=1).astype(float))
    assert found == pytest.approx(expected, abs=0.01)


def test_bins_that_mix_groups_unevenly_tell_the_same():
    bins = np.array([0, 0, 0, 1, 0, 1, 1, 1])
    counts = np.zeros((8, 2), np.int64)
    for user in range(8):
        for other in range(8):
            if other != user and GROUP[other] == GROUP[user]:
                counts[user, bins[other]] += 1
    found = estimate_modularity(GROUP, 2, [SeriesRound(counts, bins, None)], np.full(8, 3.0))
    assert found == pytest.approx(0.5, abs=0.02)


def test_one_group_has_no_modularity():
    counts = _clique_counts(0)
    assert estimate_modularity(np.zeros(8, np.int64), 1, [SeriesRound(counts, GROUP, None)], np.full(8, 3.0)) == 0.0


def test_rounds_of_two_bins_together_tell_three_groups():
    group = np.repeat([0, 1, 2], 4)
    played = []
    for bins in (np.where(group == 0, 0, 1), np.where(group == 1, 0, 1)):
        counts = np.zeros((12, 2), np.int64)
        counts[np.arange(12), bins] = 3
        played.append(SeriesRound(counts, bins, None))
    assert estimate_modularity(group, 3, played, np.full(12, 3.0)) == pytest.approx(2 / 3, abs=0.01)
    assert estimate_modularity(group, 3, played[:1], np.full(12, 3.0)) < 0.5
