from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privact.baselines._block_model import BlockModel, estimate_blocks

BLOCK = np.array([0, 0, 0, 1, 1])
REPORTS = np.array([[2, 1], [1, 0], [1, 1], [2, 1], [0, 1]])  # 2 contacts inside block 0, 1 inside block 1, 2 between
NO_NOISE = estimate_blocks(REPORTS, BLOCK)


def matrix(model):
    n = len(model.block)
    return np.array([[model.probability(u, v) for v in range(n)] for u in range(n)])


def frequencies(model, draws, seed=0):
    n = len(model.block)
    rng = np.random.default_rng(seed)
    drawn = np.zeros((n, n))
    for _ in range(draws):
        edges = model.draw(rng)
        keys = edges.min(axis=1) * n + edges.max(axis=1)
        assert len(np.unique(keys)) == len(keys)  # nobody is drawn twice
        np.add.at(drawn, (edges[:, 0], edges[:, 1]), 1.0)
    return (drawn + drawn.T) / draws


def far_off(found, expected, draws):
    """The largest distance of a frequency from its probability, in standard errors."""
    error = np.sqrt(np.maximum(expected * (1 - expected), 1.0 / draws) / draws)
    return np.max(np.abs(found - expected) / error)


def test_edges_between_blocks_are_the_mean_of_what_both_sides_report():
    # block 0 reports 2 + 1 + 1 ends inside and 1 + 0 + 1 towards block 1; block 1 reports 2 towards block 0 and 2 ends inside
    assert NO_NOISE.edges.tolist() == [[2.0, 2.0], [2.0, 1.0]]
    uneven = REPORTS.copy()
    uneven[3, 0] += 2
    assert estimate_blocks(uneven, BLOCK).edges[0, 1] == (2 + 4) / 2


def test_shares_follow_the_counts():
    assert NO_NOISE.share[:3, 0].tolist() == [2 / 4, 1 / 4, 1 / 4]
    assert NO_NOISE.share[:3, 1].tolist() == [1 / 2, 0.0, 1 / 2]
    assert NO_NOISE.share[3:, 0].tolist() == [1.0, 0.0]


def test_the_probability_is_edges_times_both_shares():
    assert NO_NOISE.probability(0, 3) == 2 * (1 / 2) * 1.0
    assert NO_NOISE.probability(1, 3) == 0.0
    inside = 2 * 2 / (1 - 1 / 4 - 1 / 16 - 1 / 16)
    assert NO_NOISE.probability(0, 1) == pytest.approx(inside * (1 / 2) * (1 / 4))
    assert NO_NOISE.probability(2, 2) == 0.0


def test_within_a_block_the_expected_number_of_edges_is_right_without_pairs_of_oneself():
    probability = matrix(NO_NOISE)
    assert probability[:3, :3].sum() / 2 == pytest.approx(2.0)
    assert probability[3:, 3:].sum() / 2 == pytest.approx(1.0)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 10**6))
def test_probabilities_are_symmetric_and_possible_whatever_is_reported(n, n_blocks, seed):
    rng = np.random.default_rng(seed)
    n_blocks = min(n, n_blocks)
    block = rng.permutation(np.arange(n) % n_blocks)
    model = estimate_blocks(rng.integers(-30, 30, (n, n_blocks)), block)
    probability = matrix(model)
    assert np.array_equal(probability, probability.T)
    assert ((probability >= 0.0) & (probability <= 1.0)).all()
    assert np.array_equal(model.edges, model.edges.T)
    for i in range(n_blocks):
        assert model.share[block == i].sum(axis=0) == pytest.approx(np.ones(n_blocks))


def test_expected_degrees_are_preserved_block_by_block():
    rng = np.random.default_rng(0)
    n = 60
    adjacency = np.triu(rng.random((n, n)) < 0.1 + 0.2 * np.outer(np.arange(n) % 2, np.arange(n) % 2), 1)
    adjacency = (adjacency | adjacency.T).astype(np.int64)
    block = np.arange(n) // 20
    reports = adjacency @ np.eye(3, dtype=np.int64)[block]
    model = estimate_blocks(reports, block)
    probability = matrix(model)
    assert probability.max() < 1.0  # nothing had to be cut
    expected = probability @ np.eye(3)[block]
    for i in range(3):
        others = [j for j in range(3) if j != i]
        assert expected[block == i][:, others] == pytest.approx(reports[block == i][:, others])
        # inside the own block a user cannot be their own contact: d (1 - d / D) over the mean of the same
        own, total = reports[block == i, i], reports[block == i, i].sum()
        without_self = own * (1 - own / total) / (1 - (own**2).sum() / total**2)
        assert expected[block == i, i] == pytest.approx(without_self)
        assert np.abs(without_self - own).max() < 0.15 * own.max()
    assert model.expected_degrees() == pytest.approx(probability.sum(axis=1))
    assert probability.sum() == pytest.approx(adjacency.sum())


