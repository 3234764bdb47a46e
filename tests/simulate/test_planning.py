"""Planning simulates the network that was described, or says how it differs, and sees more with more epsilon."""

from __future__ import annotations

import numpy as np
import pytest

from privact.errors import InputError
from privact.simulate.planning import LARGEST, choose_planned_network, draw_network, plan_series


def test_a_small_network_is_simulated_as_it_is():
    planned = choose_planned_network(400, 20.0, 4)
    graph = draw_network(planned, np.random.default_rng(0))
    assert (planned.users, planned.communities, planned.same_communities) == (400, 4, True)
    assert graph.degrees.sum() == 400 * 20
    assert graph.degrees.std() > 0.5 * graph.degrees.mean()


def test_a_large_network_keeps_the_size_of_its_communities_where_it_can():
    many, few = choose_planned_network(100_000, 20.0, 500), choose_planned_network(100_000, 20.0, 5)
    assert (many.users // many.communities, many.same_communities) == (200, True)
    assert not few.same_communities
    assert max(many.users, few.users) <= LARGEST


def test_a_series_with_little_noise_is_expected_to_find_more_than_one_round():
    planned = choose_planned_network(240, 25.0, 3, inside=0.9)
    one, series = plan_series(planned, [40.0], [1, 3])
    assert series.sees_communities
    assert not one.sees_communities
    assert series.share_of_contacts > 1.3 * one.share_of_contacts
    assert plan_series(planned, [40.0], [3]) == [series]


@pytest.mark.parametrize(
    ("users", "contacts", "communities", "message"),
    [(10, 2.0, 2, "at least 20"), (100, 5.0, 50, "from 2 to 20"), (100, 40.0, 4, "from 1 to 17.86"), (100, 0.5, 4, "from 1 to")],
)
def test_networks_that_cannot_be(users, contacts, communities, message):
    with pytest.raises(InputError, match=message):
        choose_planned_network(users, contacts, communities)
