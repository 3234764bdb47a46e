"""The kernels of the mixture model are held to their formulas, and a fit finds groups that are plain to see."""

from __future__ import annotations

import numpy as np
import pytest

from privact.learn.evidence.series._mixture import add_log_likelihood, add_profile_statistics
from privact.learn.evidence.series.free_profiles import FreeProfiles
from privact.learn.evidence.series.mixture import SideBySide, find_memberships, fit_groups
from privact.learn.evidence.series.mixture_plain import plain_log_likelihood, plain_profile_statistics
from privact.learn.evidence.series.report_laws import tabulate_laws


@pytest.fixture(scope="module")
def reports():
    """Twenty users of two groups in a round of four bins: the first half meets bins 0 and 1, the second bins 2 and 3."""
    rng = np.random.default_rng(3)
    contacts = rng.uniform(5.0, 60.0, 20)
    profile = np.repeat([[0.45, 0.45, 0.05, 0.05], [0.05, 0.05, 0.45, 0.45]], 10, axis=0)
    laws = tabulate_laws([0.5], 60.0)
    noisy = rng.poisson(contacts[:, None] * profile) + rng.geometric(0.4, (20, 4)) - rng.geometric(0.4, (20, 4))
    return SideBySide(
        laws.find_columns(noisy.astype(float)), np.zeros(4, np.int64), np.zeros(4, np.int64), contacts, np.full(4, 0.25), laws
    )


def test_the_kernels_are_their_formulas(reports):
    rng = np.random.default_rng(0)
    profile = rng.dirichlet(np.ones(4), 3)
    member = rng.dirichlet(np.ones(3), 20)
    member[0] = [1.0, 0.0, 0.0]
    found = np.zeros((20, 3))
    table = reports.laws.log_probability
    add_log_likelihood(reports.column, reports.law_of, reports.contacts, profile, table, found)
    np.testing.assert_allclose(found, plain_log_likelihood(reports, profile), rtol=1e-5)
    score, fisher = np.zeros((3, 4)), np.zeros((3, 4))
    add_profile_statistics(
        reports.column, reports.law_of, reports.contacts, profile, table, reports.laws.information, member, score, fisher
    )
    plain = plain_profile_statistics(reports, profile, member)
    np.testing.assert_allclose(score, plain[0], rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(fisher, plain[1], rtol=1e-6)


def test_two_groups_that_differ_are_found_from_a_start_that_is_mostly_wrong(reports):
    start = np.full((20, 2), 0.5)
    start[:10, 0] += 0.05
    start[:10, 1] -= 0.05
    label = find_memberships(reports, fit_groups(reports, start, FreeProfiles(reports))).argmax(axis=1)
    assert (label[:10] == label[0]).all()
    assert (label[10:] == 1 - label[0]).all()


def test_a_law_adds_up_to_one_and_has_the_variance_of_count_and_noise():
    laws = tabulate_laws([0.7, None], 30.0)
    probability = np.exp(laws.log_probability.astype(float))
    value = laws.lowest + np.arange(probability.shape[2])
    rate = (0.125 * (np.arange(probability.shape[1]) + 0.5)) ** 2
    q = np.exp(-0.7)
    for law, noise in ((0, 2 * q / (1 - q) ** 2), (1, 0.0)):
        row = 30
        total = probability[law, row].sum()
        mean = (probability[law, row] * value).sum() / total
        assert total == pytest.approx(1.0, abs=1e-3)
        assert mean == pytest.approx(rate[row], rel=1e-3)
        assert ((value - mean) ** 2 * probability[law, row]).sum() == pytest.approx(rate[row] + noise, rel=1e-2)
