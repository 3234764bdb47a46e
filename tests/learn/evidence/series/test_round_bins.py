"""How many bins a round of a series has: more at first where noise is weak, one where there is nothing to see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from privact import ContactGraph
from privact.learn.evidence.series.group_posterior import infer_groups
from privact.learn.evidence.series.mixture import Groups
from privact.learn.evidence.series.round_bins import NextBins, choose_first_bins, next_bins
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


def test_users_whose_reports_tell_little_do_not_all_join_the_largest_group():
    reports = np.repeat([[12, 8], [8, 12]], 50, axis=0)
    rounds = [SeriesRound(reports, None, 0.25)]
    unequal = Groups(np.array([[0.6, 0.4], [0.4, 0.6]]), np.array([0.95, 0.05]), 0.0)
    posterior = replace(infer_groups(rounds, (1,)), finer=unequal)
    assert not posterior.find_likeliest(rounds, unequal).any()  # by the weights everybody is in the first group
    found, n_bins = NextBins(posterior).label(rounds)
    assert n_bins == 2
    np.testing.assert_array_equal(found, np.repeat([0, 1], 50))


@pytest.mark.parametrize(("contacts", "bins"), [(23, 8), (5, 1)])
def test_a_series_that_has_seen_nothing_goes_on_only_where_small_communities_could_be_seen(contacts, bins):
    rng = np.random.default_rng(1)
    graph = ContactGraph.from_edges(rng.integers(0, 400, (200 * contacts, 2)))  # no communities
    rounds = []
    for _ in range(2):
        own = rng.integers(0, 8, graph.n_users)
        rounds.append(SeriesRound(simulate_reports(degree_vectors(graph, own, 8), 2 / 3, rng), own, 1 / 3))
    assert infer_groups(rounds, (1, 2)).n_groups == 1
    assert next_bins(rounds)[1] == bins
