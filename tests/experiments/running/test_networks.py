"""Networks with ratings are read in an order that says nothing, and lose nothing by it."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from privact.errors import InputError
from privact.experiments.running.networks import OwnNetwork, load_rated, shuffle_users
from privact.simulate.known_graphs import make_cliques

KNOWS = [(user, user + 1) for user in range(11)]  # a path, as files tend to be: neighbours stand side by side
RATED = [(user, item, 1 + (user * item) % 4) for user in range(12) for item in range(12) if user <= item]


def write(path, heading, lines):
    with gzip.open(path, "wt") as file:
        file.writelines("\t".join(map(str, line)) + "\n" for line in [heading, *lines])


def test_users_and_items_are_in_random_order_and_keep_contacts_and_ratings(tmp_path):
    (tmp_path / "douban").mkdir()
    write(tmp_path / "douban" / "social.tsv.gz", ("user", "friend"), KNOWS)
    write(tmp_path / "douban" / "ratings.tsv.gz", ("user", "item", "rating"), RATED)
    found = load_rated("douban", str(tmp_path))
    users, items = found.graph.users, found.ratings.items
    assert users != tuple(map(str, range(12)))
    assert items != tuple(map(str, range(12)))
    assert found.ratings.users == users
    assert {frozenset((users[a], users[b])) for a, b in found.graph.edges().tolist()} == {
        frozenset((str(a), str(b))) for a, b in KNOWS
    }
    entries = found.ratings.matrix.tocoo()
    assert {(users[u], items[i], value) for u, i, value in zip(entries.row, entries.col, entries.data, strict=True)} == {
        (str(u), str(i), value / 5) for u, i, value in RATED
    }
    assert load_rated("douban", str(tmp_path)).graph.users == users  # the same order every time


def test_a_network_of_ones_own_needs_enough_users_with_ratings(tmp_path):
    contacts, ratings = tmp_path / "contacts.txt", tmp_path / "ratings.dat"
    contacts.write_text("".join(f"u{user} u{user + 1}\n" for user in range(39)))
    for rated in (31, 32):
        ratings.write_text("".join(f"u{user}::waltz::{1 + user % 4}\n" for user in range(rated)) + "stranger::waltz::1\n")
        if rated == 32:
            assert OwnNetwork(contacts, ratings).rated("own data").graph.n_users == 40
        else:
            with pytest.raises(InputError, match=r"31 of the 40 connected users .* have ratings .*: give at least 32"):
                OwnNetwork(contacts, ratings).rated("own data")


def test_shuffled_users_keep_their_contacts():
    graph = make_cliques([3, 4]).graph
    mixed = shuffle_users(graph, np.array([6, 2, 0, 5, 1, 3, 4]))
    assert mixed.users == (6, 2, 0, 5, 1, 3, 4)
    assert {user: set(mixed.neighbours(user)) for user in mixed.users} == {u: set(graph.neighbours(u)) for u in graph.users}
