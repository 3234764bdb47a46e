"""The tables of a report's law against sums over counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import nbinom, poisson

from privact.recommend.people.count_laws import tabulate_counts


@pytest.mark.parametrize("shape", [np.inf, 4.0, 0.5])
def test_probability_and_expectation_of_a_report_are_sums_over_counts(shape: float) -> None:
    epsilon = 0.7
    laws = tabulate_counts(30.0, shape, epsilon)
    row = int(laws.find_rows(np.array([6.0]))[0])
    mean = laws.means[row]
    counts = np.arange(200)
    law = poisson.pmf(counts, mean) if np.isinf(shape) else nbinom.pmf(counts, shape, shape / (shape + mean))
    for report in (-8, 0, 5, 25):
        noise = np.tanh(epsilon / 2.0) * np.exp(-epsilon * np.abs(report - counts))
        column = laws.find_columns(np.array([float(report)]))[0]
        assert laws.log_probability[row, column] == pytest.approx(np.log((law * noise).sum()), abs=1e-3)
        assert laws.expected[row, column] == pytest.approx((law * noise * counts).sum() / (law * noise).sum(), abs=0.02)


def test_without_noise_the_report_is_the_count() -> None:
    laws = tabulate_counts(20.0, 2.0, None)
    column = laws.find_columns(np.array([7.0]))
    row = laws.find_rows(np.array([3.0]))
    assert laws.expected[row, column] == 7.0
    assert laws.expected_lifts(row, column)[0] == pytest.approx((2.0 + 7.0) / (2.0 + laws.means[row[0]]))


def test_users_who_do_not_differ_have_lift_1() -> None:
    laws = tabulate_counts(20.0, np.inf, 1.0)
    assert laws.expected_lifts(np.array([3, 80]), np.array([1, 40])).tolist() == [1.0, 1.0]
