from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from privact.errors import InputError
from privact.query import quality
from privact.query.quality import (
    draw_random_tree,
    find_near_users,
    measure_contact_share,
    measure_contact_shares,
    measure_tree_quality,
)
from privact.simulate.known_graphs import make_cliques
from privact.tree.hct import HierarchicalClusterTree


def adjacency(n_users, edges):
    """The symmetric matrix of some contacts."""
    pairs = np.array(sorted(edges), np.int64).reshape(-1, 2)
    both = np.concatenate((pairs, pairs[:, ::-1]))
    return csr_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(n_users, n_users))


def by_asking(tree, matrix):
    """The same shares by asking the tree for each user's nearest users."""
    dense = matrix.toarray() != 0
    shares = []
    for user in range(tree.n_users):
        degree = int(dense[user].sum())
        found = tree.nearest(user, degree).leaves if degree else []
        shares.append(dense[user, found].mean() if degree else np.nan)
    return np.array(shares)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_shares_are_those_of_the_nearest_users_that_the_tree_gives(data):
    n_users = data.draw(st.integers(2, 14))
    tree = draw_random_tree(n_users, np.random.default_rng(data.draw(st.integers(0, 2**16))))
    pairs = [(one, other) for one in range(n_users) for other in range(one)]
    matrix = adjacency(n_users, data.draw(st.sets(st.sampled_from(pairs))))
    np.testing.assert_array_equal(measure_contact_shares(tree, matrix), by_asking(tree, matrix))


def test_a_tree_of_cliques_knows_all_contacts_and_a_crossed_one_none():
    known = make_cliques([3, 4, 5])
    good = HierarchicalClusterTree.from_nested(known.tree)
    assert measure_contact_share(good, known.graph.to_scipy()) == 1.0
    pairs = adjacency(4, [(0, 1), (2, 3)])
    assert measure_contact_share(HierarchicalClusterTree.from_nested(((0, 2), (1, 3))), pairs) == 0.0


def test_where_the_last_ring_is_cut_its_first_users_count():
    tree = HierarchicalClusterTree.from_nested((0, (1, (2, 3))))  # around 0 there is one ring: 2, 3, 1 in this order
    assert measure_contact_shares(tree, adjacency(4, [(0, 2)]))[0] == 1.0
    assert measure_contact_shares(tree, adjacency(4, [(0, 1)]))[0] == 0.0
    assert measure_contact_shares(tree, adjacency(4, [(0, 1), (0, 2)]))[0] == 0.5


def test_users_without_contacts_do_not_count():
    tree = HierarchicalClusterTree.from_nested(((0, 1), 2))
    shares = measure_contact_shares(tree, adjacency(3, [(0, 1)]))
    assert shares[:2].tolist() == [1.0, 1.0]
    assert np.isnan(shares[2])
    assert measure_contact_share(tree, adjacency(3, [(0, 1)])) == 1.0
    with pytest.raises(InputError, match="no contacts"):
        measure_contact_share(tree, adjacency(3, []))


def test_any_sparse_matrix_will_do_and_what_is_no_contact_is_not_counted():
    tree = HierarchicalClusterTree.from_nested(((0, 1), (2, 3)))
    clean = adjacency(4, [(0, 1), (1, 2)])
    rows, columns = np.array([1, 0, 2, 1, 3, 3]), np.array([0, 1, 1, 2, 3, 0])
    messy = coo_array((np.array([5, 1, 1, 1, 1, 0]), (rows, columns)), shape=(4, 4))  # unordered, a self loop, an explicit zero
    np.testing.assert_array_equal(measure_contact_shares(tree, messy), measure_contact_shares(tree, clean))


def test_a_matrix_of_another_size_is_refused():
    tree = HierarchicalClusterTree.from_nested((0, 1))
    with pytest.raises(InputError, match=r"shape \(3, 3\) but the tree 2 users"):
        measure_contact_share(tree, adjacency(3, [(0, 1)]))


def test_a_path_like_tree_of_many_users_is_no_problem():
    n_users = 50_000
    left = np.arange(n_users - 1, 2 * n_users - 2)
    left[:1] = 0
    tree = HierarchicalClusterTree.from_children(left, np.arange(1, n_users))
    star = np.column_stack((np.zeros(n_users - 1, np.int64), np.arange(1, n_users)))
    shares = measure_contact_shares(tree, adjacency(n_users, star.tolist()))
    assert shares[0] == 1.0  # who knows everybody finds everybody
    assert shares[1] == 1.0  # 0 is nearest to 1
    assert shares[-1] == 1.0  # and the first of the one ring around the last user
    assert shares.min() == 1.0


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_near_users_are_those_of_the_tree(data):
    n_users = data.draw(st.integers(2, 14))
    tree = draw_random_tree(n_users, np.random.default_rng(data.draw(st.integers(0, 2**16))))
    users = np.array(data.draw(st.lists(st.integers(0, n_users - 1), unique=True)), np.int64)
    many = np.array(data.draw(st.lists(st.integers(1, n_users + 2), min_size=len(users), max_size=len(users))), np.int64)
    first, near = find_near_users(tree, users, many)
    for i, (user, m) in enumerate(zip(users.tolist(), many.tolist(), strict=True)):
        assert set(near[first[i] : first[i + 1]].tolist()) == set(tree.nearest(user, m).leaves.tolist())


