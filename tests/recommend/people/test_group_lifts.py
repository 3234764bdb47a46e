"""Affinity of groups: what is there is found, and noise is not taken for it."""

from __future__ import annotations

import numpy as np
import pytest

from privact.recommend.people.group_lifts import fit_group_lifts
from privact.recommend.people.user_lifts import fit_user_lifts
from privact.simulate.reports import simulated_noise

GROUP = np.arange(400) % 2


def test_two_closed_groups_have_twice_the_contacts_of_chance_inside_and_the_least_across() -> None:
    reports = np.where(GROUP[:, None] == np.arange(2), 10, 0)
    found = fit_group_lifts(reports, GROUP, 0.0)
    assert found.everybody.tolist() == [0.5, 0.5]
    assert found.lift == pytest.approx(np.array([[2.0, 0.05], [0.05, 2.0]]), abs=0.03)
    assert found.shares[2].tolist() == [0.5, 0.5]
    assert found.shares[0, 0] > 0.95


def test_reports_of_unrelated_groups_leave_every_lift_near_1() -> None:
    rng = np.random.default_rng(4)
    reports = rng.poisson(5.0, (400, 2)) + simulated_noise((400, 2), 0.5, rng)
    found = fit_group_lifts(reports, GROUP, 8.0)
    assert found.lift == pytest.approx(np.ones((2, 2)), abs=0.05)


def test_users_differ_only_where_reports_say_so() -> None:
    rng = np.random.default_rng(5)
    shares = np.full((1, 4), 0.25)
    row = np.zeros(1_000, np.int64)
    contacts = rng.integers(10, 40, 1_000)
    alike = rng.poisson(contacts[:, None] * shares[0]) + simulated_noise((1_000, 4), 1.0, rng)
    assert np.isinf(fit_user_lifts(alike, row, shares, 1.0).shape)

    favourite = rng.integers(0, 4, 1_000)
    mine = np.where(favourite[:, None] == np.arange(4), 0.7, 0.1)
    found = fit_user_lifts(rng.poisson(contacts[:, None] * mine) + simulated_noise((1_000, 4), 1.0, rng), row, shares, 1.0)
    assert (found.log_lift.argmax(axis=1) == favourite).mean() > 0.95
    assert np.corrcoef(found.contacts, contacts)[0, 1] > 0.85


def test_hubs_beyond_the_tables_keep_their_number_of_contacts() -> None:
    reports = np.full((50, 4), 5)
    reports[0] = 25_000
    found = fit_user_lifts(reports, np.zeros(50, np.int64), np.full((1, 4), 0.25), 1.0)
    assert found.contacts[0] == pytest.approx(100_000, rel=0.1)
    assert found.contacts[1:] == pytest.approx(np.full(49, 20.0), rel=0.2)
