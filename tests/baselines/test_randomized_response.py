from __future__ import annotations

import math

import numpy as np
import pytest

from privact.baselines import randomized_response as module
from privact.baselines.randomized_response import debiased, flip_probability, randomized_response, simulated_claims
from privact.errors import InputError, ProtocolError, UnknownUserError
from privact.network.graph import ContactGraph
from privact.simulate.federated_network import federated_network
from privact.simulate.known_graphs import cliques

NETWORK = federated_network(n_users=600, branching=(3,), mean_degree=14.0, ratings_per_user=1.0, random_state=1)
GRAPH = NETWORK.graph


def bits_of(response):
    return np.unpackbits(response.rows, axis=1, count=len(response.users)).astype(bool)


def test_the_flip_probability_keeps_the_promise_with_both_ends():
    for epsilon in (0.1, 1.0, 2 * math.log(7 / 3), 9.0):
        flip = flip_probability(epsilon)
        ratio = (1 - flip) / flip  # how much more likely one end's answer is with the contact than without
        assert 2 * math.log(ratio) == pytest.approx(epsilon)
    assert flip_probability(2 * math.log(7 / 3)) == pytest.approx(0.3)
    assert flip_probability(1e6) == 0.0


def test_bits_are_flipped_as_often_as_promised_and_not_as_for_one_end():
    """Of contacts and of strangers; also rejects the flip probability of a whole epsilon for each end."""
    epsilon = 2.0
    response = randomized_response(GRAPH, epsilon, 0)
    truth = GRAPH.to_scipy().toarray().astype(bool)
    apart = ~np.eye(GRAPH.n_users, dtype=bool)
    wrong_flip = 1 / (1 + math.exp(epsilon))
    for kind in (truth, ~truth & apart):
        flipped = (bits_of(response) != truth)[kind]
        for flip, accepted in ((flip_probability(epsilon), True), (wrong_flip, False)):
            error = math.sqrt(flip * (1 - flip) / flipped.size)
            assert (abs(flipped.mean() - flip) < 4 * error) == accepted


def test_the_two_ends_answer_independently():
    bits = bits_of(randomized_response(GRAPH, 1.0, 0))
    upper = np.triu_indices(GRAPH.n_users, 1)
    strangers = ~GRAPH.to_scipy().toarray().astype(bool)[upper]
    one, other = bits[upper][strangers], bits.T[upper][strangers]
    assert abs(np.corrcoef(one, other)[0, 1]) < 4 / math.sqrt(strangers.sum())


def test_nobody_claims_themselves_and_claims_are_the_set_bits():
    response = randomized_response(GRAPH, 0.5, 0)
    bits = bits_of(response)
    assert not bits.diagonal().any()
    assert np.array_equal(response.claims(), bits.sum(axis=1))
    user = GRAPH.users[17]
    assert response.claimed(user) == tuple(GRAPH.users[v] for v in np.flatnonzero(bits[17]))
    with pytest.raises(UnknownUserError, match="'nobody' is not among these 600 users"):
        response.claimed("nobody")


def test_without_flips_the_true_graph_comes_back():
    graph = cliques([5, 9]).graph
    response = randomized_response(graph, 1e4, 0)
    assert response.graph("both") == response.graph("either") == graph
    assert response.degrees().tolist() == graph.degrees.tolist()
    groups = np.repeat([0, 1], [5, 9])
    assert response.densities(groups).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert response.claimed("0") == ("1", "2", "3", "4")


def test_debiased_inverts_the_expectation():
    for flip in (0.0, 0.1, 0.45):
        true, bits = np.array([0, 3, 50]), 200
        assert debiased((1 - flip) * true + flip * (bits - true), bits, flip) == pytest.approx(true)


def test_degrees_are_right_on_average_and_spread_as_derived():
    """Each bit has variance q (1 - q); 2 (n - 1) bits, divided by 2 (1 - 2 q). Claims as they are would be far off."""
    epsilon, n = 1.0, GRAPH.n_users
    flip = flip_probability(epsilon)
    errors = np.array([randomized_response(GRAPH, epsilon, seed).degrees() - GRAPH.degrees for seed in range(12)])
    spread = math.sqrt(2 * (n - 1) * flip * (1 - flip)) / (2 * (1 - 2 * flip))
    # a bit is shared by the estimates of its two users, so estimates are not independent: the mean error is twice as wide
    assert abs(errors.mean()) < 4 * math.sqrt(2) * spread / math.sqrt(errors.size)
    assert errors.std() == pytest.approx(spread, rel=0.05)
    false = randomized_response(GRAPH, epsilon, 0).claims() - GRAPH.degrees
    expected = flip * (n - 1 - 2 * GRAPH.degrees.mean())
    assert abs(false.mean() - expected) < 4 * math.sqrt((n - 1) * flip * (1 - flip) / n)
    assert expected > 5 * spread


