"""Users with like reports: the weights are those of a ridge regression, and say nothing where reports do."""

from __future__ import annotations

import numpy as np
import pytest

from privact.recommend.cold_start.similar_reports import SimilarReports

RNG = np.random.default_rng(3)
CONTACTS = RNG.gamma(2.0, 3.0, (40, 3))
RATED = np.arange(40) < 30
ROWS = np.arange(30, 40)


def test_predictions_are_those_of_a_ridge_regression_by_hand():
    """Having an item, regressed on the logarithms: mean plus coefficients, penalised but for the intercept."""
    has = RNG.random(40) < 0.4
    x = np.log1p(CONTACTS)
    x = (x - x[RATED].mean(axis=0)) / np.sqrt(((x[RATED] - x[RATED].mean(axis=0)) ** 2).mean())
    y = has[RATED] - has[RATED].mean()
    stacked = np.vstack((x[RATED], np.sqrt(0.3 * 30) * np.eye(3)))
    coefficients = np.linalg.lstsq(stacked, np.append(y, np.zeros(3)), rcond=None)[0]
    inside = np.clip(x, x[RATED].min(axis=0), x[RATED].max(axis=0))
    weights = SimilarReports(CONTACTS, RATED).weights(ROWS, RATED.astype(float), 0.3)
    assert weights @ has == pytest.approx(has[RATED].mean() + inside[ROWS] @ coefficients)


def test_users_with_the_same_report_weigh_most_and_opposite_ones_least():
    contacts = np.array([[9.0, 0.0], [9.0, 0.0], [0.0, 9.0], [3.0, 3.0]])
    rated = np.array([False, True, True, True])
    same, opposite, between = 3 * SimilarReports(contacts, rated).weights(np.array([0]), rated.astype(float))[0, 1:]
    assert same > between > opposite
    assert same > 1.0 > opposite


def test_weights_sum_to_one_however_unevenly_users_count():
    voices = RATED * RNG.gamma(0.2, 5.0, 40)
    weights = SimilarReports(CONTACTS, RATED).weights(ROWS, voices)
    assert weights.sum(axis=1) == pytest.approx(1.0)
    assert (weights[:, ~RATED] == 0.0).all()


def test_nobody_is_taken_to_be_further_out_than_users_with_ratings():
    far, edge = CONTACTS.copy(), CONTACTS.copy()
    far[39], edge[39] = 1e6, CONTACTS[RATED].max(axis=0)
    weights = [SimilarReports(each, RATED).weights(np.array([39]), RATED.astype(float)) for each in (far, edge)]
    assert weights[0] == pytest.approx(weights[1])


@pytest.mark.parametrize(
    ("contacts", "ridge"),
    [
        (np.full((40, 3), 2.0), 0.3),  # all reports alike
        (np.vstack((CONTACTS[:30], np.zeros((10, 3)))), 0.3),  # no report of those who are served
        (CONTACTS, 1e12),  # held to popularity
    ],
)
def test_where_reports_say_nothing_everybody_weighs_the_same(contacts, ridge):
    weights = SimilarReports(contacts, RATED).weights(ROWS, RATED.astype(float), ridge)
    assert weights[:, RATED] == pytest.approx(1 / 30, abs=1e-9)


def test_nobody_with_ratings_is_no_failure():
    assert SimilarReports(CONTACTS, np.zeros(40, bool)).weights(ROWS, np.zeros(40)).tolist() == [[0.0] * 40] * 10
