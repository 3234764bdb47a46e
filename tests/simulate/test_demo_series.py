"""The demo without labels: a series finds communities that one round of the same epsilon does not."""

from __future__ import annotations

import numpy as np
import pytest

from privact.network.graph import ContactGraph
from privact.simulate.demo_series import compare_series, measure_close_contacts
from privact.simulate.federated_network import make_federated_network
from privact.tree.hct import HierarchicalClusterTree


def test_contacts_in_a_close_community_by_hand() -> None:
    graph = ContactGraph.from_edges(np.array([[0, 1], [1, 2], [2, 3]]))
    tree = HierarchicalClusterTree.from_nested(((0, 1), (2, 3)), users=graph.users)
    close, by_chance = measure_close_contacts(tree, graph, 2)
    assert close == pytest.approx((1 + 0.5 + 0.5 + 1) / 4)
    assert by_chance == pytest.approx(1 / 3)


def test_a_series_finds_communities_that_one_round_does_not() -> None:
    network = make_federated_network(1000, branching=(4, 2), mean_degree=40.0, random_state=0)
    one_round, series = compare_series(network.graph, epsilon=4.0)
    assert (one_round.rounds, series.rounds) == (1, 5)
    assert (one_round.sees_communities, series.sees_communities) == (False, True)
    assert one_round.close < 2 * one_round.by_chance
    assert series.close > 3 * series.by_chance
    assert series.near > 2 * one_round.near
    assert "5 rounds of series simulation" in series.privacy_sentence()
