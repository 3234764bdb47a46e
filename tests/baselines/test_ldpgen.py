from __future__ import annotations

import math

import numpy as np
import pytest

from privact.baselines import ldpgen as module
from privact.baselines._block_model import estimate_blocks
from privact.baselines.ldpgen import run_ldpgen
from privact.baselines.randomized_response import noise_variance
from privact.errors import GraphError, InputError, ProtocolError
from privact.network.graph import ContactGraph
from privact.simulate.federated_network import make_federated_network
from privact.simulate.known_graphs import make_cliques
from privact.simulate.reports import degree_vectors

NETWORK = make_federated_network(n_users=1200, mean_degree=16.0, ratings_per_user=1.0, random_state=3).graph


def empty(n):
    return ContactGraph.from_edges(np.empty((0, 2), np.int64), users=range(n))


def test_two_cliques_come_back_exactly_without_noise():
    """One random group tells degrees 5 from 11; round two then counts each clique apart, and all pairs inside are certain."""
    graph = make_cliques([6, 12]).graph
    result = run_ldpgen(graph, None, start_groups=1, groups=2, random_state=0)
    assert len(set(result.blocks[:6])) == len(set(result.blocks[6:])) == 1
    assert result.graph == graph
    assert result.epsilon is result.epsilon_rounds is result.epsilon_reports is None


def test_the_four_reports_about_a_contact_together_spend_epsilon(monkeypatch):
    used = []

    def recorded(shape, epsilon_report, rng):
        used.append(epsilon_report)
        return np.zeros(shape, np.int64)

    monkeypatch.setattr(module, "simulated_noise", recorded)
    result = run_ldpgen(NETWORK, 1.0, first_share=0.25, random_state=0)
    assert used == [0.125, 0.375]
    assert 2 * sum(used) == result.epsilon == 1.0
    assert result.epsilon_rounds == (0.25, 0.75)
    assert result.epsilon_reports == (0.125, 0.375)


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_the_noise_of_a_report_is_that_of_half_the_rounds_epsilon(share):
    """Also rejects LDPGen's own accounting, in which a report spends the whole epsilon of its round."""
    result = run_ldpgen(NETWORK, 2.0, first_share=share, random_state=1)
    noise = result.reports - degree_vectors(NETWORK, result.blocks, result.reports.shape[1])
    wanted, published = noise_variance(2.0 * (1 - share) / 2), noise_variance(2.0 * (1 - share))
    # the kurtosis of the law is below 7, so a sample variance has a relative error of at most sqrt(6 / size)
    error = math.sqrt(6.0 / noise.size)
    assert abs(noise.var() / wanted - 1) < 5 * error
    assert abs(noise.var() / published - 1) > 50 * error


def test_noise_variance_is_that_of_the_law():
    for epsilon in (0.1, 0.5, 3.0):
        k = np.arange(-2000, 2001)
        law = np.exp(-epsilon * np.abs(k))
        assert noise_variance(epsilon) == pytest.approx((k**2 @ law) / law.sum())
    assert noise_variance(5000.0) == 0.0


def test_groups_are_floor_ln_n_unless_told():
    result = run_ldpgen(NETWORK, 4.0, random_state=0)
    assert result.start.max() + 1 == 7 == math.floor(math.log(1200))
    assert result.blocks.max() + 1 <= 7
    assert NETWORK.degrees.max() > 50  # where the closed form of LDPGen ends
    told = run_ldpgen(NETWORK, 4.0, start_groups=3, groups=5, random_state=0)
    assert told.start.max() + 1 == 3
    assert told.reports.shape == (1200, told.blocks.max() + 1)
    assert 4 <= told.blocks.max() + 1 <= 5
    sizes = np.bincount(told.start)
    assert sizes.max() - sizes.min() <= 1  # equal groups
    assert not np.array_equal(told.start, np.arange(1200) % 3)  # and random ones: row numbers may follow contacts


def test_the_graph_is_drawn_from_the_reports_of_round_two():
    result = run_ldpgen(NETWORK, 1.0, random_state=0)
    expected = estimate_blocks(result.reports, result.blocks)
    assert np.array_equal(result.model.share, expected.share)
    assert np.array_equal(result.model.edges, expected.edges)
    between = result.model.edges[result.blocks[:, None], result.blocks]
    pairs = result.graph.edges()
    assert (between[pairs[:, 0], pairs[:, 1]] > 0).all()


def test_the_last_grouping_puts_similar_reports_together():
    result = run_ldpgen(NETWORK, 4.0, random_state=0)
    apart = result.reports - result.reports.mean(axis=0)
    means = np.array([result.reports[result.groups == g].mean(axis=0) for g in range(result.groups.max() + 1)])
    within = result.reports - means[result.groups]
    # seven groups by chance would leave all but 6 / 1199 of the spread within them
    assert (within**2).sum() < 0.8 * (apart**2).sum()


def test_the_seed_decides_everything():
    one = run_ldpgen(NETWORK, 1.0, random_state=7)
    two = run_ldpgen(NETWORK, 1.0, random_state=np.random.default_rng(7))
    assert one.graph == two.graph
    assert np.array_equal(one.groups, two.groups)
    assert one.graph != run_ldpgen(NETWORK, 1.0, random_state=8).graph


@pytest.mark.parametrize("epsilon", [None, 1.0, 4.0])
def test_the_synthetic_graph_has_as_many_contacts_and_similar_degrees(epsilon):
    result = run_ldpgen(NETWORK, epsilon, random_state=0)
    assert result.graph.n_edges == pytest.approx(NETWORK.n_edges, rel=0.1)
    alike = np.corrcoef(NETWORK.degrees, result.graph.degrees)[0, 1]
    assert alike > 10 / np.sqrt(NETWORK.n_users)  # ten standard deviations of unrelated degrees


def test_more_noise_tells_less():
    alike = [
        np.corrcoef(NETWORK.degrees, run_ldpgen(NETWORK, epsilon, random_state=0).model.expected_degrees())[0, 1]
        for epsilon in (0.1, 1.0, 10.0)
    ]
    assert alike[0] < alike[1] < alike[2]


@pytest.mark.parametrize("n", [2, 3, 50])
@pytest.mark.parametrize("epsilon", [None, 1.0])
def test_small_and_empty_networks(n, epsilon):
    result = run_ldpgen(empty(n), epsilon, random_state=0)
    assert result.graph.n_users == n
    if epsilon is None:
        assert result.graph.n_edges == 0
    path = ContactGraph.from_edges(np.column_stack([np.arange(n - 1), np.arange(1, n)]))
    assert run_ldpgen(path, epsilon, random_state=0).graph.n_users == n


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"first_share": 0.0}, "first_share is 0.0"),
        ({"first_share": 1.0}, "first_share is 1.0"),
        ({"first_share": math.nan}, "first_share is nan"),
        ({"groups": 0}, "groups is 0"),
        ({"groups": 1201}, "groups is 1201, not a whole number from 1 to the 1200 users"),
        ({"start_groups": 2.5}, "start_groups is 2.5"),
        ({"start_groups": True}, "start_groups is True"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments, words):
    with pytest.raises(InputError, match=words) as caught:
        run_ldpgen(NETWORK, **arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, "1"])
def test_no_epsilon_is_refused(epsilon):
    with pytest.raises((ProtocolError, InputError), match="epsilon"):
        run_ldpgen(NETWORK, epsilon)


def test_one_user_is_refused():
    with pytest.raises(InputError, match="1 user, but LDPGen needs at least 2"):
        run_ldpgen(empty(1))
    with pytest.raises(GraphError):
        empty(0)
