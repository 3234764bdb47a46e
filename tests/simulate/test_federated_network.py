from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privact.errors import InputError
from privact.simulate._draw import NestedSlices
from privact.simulate.federated_network import FederatedNetwork, make_federated_network


@pytest.fixture(scope="module")
def network() -> FederatedNetwork:
    return make_federated_network()


def shared(labels: np.ndarray, pairs: np.ndarray) -> float:
    """How many of these pairs have the same label."""
    return float(np.mean(labels[pairs[:, 0]] == labels[pairs[:, 1]]))


def same_pairs(labels: np.ndarray) -> float:
    """How many of all pairs of users have the same label."""
    counts = np.bincount(labels)
    return float((counts * (counts - 1)).sum() / (len(labels) * (len(labels) - 1)))


def dependence(one: np.ndarray, other: np.ndarray) -> float:
    """Chi-squared of the table of two labels over its degrees of freedom: near 1 if independent."""
    table = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(table, (one, other), 1)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / table.sum()
    return float(((table - expected) ** 2 / expected).sum() / ((table.shape[0] - 1) * (table.shape[1] - 1)))


def test_the_shape_is_what_was_asked_for(network: FederatedNetwork) -> None:
    assert network.graph.n_users == 2000
    assert network.communities.shape == (2000, 3)
    assert [len(np.unique(column)) for column in network.communities.T] == [4, 16, 64]
    assert network.servers.shape == (2000,)
    assert (len(network.server_names), len(network.artist_names)) == (12, 2000)
    assert len(set(network.server_names)) == 12
    assert len(set(network.artist_names)) == 2000
    assert network.artist_communities.shape == (2000,)
    assert "\n" not in repr(network)
    with pytest.raises(ValueError, match="read-only"):
        network.communities[0, 0] = 1


def test_communities_are_nested_and_equally_large(network: FederatedNetwork) -> None:
    for coarse, fine in pairwise(network.communities.T):
        assert len(np.unique(np.column_stack((coarse, fine)), axis=0)) == len(np.unique(fine))
    for column in network.communities.T:
        assert np.ptp(np.bincount(column)) <= 1


def test_contacts_are_denser_in_deeper_communities(network: FederatedNetwork) -> None:
    edges = network.graph.edges()
    everyone = np.zeros(2000, dtype=int)
    density = [shared(labels, edges) / same_pairs(labels) for labels in (everyone, *network.communities.T)]
    assert density[0] == 1.0
    assert all(deeper > 1.5 * coarser for coarser, deeper in pairwise(density))


def test_closeness_decides_how_many_contacts_stay_home() -> None:
    # At level 1 a contact stays in the own community if drawn there, or by chance (1 in 4) if drawn from everyone.
    network = make_federated_network(4000, branching=(4,), mean_degree=10.0, closeness=(0.4, 0.6), ratings_per_user=0)
    assert shared(network.communities[:, 0], network.graph.edges()) == pytest.approx(0.6 + 0.4 / 4, abs=0.03)
    apart = make_federated_network(4000, branching=(4,), mean_degree=10.0, closeness=(1.0, 0.0), ratings_per_user=0)
    assert shared(apart.communities[:, 0], apart.graph.edges()) == pytest.approx(1 / 4, abs=0.03)


@pytest.mark.parametrize("mean_degree", [0.0, 3.0, 14.0, 25.5])
def test_mean_degree_is_met(mean_degree: float) -> None:
    network = make_federated_network(1000, branching=(4, 4), mean_degree=mean_degree, ratings_per_user=0)
    assert network.graph.degrees.mean() == pytest.approx(mean_degree, abs=1e-3)
    assert (network.graph.dropped_duplicates, network.graph.dropped_self_loops) == (0, 0)


def test_degrees_have_a_heavy_tail_that_the_exponent_controls(network: FederatedNetwork) -> None:
    degrees = network.graph.degrees
    assert degrees.max() > 6 * np.median(degrees)
    light = make_federated_network(tail=20.0).graph.degrees
    assert light.max() < 4 * np.median(light)


def test_account_names_are_unique_and_name_the_home_server(network: FederatedNetwork) -> None:
    assert len(set(network.graph.users)) == 2000
    assert all(
        user.split("@")[1] == network.server_names[server]
        for user, server in zip(network.graph.users, network.servers.tolist(), strict=True)
    )


def test_row_numbers_say_nothing_about_communities(network: FederatedNetwork) -> None:
    thirds = np.arange(2000) * 3 // 2000
    assert dependence(thirds, network.communities[:, 0]) < 3.0


def test_servers_follow_communities_in_proportion_to_loyalty() -> None:
    def loyal(strength: float) -> float:
        # 16 communities on 16 servers: how many live on the server that most of their community lives on
        network = make_federated_network(8000, branching=(4, 4), n_servers=16, server_loyalty=strength, ratings_per_user=0)
        table = np.zeros((16, 16))
        np.add.at(table, (network.communities[:, -1], network.servers), 1)
        return float(np.diag(table).sum() / 8000)

    by_chance = 1 / 16  # however servers are sized, communities are equally large
    for strength in (0.0, 0.3, 0.8, 1.0):
        assert loyal(strength) == pytest.approx(strength + (1 - strength) * by_chance, abs=0.02)


def test_servers_without_loyalty_are_independent_of_communities() -> None:
    loose = make_federated_network(8000, server_loyalty=0.0, ratings_per_user=0)
    assert dependence(loose.communities[:, -1], loose.servers) == pytest.approx(1.0, abs=0.25)
    loyal = make_federated_network(8000, server_loyalty=0.2, ratings_per_user=0)
    assert dependence(loyal.communities[:, -1], loyal.servers) > 3.0


