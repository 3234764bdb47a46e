"""Taste circles: who is in them, and that taste counts exactly where the reports bear it out."""

from __future__ import annotations

import numpy as np
import pytest

from privact.errors import InputError
from privact.learn.evidence.series.series_rounds import SeriesRound
from privact.query.quality import draw_random_tree
from privact.recommend import ContactRecommender
from privact.recommend.data.ratings import Ratings
from privact.recommend.people.circle_lifts import refine_lifts
from privact.recommend.people.group_lifts import GroupLifts
from privact.recommend.people.round_affinity import fit_round
from privact.recommend.people.taste_circles import LEAST, find_taste_circles

N = 400
GROUP = np.arange(N) % 2
TASTE = np.arange(N) // 2 % 4
"""Four tastes in each of two groups."""


def make_vectors() -> np.ndarray:
    vectors = np.eye(4)[TASTE] + 0.01 * np.random.default_rng(0).standard_normal((N, 4))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def make_reports(shares: np.ndarray) -> SeriesRound:
    """Users with twenty contacts each, of whom a share is in group 0."""
    first = np.random.default_rng(1).binomial(20, shares)
    return SeriesRound(np.column_stack([first, 20 - first]), GROUP, None)


def test_circles_are_parts_of_groups_of_users_with_one_taste() -> None:
    found = find_taste_circles(make_vectors(), GROUP, np.random.default_rng(0))
    assert (found.group[found.circle] == GROUP).all()
    assert np.bincount(found.circle).min() >= LEAST
    for circle in range(len(found.group)):
        assert len(set(TASTE[found.circle == circle])) == 1
    assert found.similarity == pytest.approx(found.similarity.T)


def test_users_without_ratings_are_a_circle_of_their_group_and_users_without_group_in_none() -> None:
    vectors, group = make_vectors(), GROUP.copy()
    vectors[:20], group[-1] = 0.0, -1
    found = find_taste_circles(vectors, group, np.random.default_rng(0))
    assert found.circle[-1] == -1
    assert len({(found.circle[user], group[user]) for user in range(20)}) == 2
    assert not np.isin(found.circle[20:], found.circle[:20]).any()


def test_lifts_of_circles_average_to_the_lift_of_their_groups() -> None:
    circles = find_taste_circles(make_vectors(), GROUP, np.random.default_rng(0))
    groups = GroupLifts(np.array([[1.5, 0.5], [0.5, 1.5]]), np.array([0.5, 0.5]), 0.25)
    mass = np.bincount(circles.circle)
    for weight in (0.0, 3.0):
        lift = refine_lifts(groups, circles, np.ones(N), weight).lift[:-1, :-1]
        for one in (0, 1):
            for other in (0, 1):
                some = np.outer(mass * (circles.group == one), mass * (circles.group == other))
                assert (lift * some).sum() / some.sum() == pytest.approx(groups.lift[one, other])
    same = circles.similarity > 0.9
    assert lift[same].mean() > 5 * lift[~same].mean()


def test_taste_counts_where_users_have_more_contacts_in_groups_near_their_taste() -> None:
    vectors = make_vectors()
    vectors[GROUP == 0] = np.array([1.0, 0.0, 0.0, 0.0])  # all of group 0 have one taste
    near = fit_round(make_reports(np.where(TASTE == 0, 0.8, 0.4)), vectors)
    assert near.member.shape[1] > 3
    between = (near.member[[1, 3]] @ near.lift) @ near.member[GROUP == 0].T  # both of group 1, the first of taste 0
    assert between[0].mean() > 1.2 * between[1].mean()
    none = fit_round(make_reports(np.full(N, 0.5)), vectors)
    assert none.member.shape[1] == 3  # two groups and none: circles are left alone


def test_ratings_are_for_one_round() -> None:
    users = [str(user) for user in range(N)]
    ratings = Ratings.from_frame({"user": users, "item": TASTE.astype(str), "rating": np.ones(N)})
    tree = draw_random_tree(N, np.random.default_rng(0), users)
    played = make_reports(np.where(GROUP == TASTE % 2, 0.8, 0.2))
    assert ContactRecommender(tree).fit([played], ratings).recommend("3", 2)
    with pytest.raises(InputError, match="series of 2 rounds"):
        ContactRecommender(tree).fit([played, played], ratings)
