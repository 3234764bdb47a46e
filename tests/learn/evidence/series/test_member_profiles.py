"""Profiles that follow the bins of the members: two groups of four users whose expected profiles can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from privact.learn.evidence.series.free_profiles import FreeProfiles
from privact.learn.evidence.series.member_profiles import INSIDE, MemberProfiles
from privact.learn.evidence.series.mixture import LEAST, Expected, SideBySide, find_memberships, fit_groups
from privact.learn.evidence.series.report_laws import tabulate_laws

MEMBER = np.repeat(np.eye(2), 4, axis=0)  # users 0 to 3 are in group 0, 4 to 7 in group 1
BINS = np.array([0, 0, 0, 1, 1, 1, 1, 1])  # three of four members of group 0 are in bin 0, none of group 1
EVEN = np.full(4, 0.5)
LAWS = tabulate_laws([None], 10.0)


def _prior(bins=BINS, everybody=EVEN):
    """Of two rounds of two bins each and eight users with ten contacts; the first round is random."""
    reports = SideBySide(
        np.zeros((8, 4), np.int32), np.zeros(4, np.int64), np.array([0, 0, 1, 1]), np.full(8, 10.0), everybody, LAWS
    )
    return MemberProfiles(reports, [None, bins])


def _centre(best, **parts):
    prior = _prior(**parts)
    return prior.follow(prior.begin(2), MEMBER, np.asarray(best), np.ones((2, 4))).centre


def test_a_profile_is_moved_to_where_its_members_are_by_the_share_of_contacts_inside():
    shift = np.array([[0.375, -0.375], [-0.375, 0.375]])  # 3/4 and 0 of the members are in bin 0, 3/8 of all
    half = _centre(np.hstack([np.full((2, 2), 0.5), 0.5 + 0.5 * shift]))
    np.testing.assert_allclose(half[:, 2:], 0.5 + 0.5 * shift)


def test_the_first_round_and_groups_that_avoid_themselves_keep_everybodys_shares():
    away = _centre([[0.9, 0.1, 0.1, 0.9], [0.1, 0.9, 0.9, 0.1]])
    np.testing.assert_allclose(away, 0.5)


def test_users_without_a_bin_do_not_count():
    centre = _centre([[0.5, 0.5, 1.0, 0.0], [0.5, 0.5, 0.0, 1.0]], bins=np.array([0, 0, 0, -1, -1, 1, 1, 1]))
    np.testing.assert_allclose(centre[:, 2:], [[1.0, 0.0], [0.0, 1.0]], atol=LEAST)


def test_a_group_without_members_in_any_bin_is_expected_to_be_like_everybody():
    best = [[0.5, 0.5, 0.9, 0.1], [0.5, 0.5, 0.9, 0.1]]
    np.testing.assert_allclose(_centre(best, bins=np.array([0, 0, 1, 1, -1, -1, -1, -1])), 0.5)


def test_expected_shares_are_above_zero_and_add_up_to_one():
    rare = np.array([0.5, 0.5, 0.999, 0.001])  # noise left hardly any contact in the last bin, where five of eight users are
    centre = _centre([[0.5, 0.5, 1.0, 0.0], [0.5, 0.5, 0.0, 1.0]], everybody=rare)
    assert (centre > 0.0).all()
    np.testing.assert_allclose(centre[:, 2:].sum(axis=1), 1.0)


def test_profiles_vary_at_least_by_chance_and_more_where_the_reports_say_so():
    at_rest = np.full((2, 4), 0.5)
    apart = at_rest + np.array([[0.0, 0.0, 0.3, -0.3], [0.0, 0.0, -0.3, 0.3]])
    certain = np.full((2, 4), 1e12)

    def widen(member):
        return _prior().widen(Expected(at_rest, np.ones((2, 4))), member, apart, certain).spread

    np.testing.assert_allclose(widen(MEMBER)[:, :2], 0.5 * INSIDE**2 / 4)  # four members in each group
    np.testing.assert_allclose(widen(MEMBER)[:, 2:], 0.09)  # 0.3^2, which is more than chance gives
    np.testing.assert_allclose(widen(MEMBER / 4.0)[:, 2:], 0.5 * INSIDE**2)


@pytest.fixture(scope="module")
def two_rounds():
    """300 users of three groups: a round of random bins, and one whose bins are two thirds right, under strong noise."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(3), 100)
    bins = np.where(rng.random(300) < 2 / 3, group, rng.integers(0, 3, 300))
    inside = np.stack([np.bincount(bins[group == g], minlength=3) / 100 for g in range(3)])
    profile = np.hstack([np.full((3, 3), 1 / 3), 0.8 * inside + 0.2 / 3])
    contacts = np.full(300, 30.0)
    noise = rng.geometric(1 - np.exp(-0.3), (2, 300, 6))
    reports = rng.poisson(contacts[:, None] * profile[group]) + noise[0] - noise[1]
    laws = tabulate_laws([0.3], 30.0)
    column = laws.find_columns(reports.astype(float))
    side = SideBySide(column, np.zeros(6, np.int64), np.repeat([0, 1], 3), contacts, np.full(6, 1 / 3), laws)
    return group, bins, profile, side


def test_profiles_that_follow_the_bins_have_more_evidence_and_are_nearer_the_truth(two_rounds):
    group, bins, profile, reports = two_rounds
    start = np.full((300, 3), 0.2) + 0.4 * np.eye(3)[bins]
    free = fit_groups(reports, start, FreeProfiles(reports))
    tied = fit_groups(reports, find_memberships(reports, free), MemberProfiles(reports, [None, bins]))
    assert tied.evidence > free.evidence
    assert np.abs(tied.profile - profile).mean() < np.abs(free.profile - profile).mean()
    assert (find_memberships(reports, tied).argmax(axis=1) == group).mean() > 0.8
