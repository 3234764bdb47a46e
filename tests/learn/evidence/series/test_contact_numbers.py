"""Numbers of contacts from noisy totals: a single bin tells most, and users are expected between the total and the others."""

from __future__ import annotations

import numpy as np
import pytest

from privact.learn.evidence.series.contact_numbers import fit_contact_numbers
from privact.learn.evidence.series.series_rounds import NoisyTotals, SeriesRound, combine_totals, noise_variance
from privact.simulate.reports import simulate_reports


@pytest.fixture(scope="module")
def contacts():
    return np.random.default_rng(0).choice([5, 40], 3000)


def _error(contacts, tables, epsilon):
    totals = combine_totals([SeriesRound(table, None, epsilon / 2) for table in tables])
    return float(np.mean((fit_contact_numbers(totals).expect(totals) - contacts) ** 2))


def test_a_round_of_one_bin_tells_more_than_one_of_eight(contacts):
    rng = np.random.default_rng(1)
    eight = simulate_reports(np.column_stack([contacts, *[np.zeros_like(contacts)] * 7]), 0.25, rng)
    one = simulate_reports(contacts[:, None], 0.25, rng)
    assert _error(contacts, [eight, one], 0.25) < 0.6 * _error(contacts, [eight, eight], 0.25)


def test_exact_totals_are_taken_as_they_are():
    totals = combine_totals([SeriesRound(np.array([[3, 4], [0, 0]]), None, None)])
    assert totals == (pytest.approx(np.array([[7.0], [0.0]])), (0.0,), (False,))
    assert fit_contact_numbers(totals).expect(totals).tolist() == [7.0, 0.5]


def test_rounds_of_several_bins_are_averaged_by_inverse_variance():
    tables = [np.array([[6, 6]]), np.array([[1, 1, 1, 1]]), np.array([[9]])]
    totals = combine_totals([SeriesRound(table, None, 0.5) for table in tables])
    one = noise_variance(0.5)
    assert isinstance(totals, NoisyTotals)
    assert totals.laplace == (True, False)
    assert totals.values.tolist() == [[9.0, pytest.approx((12 / 2 + 4 / 4) / (1 / 2 + 1 / 4))]]
    assert totals.variances == (pytest.approx(one), pytest.approx(one / (1 / 2 + 1 / 4)))
