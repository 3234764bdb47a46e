"""How many bins a round of a series has: more at first where noise is weak, one where there is nothing to see."""

from __future__ import annotations

import numpy as np
import pytest

from privact import ContactGraph
from privact.learn.evidence.series.round_bins import choose_first_bins, next_bins
from privact.learn.evidence.series.series_rounds import SeriesRound
from privact.simulate.reports import degree_vectors, simulate_reports


@pytest.mark.parametrize(
    ("epsilon_report", "n_users", "bins"), [(0.125, 1000, 8), (0.5, 1000, 8), (0.75, 1000, 18), (None, 1000, 32), (None, 9, 9)]
)
def test_first_bins_follow_the_noise(epsilon_report, n_users, bins):
    assert choose_first_bins(epsilon_report, n_users) == bins


def test_users_with_few_contacts_under_strong_noise_are_asked_for_their_number_alone():
    rng = np.random.default_rng(0)
    graph = ContactGraph.from_edges(rng.integers(0, 500, (1500, 2)))
    bins = rng.integers(0, 8, graph.n_users)
    reports = simulate_reports(degree_vectors(graph, bins, 8), 0.25, rng)
    found, n_bins = next_bins([SeriesRound(reports, bins, 0.125)])
    assert n_bins == 1
    assert not found.any()


def test_two_halves_that_never_meet_become_bins():
    half = np.repeat([0, 1], 100)
    counts = np.where(half[:, None] == np.arange(2), 20, 0)
    found, n_bins = next_bins([SeriesRound(counts, None, None)])
    assert n_bins >= 2
    assert not set(found[:100]) & set(found[100:])
