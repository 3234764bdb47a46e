from __future__ import annotations

import math

import numpy as np
import pytest

from privact.baselines.randomized_response import (
    PAPER_CLAIM,
    explain_paper_example,
    explain_randomized_response,
    flip_probability,
    noise_variance,
)
from privact.errors import InputError, ProtocolError
from privact.network.graph import ContactGraph
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.simulate.reports import simulated_noise


def test_the_papers_example_comes_to_three_hundred_thousand_claims():
    found = explain_paper_example()
    assert (found.users, found.degree) == (1_000_000, 70)
    assert found.kept == pytest.approx(0.7)
    assert found.false_claims == pytest.approx(0.3 * 999_929)
    assert found.true_claims == pytest.approx(0.7 * 70)
    assert found.claimed == pytest.approx(300_027.7)
    assert found.precision == pytest.approx(49 / 300_027.7)
    assert found.epsilon_report == pytest.approx(math.log(7 / 3))
    assert pytest.approx(0.7 * found.users) == PAPER_CLAIM  # what the paper counted: the answers that are kept
    assert 2.3 * found.claimed < PAPER_CLAIM


def test_the_flip_probability_keeps_the_promise_with_both_ends():
    for epsilon in (0.1, 1.0, 2 * math.log(7 / 3), 9.0):
        flip = flip_probability(epsilon)
        ratio = (1 - flip) / flip  # how much more likely one end's answer is with the contact than without
        assert 2 * math.log(ratio) == pytest.approx(epsilon)
    assert flip_probability(2 * math.log(7 / 3)) == pytest.approx(0.3)
    assert flip_probability(1e6) == 0.0


def test_the_arithmetic_is_that_of_simulated_networks():
    """A ring in which everybody knows four: drawn bits must agree with every number but the bytes."""
    n, epsilon, rounds = 401, 3.0, 30
    ring = np.arange(n)
    graph = ContactGraph.from_edges(np.concatenate([np.column_stack((ring, (ring + step) % n)) for step in (1, 2)]))
    truth = graph.to_scipy().toarray().astype(bool)
    found = explain_randomized_response(n, epsilon, 4)
    true, false, both, both_true, own, both_ends = ([] for _ in range(6))
    for seed in range(rounds):
        bits = truth ^ (np.random.default_rng(seed).random((n, n)) < found.flipped)
        np.fill_diagonal(bits, False)
        true.append((bits & truth).sum() / n)
        false.append((bits & ~truth).sum() / n)
        both.append((bits & bits.T).sum() / n)
        both_true.append((bits & bits.T & truth).sum() / n)
        estimates = [(each - found.flipped).sum(axis=1) / (1 - 2 * found.flipped) for each in (bits, bits.T)]
        own.append((estimates[0] - 4).std())
        both_ends.append((np.mean(estimates, axis=0) - 4).std())
    flip = found.flipped
    error = math.sqrt(n * flip * (1 - flip) / (n * rounds))  # of the mean of false claims a user
    assert abs(np.mean(false) - found.false_claims) < 4 * error
    assert abs(np.mean(false) + np.mean(true) - found.claimed) < 4 * error
    assert np.mean(true) == pytest.approx(found.true_claims, rel=0.02)
    assert np.mean(true) / (np.mean(true) + np.mean(false)) == pytest.approx(found.precision, rel=0.02)
    assert np.mean(both) == pytest.approx(found.both_claimed, rel=0.03)
    assert np.mean(both_true) / np.mean(both) == pytest.approx(found.both_precision, rel=0.04)
    assert np.mean(own) == pytest.approx(found.degree_sd, rel=0.04)
    assert np.mean(both_ends) == pytest.approx(found.degree_sd_both, rel=0.04)


def test_the_spread_of_the_degree_at_a_million_users():
    found = explain_randomized_response(1_000_000, 1.0, 70)
    rng = np.random.default_rng(0)
    flip = flip_probability(1.0)
    claims = rng.binomial(70, 1.0 - flip, 4000) + rng.binomial(999_999 - 70, flip, 4000)
    estimated = (claims - flip * 999_999) / (1.0 - 2.0 * flip)
    assert estimated.std() == pytest.approx(found.degree_sd, rel=4 / math.sqrt(2 * 4000))
    assert abs(estimated.mean() - 70) < 4 * found.degree_sd / math.sqrt(4000)


def test_a_privact_report_of_the_same_epsilon():
    found = explain_randomized_response(1_000_000, 1.0)
    assert found.privact_counts == 13 == math.floor(math.log(1_000_000))
    sent = Report(
        round_digest=Round(id="r", epsilon=1.0, n_bins=13, n_users=1_000_000, seed=bytes(16)).digest(),
        user=bytes(16),
        vector=(0,) * 13,
    )
    assert found.privact_bytes == len(sent.to_bytes())
    assert found.bytes_sent == 125_000
    noise = simulated_noise((20_000, 13), 0.5, np.random.default_rng(0)).sum(axis=1)
    assert noise.std() == pytest.approx(found.privact_degree_sd, rel=0.03)
    assert found.privact_degree_sd == pytest.approx(math.sqrt(13 * noise_variance(0.5)))


def test_more_privacy_means_more_false_contacts():
    claims = [explain_randomized_response(10_000, epsilon).false_claims for epsilon in (0.1, 1.0, 5.0, 20.0, 5000.0)]
    assert claims == sorted(claims, reverse=True)
    assert claims[-1] == 0.0


def test_the_degree_is_seventy_or_everybody():
    assert explain_randomized_response(1000, 1.0).degree == 70
    assert explain_randomized_response(5, 1.0).degree == 4
    nobody = explain_randomized_response(2, 5000.0, 0)
    assert nobody.claimed == nobody.precision == 0.0
    everybody = explain_randomized_response(5, 1.0, 4)
    assert everybody.precision == everybody.both_precision == 1.0


@pytest.mark.parametrize(
    ("n", "degree", "words"),
    [(1, None, "users is 1"), (2.5, None, "users is 2.5"), (10, 10, "degree is 10; among 10 users"), (10, -1, "degree is -1")],
)
def test_impossible_networks_are_refused_in_one_line(n, degree, words):
    with pytest.raises(InputError, match=words) as caught:
        explain_randomized_response(n, 1.0, degree)
    assert "\n" not in str(caught.value)


def test_an_impossible_epsilon_is_refused():
    with pytest.raises(ProtocolError, match="epsilon is 0"):
        explain_randomized_response(10, 0.0)