def test_draws_follow_the_probabilities_and_not_one_sided_ones():
    """Giving u's contacts in a block to each v there in proportion to v's degree makes p_uv differ from p_vu: not so here."""
    draws = 4000
    found = frequencies(NO_NOISE, draws)
    assert far_off(found, matrix(NO_NOISE), draws) < 5
    degree = REPORTS.sum(axis=1)
    in_block = np.array([degree[np.equal(BLOCK, i)].sum() for i in range(2)])
    one_sided = np.clip(REPORTS[:, BLOCK] * degree / in_block[BLOCK], 0, 1)
    np.fill_diagonal(one_sided, 0.0)
    assert not np.allclose(one_sided, one_sided.T)
    assert far_off(found, one_sided, draws) > 20
    assert far_off(found, (one_sided + one_sided.T) / 2, draws) > 20


def test_draws_follow_probabilities_that_are_cut_to_one():
    share = np.array([0.9, 0.1, 0.7, 0.2, 0.1])[:, None] * np.ones((1, 2))
    model = BlockModel(np.array([0, 0, 1, 1, 1]), share, np.array([[1.0, 3.0], [3.0, 2.0]]))
    probability = matrix(model)
    assert (probability == 1.0).any()
    assert (probability[probability > 0] < 1.0).any()
    assert far_off(frequencies(model, 3000), probability, 3000) < 5


def test_time_follows_the_edges_and_not_the_pairs():
    n = 300_000  # 45 thousand million pairs
    model = BlockModel(np.zeros(n, np.int64), np.full((n, 1), 1.0 / n), np.array([[50_000.0]]))
    drawn = len(model.draw(np.random.default_rng(0)))
    assert abs(drawn - 50_000) < 5 * np.sqrt(50_000)


def test_negative_counts_cancel_before_anything_is_cut():
    """Without any contact, cutting every count at zero would report half the mean absolute noise for each count."""
    rng = np.random.default_rng(1)
    n, n_blocks = 3000, 4
    noise = rng.geometric(0.22, (n, n_blocks)) - rng.geometric(0.22, (n, n_blocks))
    block = np.arange(n) % n_blocks
    model = estimate_blocks(noise, block)
    cut_too_early = np.maximum(noise, 0).sum() / 2
    ours = np.triu(model.edges).sum()
    # the sum over a block and towards a block has a standard deviation of sqrt(n / n_blocks) noises; there are 10 such sums
    assert ours < 10 * 2 * noise.std() * np.sqrt(n / n_blocks)
    assert cut_too_early > 5 * ours


def test_the_number_of_contacts_is_right_on_average():
    rng = np.random.default_rng(2)
    exact = np.full((600, 3), 9)
    block = np.arange(600) % 3
    noise = rng.geometric(0.2, (200, 600, 3)) - rng.geometric(0.2, (200, 600, 3))
    spread = np.array([np.triu(estimate_blocks(exact + each, block).edges).sum() for each in noise])
    variance = 2 * 0.8 / 0.2**2
    assert abs(spread.mean() - 600 * 27 / 2) < 4 * np.sqrt(600 * 3 * variance) / 2 / np.sqrt(200)
    assert spread.std() == pytest.approx(np.sqrt(600 * 3 * variance) / 2, rel=0.25)


def test_a_negative_count_has_no_share_but_counts_in_the_sum():
    model = estimate_blocks(np.array([[6], [3], [-1]]), np.zeros(3, np.int64))
    assert model.share[:, 0].tolist() == [6 / 9, 3 / 9, 0.0]
    assert model.edges.tolist() == [[3.0]]  # 8 ends are 4 contacts, but three users have 3 pairs
    assert estimate_blocks(np.array([[3], [2], [-1]]), np.zeros(3, np.int64)).edges.tolist() == [[2.0]]


def test_where_nobody_has_a_share_it_is_even():
    model = estimate_blocks(np.array([[0, -1], [0, 0], [5, 0]]), np.array([0, 0, 1]))
    assert model.share[:2, 1].tolist() == [1 / 2, 1 / 2]
    assert model.edges[0, 1] == (-1 + 5) / 2


def test_a_block_of_one_user_has_no_contacts_inside():
    model = estimate_blocks(np.array([[3, 1], [1, 0], [0, 0]]), np.array([0, 1, 1]))
    assert model.edges[0, 0] == 0.0  # there is no pair
    assert np.isfinite(model.rate).all()
    assert model.probability(0, 1) == 1.0