def test_a_quality_that_can_be_counted():
    """A path 0-1-2-3 and a tree ((0, 1), (2, 3)): the nearest of 0 and 3 are contacts; 1 and 2 have two nearest."""
    tree = HierarchicalClusterTree.from_nested(((0, 1), (2, 3)))
    found = measure_tree_quality(tree, adjacency(4, [(0, 1), (1, 2), (2, 3)]))
    # 0: 1. 1: 0, then 2 of the ring (2, 3). 2: 3, then 0 of the ring (0, 1), who is two steps away. 3: 2.
    assert found.share_of_contacts == (1 + 1 + 0.5 + 1) / 4
    assert found.share_of_two_hop == 0.5 / 4
    assert found.mean_path == (1 + 1 + 1.5 + 1) / 4
    # 0-1 and 2-3 are nearer than all three others; 1-2 is as near as they are.
    assert found.auc == pytest.approx((3 + 3 + 1.5) / (3 * 3))
    assert found.searched == 4


def test_those_whom_no_path_reaches_have_no_distance():
    tree = HierarchicalClusterTree.from_nested(((0, 2), (1, 3)))
    found = measure_tree_quality(tree, adjacency(4, [(0, 1), (2, 3)]))  # the nearest of each is in the other pair
    assert (found.share_of_contacts, found.share_of_two_hop) == (0.0, 0.0)
    assert np.isnan(found.mean_path)


@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_networkx_counts_the_same_steps(data):
    n_users = data.draw(st.integers(3, 12))
    tree = draw_random_tree(n_users, np.random.default_rng(data.draw(st.integers(0, 2**16))))
    pairs = [(one, other) for one in range(n_users) for other in range(one)]
    edges = data.draw(st.sets(st.sampled_from(pairs), min_size=1))
    graph = nx.empty_graph(n_users)
    graph.add_edges_from(edges)
    two, paths = [], []
    for user in range(n_users):
        if graph.degree(user):
            steps = nx.single_source_shortest_path_length(graph, user)
            near = [steps.get(other) for other in tree.nearest(user, graph.degree(user)).leaves.tolist()]
            two.append(near.count(2) / len(near))
            paths += [np.mean([step for step in near if step])] if any(near) else []
    found = measure_tree_quality(tree, adjacency(n_users, edges))
    assert found.share_of_two_hop == pytest.approx(np.mean(two))
    assert found.mean_path == pytest.approx(np.mean(paths) if paths else np.nan, nan_ok=True)


def test_of_many_users_evenly_spaced_ones_are_searched(monkeypatch):
    monkeypatch.setattr(quality, "MOST_SEARCHED", 3)
    tree = HierarchicalClusterTree.from_nested((((0, 1), 2), (3, (4, 5))))
    found = measure_tree_quality(tree, adjacency(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]))
    assert found.searched == 3
    # 0: 1, one step. 2: two of 0, 1 and none else, in leaf order: 0 and 1. 4: 5 and 3.
    assert found.share_of_two_hop == pytest.approx((0 + 0.5 + 0) / 3)
    assert found.mean_path == pytest.approx((1 + 1.5 + 1) / 3)


def test_random_trees_come_from_the_seed_and_know_nothing_but_chance():
    one, again, other = (draw_random_tree(400, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one == again
    assert one != other
    assert draw_random_tree(3, np.random.default_rng(0), ["a", "b", "c"]).users == ["a", "b", "c"]
    rng = np.random.default_rng(0)
    matrix = csr_array(np.triu(rng.random((400, 400)) < 0.1, 1))
    matrix = matrix + matrix.T
    found = [measure_contact_share(draw_random_tree(400, rng), matrix) for _ in range(5)]
    assert np.mean(found) == pytest.approx(
        0.1, abs=0.01
    )  # among any others a tenth are contacts; 40 nearest of 400 users: sd .0015


@pytest.mark.data
def test_on_lastfm_the_tree_of_random_bins_sees_little_more_than_the_degree(data_dir):
    """findings: a random tree .008, the degree alone .021 and random bins .019 at epsilon 1."""
    from privact.estimator import PrivaCT
    from privact.network.datasets import load_dataset

    graph = load_dataset("lastfm", data_dir).graph
    matrix = graph.to_scipy()
    share = {
        n_bins: measure_contact_share(PrivaCT(epsilon=1.0, n_bins=n_bins, random_state=5).fit(graph).tree_, matrix)
        for n_bins in (1, 7)
    }
    assert measure_contact_share(draw_random_tree(graph.n_users, np.random.default_rng(5)), matrix) == pytest.approx(
        0.0075, abs=0.0015
    )
    assert share[1] == pytest.approx(0.022, abs=0.006)
    assert share[7] == pytest.approx(0.020, abs=0.006)
