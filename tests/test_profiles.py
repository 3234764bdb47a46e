"""PrivaCT(profile=...): counts, shares, and shares with the users' own labels, through the whole front door."""

from __future__ import annotations

import numpy as np
import pytest

from privact import InputError, PrivaCT
from privact.network.graph import ContactGraph
from privact.query.quality import measure_contact_share
from privact.simulate.federated_network import make_federated_network


@pytest.fixture(scope="module")
def network():
    return make_federated_network(300, random_state=1)


def test_counts_are_the_default_and_the_file_says_nothing_new(network):
    plain, named = (PrivaCT(random_state=3, **how).fit(network.graph) for how in ({}, {"profile": "counts"}))
    assert plain.tree_ == named.tree_
    assert "profile" not in plain.tree_.parameters


@pytest.mark.parametrize(
    ("profile", "how"),
    [("shares", {"epsilon": 1.0}), ("shares+own", {"epsilon": None}), ("shares+own", {"epsilon": 1.0, "denoise": False})],
)
def test_one_seed_decides_the_tree_and_the_file_names_the_profile(network, profile, how):
    models = [PrivaCT(bins=network.servers, profile=profile, random_state=seed, **how).fit(network.graph) for seed in (3, 3)]
    assert models[0].tree_ == models[1].tree_
    assert models[0].tree_.parameters["profile"] == profile
    assert models[0].embedding_.points.shape == (300, models[0].n_bins_)
    assert models[0].vectors_.shape == models[0].reports_.shape


def test_shares_see_who_where_counts_see_how_many():
    """Two groups who keep to themselves, each with busy and quiet users: counts part the busy from the quiet."""
    rng = np.random.default_rng(0)
    busy, group = np.arange(200) % 2, np.arange(200) // 100
    chance = np.where(group[:, None] == group, np.where(busy[:, None] * busy, 0.6, 0.05), 0.001)
    edges = np.argwhere(np.triu(rng.random((200, 200)) < chance, 1))
    graph = ContactGraph.from_edges(edges, users=range(200))
    by_group = {}
    for profile in ("counts", "shares", "shares+own"):
        halves = PrivaCT(None, bins=group, profile=profile, random_state=0, n_clusters=2).fit_predict(graph)
        by_group[profile] = abs(np.mean(halves == group) - 0.5) * 2
    assert by_group["counts"] < 0.8
    assert by_group["shares"] > 0.95
    assert by_group["shares+own"] == 1.0


def test_at_epsilon_1_shares_of_labels_find_more_contacts_than_counts(network):
    """The made-up servers hold most contacts of their users. Users come in random order, so that ties tell nothing."""
    order = np.random.default_rng(0).permutation(300)
    place = np.argsort(order)
    graph = ContactGraph.from_edges(place[network.graph.edges()], users=range(300))
    share = {
        profile: measure_contact_share(
            PrivaCT(1.0, bins=network.servers[order], profile=profile, random_state=1).fit(graph).tree_, graph.to_scipy()
        )
        for profile in ("counts", "shares", "shares+own")
    }
    assert share["counts"] < share["shares"] < share["shares+own"]


def test_late_joiners_are_placed_by_their_shares_and_their_labels(network):
    model = PrivaCT(bins=network.servers, profile="shares+own", random_state=3).fit(network.graph)
    twins, groups = model.reports_[:5], network.servers[:5]
    placed = model.place(twins, users=list("abcde"), groups=groups)
    blind = model.place(twins, users=list("abcde"))
    assert placed.grafted().n_users == blind.grafted().n_users == 305
    same = [
        np.mean(network.servers[p.nearest(u, 5).leaves] == g)
        for p in (placed, blind)
        for u, g in zip("abcde", groups, strict=True)
    ]
    assert np.mean(same[:5]) >= np.mean(same[5:])
    assert np.mean(same[:5]) > 0.9
    with pytest.raises(InputError, match="groups go from"):
        model.place(twins, groups=np.full(5, 999))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"profile": "who"}, "profile 'who' is unknown: use one of counts, shares, shares\\+own"),
        ({"profile": "shares", "n_bins": 1}, "shares of 1 bin"),
        ({"profile": "shares+own"}, "needs public labels as bins"),
    ],
)
def test_bad_profiles_are_refused_in_one_line(network, parameters, message):
    with pytest.raises(InputError, match=message) as refused:
        PrivaCT(**parameters).fit(network.graph)
    assert "\n" not in str(refused.value)


def test_random_bins_have_shares_too(network):
    assert PrivaCT(profile="shares", n_bins=4, random_state=0).fit(network.graph).tree_.n_users == 300


def test_many_users_take_the_partitioned_way():
    """More users than exact average linkage starts from, whose two groups do not know each other."""
    rng = np.random.default_rng(0)
    group = np.arange(6000) % 2
    edges = rng.integers(0, 3000, (20000, 2)) * 2 + rng.integers(0, 2, (20000, 1))
    graph = ContactGraph.from_edges(edges, users=range(6000))
    halves = PrivaCT(None, bins=group, profile="shares+own", sweeps=1, random_state=0, n_clusters=2).fit_predict(graph)
    assert abs(np.mean(halves == group) - 0.5) == 0.5
