"""Cells of users by the shifts of their first reports."""

from __future__ import annotations

import numpy as np

from privact.learn.evidence.series.group_posterior import infer_groups
from privact.learn.evidence.series.report_cells import ReportCells, find_cells
from privact.learn.evidence.series.round_bins import infer_next
from privact.learn.evidence.series.series_rounds import SeriesRound, combine_totals


def read_round(reports, epsilon_report):
    """Reports of one round as the model reads them."""
    played = SeriesRound(reports, None, epsilon_report)
    known = infer_groups([played], (1,))
    return known.read(reports, known.numbers.expect(combine_totals([played])))


def test_users_who_report_opposite_shifts_are_in_different_cells():
    side = np.arange(200) % 2
    reports = np.where(side[:, None] == [0, 1], 40, 10)
    read = read_round(reports, 0.25)
    cells = find_cells(read, 2, np.random.default_rng(0)).find_nearest(read)
    assert len(set(cells[side == 0])) == len(set(cells[side == 1])) == 1
    assert cells[0] != cells[1]


def test_the_number_of_contacts_alone_decides_no_cell():
    """Users whose contacts are spread alike over the bins shift in no direction, however many they have."""
    few, many = np.full((1, 4), 5), np.full((1, 4), 50)
    shifted = np.array([[50, 20, 20, 20], [20, 50, 20, 20], [20, 20, 50, 20], [20, 20, 20, 50]])
    read = read_round(np.concatenate([few, many, np.tile(shifted, (25, 1))]), 0.25)
    near = ReportCells(np.vstack([np.zeros(4), 0.4 * np.eye(4)])).find_nearest(read)
    assert near[:2].tolist() == [0, 0]
    assert near[2:6].tolist() == [1, 2, 3, 4]


def test_the_second_round_of_a_noisy_series_has_cells_as_bins():
    rng = np.random.default_rng(0)
    block = np.arange(600) % 4
    reports = rng.poisson(np.where(block[:, None] % 2 == np.arange(8) % 2, 12, 3)) + np.rint(rng.laplace(0, 8, (600, 8))).astype(
        int
    )
    following = infer_next([SeriesRound(reports, None, 0.125)])
    assert following.cells is not None
    bins, n_bins = following.label([SeriesRound(reports, None, 0.125)])
    assert 2 <= n_bins <= 8
    mix = np.stack([np.bincount(bins[block % 2 == side], minlength=n_bins) for side in (0, 1)]) / 300
    assert np.abs(mix[0] - mix[1]).sum() > 0.8  # 0 if bins knew nothing of the two halves, 2 if they were separate


def test_a_first_round_without_noise_needs_no_cells():
    half = np.repeat([0, 1], 100)
    assert infer_next([SeriesRound(np.where(half[:, None] == np.arange(2), 20, 0), None, None)]).cells is None


def test_labels_that_are_communities_need_no_cells():
    rng = np.random.default_rng(0)
    label = np.arange(600) % 4
    reports = rng.poisson(np.where(label[:, None] == np.arange(4), 20, 3)) + np.rint(rng.laplace(0, 8, (600, 4))).astype(int)
    assert infer_next([SeriesRound(reports, label, 0.125)]).cells is None
    assert infer_next([SeriesRound(reports, rng.permutation(label), 0.125)]).cells is not None