def test_densities_between_groups_are_right_on_average():
    groups = NETWORK.communities[:, 0]
    adjacency = GRAPH.to_scipy().toarray()
    member = np.eye(3)[groups]
    sizes = member.sum(axis=0)
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    truth = member.T @ adjacency @ member / pairs
    flip = flip_probability(3.0)
    found = randomized_response(GRAPH, 3.0, 5).densities(groups)
    ordered = pairs * (2 - np.eye(3))  # bits behind each entry: both directions between groups, each pair twice within
    error = np.sqrt(flip * (1 - flip) / ordered) / (1 - 2 * flip)
    assert np.array_equal(found, found.T)
    assert (np.abs(found - truth) < 4 * error).all()
    assert truth.diagonal().min() > truth[~np.eye(3, dtype=bool)].max() + 8 * error.max()  # the groups can be told apart
    assert (np.abs(found - truth[::-1]) > 4 * error).any()


def test_a_group_of_one_has_no_pairs_inside():
    response = randomized_response(cliques([3, 3]).graph, 1.0, 0)
    found = response.densities(np.array([0, 1, 1, 1, 1, 3]))
    assert np.isnan(found[0, 0])
    assert np.isnan(found[2]).all()
    assert np.isfinite(found[0, 1])
    with pytest.raises(InputError, match=r"shape \(2,\)"):
        response.densities(np.array([0, 1]))
    with pytest.raises(InputError, match="give a number >= 0"):
        response.densities(np.array([0, 1, 1, 1, 1, -1]))


def test_noisy_graphs_join_both_ends_claims():
    response = randomized_response(GRAPH, 1.0, 3)
    bits = bits_of(response)
    assert np.array_equal(response.graph("both").to_scipy().toarray(), bits & bits.T)
    assert np.array_equal(response.graph("either").to_scipy().toarray(), bits | bits.T)
    assert response.graph().users == GRAPH.users
    with pytest.raises(InputError, match="rule is 'one'"):
        response.graph("one")


def test_blocks_of_rows_do_not_change_the_result(monkeypatch):
    whole = randomized_response(GRAPH, 1.0, 3)
    monkeypatch.setattr(module, "_BLOCK", 600 * 24)
    parts = randomized_response(GRAPH, 1.0, 3)
    assert np.array_equal(whole.rows, parts.rows)
    assert whole.graph() == parts.graph()
    assert parts.graph().dropped_duplicates == 0
    assert np.array_equal(whole.degrees(), parts.degrees())


def test_the_seed_decides_everything():
    one = randomized_response(GRAPH, 1.0, 9).rows
    assert np.array_equal(one, randomized_response(GRAPH, 1.0, np.random.default_rng(9)).rows)
    assert not np.array_equal(one, randomized_response(GRAPH, 1.0, 10).rows)


def test_simulated_claims_have_the_law_of_drawn_bits():
    """Mean q (n - 1 - d) + (1 - q) d and variance (n - 1) q (1 - q), at a size whose bits nobody could draw."""
    n, epsilon = 400_000, 1.0
    flip = flip_probability(epsilon)
    degrees = np.arange(n) % 200
    claims = simulated_claims(degrees, epsilon, np.random.default_rng(0))
    spread = math.sqrt((n - 1) * flip * (1 - flip))
    residual = claims - (flip * (n - 1 - degrees) + (1 - flip) * degrees)
    assert abs(residual.mean()) < 4 * spread / math.sqrt(n)
    assert residual.std() == pytest.approx(spread, rel=4 / math.sqrt(2 * n))
    estimated = debiased(claims, n - 1, flip)
    assert abs((estimated - degrees).mean()) < 4 * spread / (1 - 2 * flip) / math.sqrt(n)


def test_bad_input_is_refused(monkeypatch):
    for epsilon in (0.0, -1.0, math.nan):
        with pytest.raises(ProtocolError, match="epsilon"):
            randomized_response(GRAPH, epsilon)
    with pytest.raises(InputError, match="1 users, outside 2 to 20,000"):
        randomized_response(ContactGraph.from_edges(np.empty((0, 2), np.int64), users=["a"]), 1.0)
    monkeypatch.setattr(module, "MOST_USERS", 599)
    with pytest.raises(InputError, match="600 users, outside 2 to 599: use simulated_claims") as caught:
        randomized_response(GRAPH, 1.0)
    assert "\n" not in str(caught.value)