def test_ratings_are_pairs_of_user_and_artist_with_plays(network: FederatedNetwork) -> None:
    user, artist, plays = network.ratings.T
    assert len(network.ratings) == 2000 * 20
    assert len(np.unique(user * 2000 + artist)) == len(network.ratings)
    assert (np.diff(user * 2000 + artist) > 0).all()
    assert (user.min() >= 0, user.max() < 2000, artist.min() >= 0, artist.max() < 2000) == (True,) * 4
    assert plays.min() >= 1
    assert plays.max() > 20 * np.median(plays)


def test_tastes_follow_communities_in_proportion_to_strength() -> None:
    def at_home(strength: float) -> float:
        network = make_federated_network(
            2000, branching=(4,), n_artists=4000, taste_strength=strength, ratings_per_user=10, mean_degree=4.0
        )
        user, artist, _ = network.ratings.T
        return float(np.mean(network.communities[user, 0] == network.artist_communities[artist]))

    for strength in (0.0, 0.5, 1.0):  # one level: a play is at home if drawn there, or by chance among 4 communities
        assert at_home(strength) == pytest.approx(strength + (1 - strength) / 4, abs=0.04)


def test_tastes_without_strength_are_independent_of_communities() -> None:
    def taste(strength: float) -> float:
        network = make_federated_network(4000, taste_strength=strength)
        user, artist, _ = network.ratings.T
        return dependence(network.communities[user, 0], network.artist_communities[artist])

    assert taste(0.0) == pytest.approx(1.0, abs=0.4)
    assert taste(0.3) > 5.0


def bytes_of(network: FederatedNetwork) -> tuple[object, ...]:
    arrays = (network.graph.indptr, network.graph.indices, network.communities, network.servers, network.ratings)
    return (*(array.tobytes() for array in arrays), network.graph.users, network.artist_communities.tobytes())


def test_the_same_seed_gives_the_same_bytes() -> None:
    first = make_federated_network(500, branching=(3, 3), random_state=7)
    assert bytes_of(first) == bytes_of(make_federated_network(500, branching=(3, 3), random_state=7))
    assert bytes_of(first) == bytes_of(make_federated_network(500, branching=(3, 3), random_state=np.random.default_rng(7)))
    assert first.graph != make_federated_network(500, branching=(3, 3), random_state=8).graph


def test_contacts_do_not_change_with_servers_and_tastes() -> None:
    one = make_federated_network(500, branching=(3, 3))
    other = make_federated_network(500, branching=(3, 3), n_servers=3, server_loyalty=0.1, taste_strength=0.0, ratings_per_user=5)
    assert (one.graph.edges() == other.graph.edges()).all()
    assert (one.communities == other.communities).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 50), st.integers(0, 2**32))
def test_odd_sizes_still_nest(coarse: int, fine: int, more: int, seed: int) -> None:
    n_users = 8 * coarse * fine + more
    network = make_federated_network(
        n_users, (coarse, fine), mean_degree=2.0, n_artists=50, ratings_per_user=2.0, random_state=seed
    )
    assert network.graph.n_edges == n_users
    assert (network.communities[:, 1] // fine == network.communities[:, 0]).all()
    assert len(np.unique(network.communities[:, 1])) == coarse * fine


def test_drawing_from_a_slice_is_in_proportion_to_weight() -> None:
    # members 0..5 in communities (0 1 2) and (3 4 5): points spread evenly over [0, 1) meet weights exactly
    slices = NestedSlices(np.array([1.0, 2.0, 1.0, 3.0, 0.0, 1.0]), [2])
    points = (np.arange(800) + 0.5) / 800
    level, first, second = np.ones(800, dtype=int), np.zeros(800, dtype=int), np.ones(800, dtype=int)
    assert np.bincount(slices.draw(level, first, points), minlength=6).tolist() == [200, 400, 200, 0, 0, 0]
    assert np.bincount(slices.draw(level, second, points), minlength=6).tolist() == [0, 0, 0, 600, 0, 200]
    assert np.bincount(slices.draw(0 * level, second, points), minlength=6).tolist() == [100, 200, 100, 300, 0, 100]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_users": 100}, "n_users is 100: it must be a whole number of at least 128"),
        ({"n_users": 2000.5}, r"n_users is 2000\.5"),
        ({"branching": ()}, "at least one level"),
        ({"branching": (4, 0)}, r"branching is \(4, 0\)"),
        ({"mean_degree": -1.0}, r"mean_degree is -1\.0: it must be between 0"),
        ({"mean_degree": 1500.0}, r"between 0 and 999\.5"),
        ({"mean_degree": float("nan")}, "mean_degree is nan"),
        ({"tail": 2.0}, r"tail is 2\.0: it must be above 2"),
        ({"closeness": (0.5, 0.5)}, "give 4 probabilities"),
        ({"closeness": (0.5, 0.5, 0.5, 0.5)}, "add up to 1"),
        ({"closeness": (1.5, -0.5, 0.0, 0.0)}, "probabilities"),
        ({"n_servers": 0}, "n_servers is 0"),
        ({"server_loyalty": 1.1}, r"server_loyalty is 1\.1: it must be between 0 and 1"),
        ({"n_artists": 63}, "n_artists is 63: it must be a whole number of at least 64"),
        ({"taste_strength": -0.1}, "taste_strength"),
        ({"ratings_per_user": 1001}, "ratings_per_user is 1001: it must be between 0 and 1000"),
        ({"closeness": (0.0, 0.0, 0.0, 1.0), "mean_degree": 100.0}, "more than the communities can hold"),
    ],
)
def test_impossible_arguments_are_refused_in_one_line(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        make_federated_network(**arguments)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
