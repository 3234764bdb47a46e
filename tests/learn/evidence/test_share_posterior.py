"""Shares of contacts: what they are given counts or reports, and the chance that two draws are in different groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privact.errors import InputError
from privact.learn.evidence.share_posterior import BLOCK, CONCENTRATION, SharePosterior
from privact.learn.placement import place
from privact.learn.search.learn_tree import learn_tree
from privact.simulate.reports import simulate_reports
from privact.tree.embedding import GRID

COUNTS = np.array([[9, 1], [90, 10], [1, 9], [0, 0]])
"""Everybody together has 100 contacts in group 0 and 20 in group 1."""

CLOSE = 1.0 / GRID
"""Points are multiples of 1 / GRID, so a product of two is off by at most about this."""


def dissimilarity(embedding, one, other):
    """S of two users, from the points."""
    return embedding.constant - embedding.points[one].astype(float) @ (embedding.weights * embedding.points[other])


def test_shares_are_those_of_a_dirichlet_posterior():
    shares = SharePosterior.fit(COUNTS).shares(COUNTS)
    everybody = np.array([100, 20]) / 120
    np.testing.assert_allclose(shares[0], (np.array([9, 1]) + CONCENTRATION * everybody) / (10 + CONCENTRATION))
    np.testing.assert_allclose(shares[3], everybody)  # nothing is known of a user without contacts
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_shares_forget_how_many_the_more_contacts_there_are():
    model = SharePosterior.fit(COUNTS)
    many = model.shares([[900, 100], [90_000, 10_000]])
    np.testing.assert_allclose(many, [[0.9, 0.1]] * 2, atol=0.001)


def test_dissimilarity_is_the_chance_that_two_contacts_are_in_different_groups():
    model = SharePosterior.fit(COUNTS)
    points, shares = model.embed(COUNTS), model.shares(COUNTS)
    for one, other in ((0, 1), (0, 2), (2, 3)):
        differ = shares[one, 0] * shares[other, 1] + shares[one, 1] * shares[other, 0]
        assert dissimilarity(points, one, other) == pytest.approx(differ, abs=2 * CLOSE)


def test_with_own_groups_a_draw_is_the_user_half_of_the_time():
    model = SharePosterior.fit(COUNTS, own=True)
    groups = np.array([0, 1, 1, -1])
    points, shares = model.embed(COUNTS, groups), model.shares(COUNTS)
    draws = (shares + np.vstack([np.eye(2)[[0, 1, 1]], model.everybody])) / 2
    for one in range(4):
        for other in range(one):
            assert dissimilarity(points, one, other) == pytest.approx(1 - draws[one] @ draws[other], abs=2 * CLOSE)
    np.testing.assert_array_equal(model.embed(COUNTS).points, model.embed(COUNTS, np.full(4, -1)).points)
    plain = SharePosterior.fit(COUNTS)
    np.testing.assert_array_equal(plain.embed(COUNTS, groups).points, plain.embed(COUNTS).points)


@given(st.data())
def test_every_dissimilarity_is_a_chance(data):
    size = data.draw(st.integers(2, 6)), data.draw(st.integers(2, 5))
    counts = np.array(data.draw(st.lists(st.integers(-5, 50), min_size=size[0] * size[1], max_size=size[0] * size[1])))
    counts = counts.reshape(size)
    groups = data.draw(st.lists(st.integers(-1, size[1] - 1), min_size=size[0], max_size=size[0]))
    model = SharePosterior.fit(counts, own=data.draw(st.booleans()))
    points = model.embed(counts, groups)
    found = points.condensed()
    assert (found > -0.01).all()
    assert (found < 1.01).all()
    assert (points.points * GRID == np.round(points.points * GRID)).all()


def test_noisy_reports_give_shares_nearer_the_truth_than_the_reports_do():
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(CONCENTRATION * np.array([0.6, 0.3, 0.1]), 1000)
    counts = rng.poisson(truth * rng.gamma(2.0, 8.0, (1000, 1)))
    reports = simulate_reports(counts, 1.0, rng)
    model = SharePosterior.fit(reports, 0.5)
    raw = np.maximum(reports, 0) / np.maximum(np.maximum(reports, 0).sum(axis=1, keepdims=True), 1)
    found = np.abs(model.shares(reports) - truth).sum(axis=1).mean()
    assert found < 0.8 * np.abs(raw - truth).sum(axis=1).mean()
    assert model.expected_counts(reports).sum() == pytest.approx(counts.sum(), rel=0.05)


def test_negative_counts_are_no_contacts_where_reports_are_taken_as_they_are():
    model = SharePosterior.fit(COUNTS)
    np.testing.assert_allclose(model.shares([[-7, 3]]), model.shares([[0, 3]]))


def test_users_who_know_the_same_groups_are_joined_first_however_many_they_know():
    counts = np.array([[40, 0, 0], [4, 0, 0], [0, 40, 0], [0, 5, 0], [0, 0, 40], [0, 0, 6]])
    labels = learn_tree(SharePosterior.fit(counts).embed(counts)).cut(3)
    assert labels.reshape(3, 2).tolist() == [[group, group] for group in labels[::2].tolist()]
    assert len(set(labels)) == 3


def test_newcomers_join_those_whose_contacts_are_like_theirs():
    counts = np.array([[40, 0], [30, 0], [0, 40], [0, 30]])
    model = SharePosterior.fit(counts)
    embedding = model.embed(counts)
    tree = learn_tree(embedding)
    placed = place(tree, embedding, model.embed([[8, 0], [0, 8]]))
    assert set(placed.nearest(0, 2).leaves.tolist()) == {0, 1}
    assert set(placed.nearest(1, 2).leaves.tolist()) == {2, 3}


def test_blocks_change_nothing():
    counts = np.random.default_rng(0).poisson(2.0, (BLOCK + 3, 2))
    model = SharePosterior.fit(counts)
    points = model.embed(counts).points
    np.testing.assert_array_equal(points[-5:], model.embed(counts[-5:]).points)
    assert points.dtype == np.float32


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SharePosterior.fit([[3], [4]]), "shares of 1 bin are 1 for all users: give at least 2 bins"),
        (lambda: SharePosterior.fit(COUNTS).embed([[1, 2, 3]]), "reports have 3 bins, not the 2 learned"),
        (lambda: SharePosterior.fit(COUNTS, own=True).embed(COUNTS, [0, 1]), "groups have shape"),
        (lambda: SharePosterior.fit(COUNTS, own=True).embed(COUNTS, [0.0, 1.0, 0.0, 0.0]), "type float64"),
        (lambda: SharePosterior.fit(COUNTS, own=True).embed(COUNTS, [0, 1, 2, 0]), "groups go from 0 to 2: they must be 0 to 1"),
        (lambda: SharePosterior.fit(COUNTS, own=True).embed(COUNTS, [0, 1, -2, 0]), "groups go from -2 to 1"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(call, message):
    with pytest.raises(InputError, match=message) as refused:
        call()
    assert "\n" not in str(refused.value)
