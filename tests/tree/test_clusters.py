from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privact.errors import InputError
from privact.learn.search.learn_tree import learn_tree
from privact.tree.clusters import Communities
from privact.tree.hct import HierarchicalClusterTree


def largest_split(tree, node):
    """The smaller side of the largest split at or below a node."""
    if node < tree.n_users:
        return 0
    sides = int(tree.left[node - tree.n_users]), int(tree.right[node - tree.n_users])
    return max(min(int(tree.size[side]) for side in sides), *(largest_split(tree, side) for side in sides))


def split_by_structure(tree, sets, k):
    """Labels of k clusters, by doing what the definition says."""
    place = {leaf: i for i, leaf in enumerate(tree.order.tolist())}
    first = lambda node: min(place[leaf] for leaf in sets[node])  # noqa: E731
    clusters = [tree.root]
    while len(clusters) < k:
        largest = min(clusters, key=lambda node: (-largest_split(tree, node), -len(sets[node]), first(node)))
        clusters.remove(largest)
        clusters += [int(tree.left[largest - tree.n_users]), int(tree.right[largest - tree.n_users])]
    clusters.sort(key=first)
    return [next(label for label, node in enumerate(clusters) if leaf in sets[node]) for leaf in range(tree.n_users)]


@given(data=st.data())
def test_cut_splits_the_cluster_with_the_most_to_part(trees, members, data):
    tree = data.draw(trees)
    k = data.draw(st.integers(1, tree.n_users))
    assert tree.cut(k).tolist() == split_by_structure(tree, members(tree.left, tree.right), k)


def split_those_that_can(tree, sets, k, min_size):
    """Labels of k clusters of at least min_size users, by doing what the definition says; None if there are no k."""
    place = {leaf: i for i, leaf in enumerate(tree.order.tolist())}
    first = lambda node: min(place[leaf] for leaf in sets[node])  # noqa: E731

    def next_split(node):
        """The first node on the way down at which both sides are large enough, or None."""
        while node >= tree.n_users:
            sides = sorted(
                (int(tree.left[node - tree.n_users]), int(tree.right[node - tree.n_users])), key=lambda s: len(sets[s])
            )
            if len(sets[sides[0]]) >= min_size:
                return node, sides
            if len(sets[sides[1]]) < min_size:
                return None
            node = sides[1]
        return None

    clusters = [tree.root]
    while len(clusters) < k:
        can = [(node, found) for node in clusters if (found := next_split(node))]
        if not can:
            return None
        ranked = {found[0]: (-largest_split(tree, found[0]), -len(sets[found[0]]), first(found[0])) for _, found in can}
        node, (_, sides) = min(can, key=lambda entry: ranked[entry[1][0]])
        clusters.remove(node)
        clusters += sides
    clusters.sort(key=first)
    return [next((label for label, node in enumerate(clusters) if leaf in sets[node]), -1) for leaf in range(tree.n_users)]


@given(data=st.data())
def test_a_cut_with_a_least_size_leaves_who_falls_off_in_no_cluster(trees, members, data):
    tree = data.draw(trees)
    k, min_size = data.draw(st.integers(1, tree.n_users)), data.draw(st.integers(1, 4))
    expected = split_those_that_can(tree, members(tree.left, tree.right), k, min_size)
    if expected is None:
        with pytest.raises(InputError, match=f"k = {k} clusters of at least {min_size} users cannot be"):
            tree.cut(k, min_size)
    else:
        assert tree.cut(k, min_size).tolist() == expected


@given(data=st.data())
def test_cut_size_gives_the_largest_clusters_allowed(trees, members, data):
    tree = data.draw(trees)
    limit = data.draw(st.integers(1, tree.n_users + 1))
    allowed = {leaves for leaves in members(tree.left, tree.right) if len(leaves) <= limit}
    maximal = {leaves for leaves in allowed if not any(leaves < other for other in allowed)}
    labels = tree.cut_size(limit)
    assert {frozenset(np.flatnonzero(labels == label).tolist()) for label in range(labels.max() + 1)} == maximal
    assert np.all(np.diff(labels[tree.order]) >= 0)


def test_cuts_of_a_tree_one_can_see():
    tree = HierarchicalClusterTree.from_nested((((0, 1), (2, 3)), (4, 5)))
    assert tree.cut(2).tolist() == [0, 0, 0, 0, 1, 1]
    assert tree.cut(4).tolist() == [0, 1, 2, 2, 3, 3]  # of three pairs the first is split
    assert tree.cut_size(3).tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("k", [0, 5, 2.0])
def test_a_cut_into_no_or_too_many_clusters(k, path_tree):
    with pytest.raises(InputError, match=f"k = {k} cannot be: choose a whole number from 1 to 4"):
        path_tree(4).cut(k)


def test_clusters_without_room_for_anybody(path_tree):
    with pytest.raises(InputError, match="max_size = 0"):
        path_tree(4).cut_size(0)


@given(data=st.data())
def test_depth_counts_the_clusters_above(trees, data):
    tree = data.draw(trees)
    assert tree.depths.tolist() == [len(tree.communities(leaf)) - 1 for leaf in range(tree.n_users)]


def test_a_cluster():
    tree = HierarchicalClusterTree.from_nested((("ann", "bob"), ("eve", ("cat", "dan"))))
    cluster = tree.community("dan", 3)
    assert (cluster.size, len(cluster), cluster.users) == (3, 3, ["cat", "dan", "eve"])
    assert "eve" in cluster
    assert "ann" not in cluster
    assert cluster == tree.lowest_common_cluster("eve", "cat")
    assert cluster != tree.community("ann", 2)
    assert repr(cluster) == "Cluster(node=7, 3 users: 'cat', 'dan', 'eve')"
    assert "3 users: &#x27;cat&#x27;" in cluster._repr_html_()
    assert list(cluster) == ["cat", "dan", "eve"]
    assert "zoe" not in cluster
    assert repr(tree.communities("dan")) == "Communities(4 clusters of 1, 2, 3, 5 users)"
    with pytest.raises(ValueError, match="read-only"):
        cluster.leaves[0] = 3


def test_communities_are_a_sequence():
    tree = HierarchicalClusterTree.from_nested((("ann", "bob"), ("eve", ("cat", "dan"))))
    path = tree.communities("cat")
    assert len(path) == 4
    assert path[-1].users == ["ann", "bob", "cat", "dan", "eve"]
    assert [cluster.size for cluster in path] == [1, 2, 3, 5] == path.sizes.tolist()
    assert isinstance(path[1:3], Communities)
    assert path[1:3][0] == path[1]
    with pytest.raises(IndexError):
        path[4]


def test_cut_auto_finds_groups_one_can_see():
    """Four groups of 32 users, who fall off one by one inside each group."""

    def chain(users):
        return users[0] if len(users) == 1 else (chain(users[:-1]), users[-1])

    groups = [chain(list(range(32 * i, 32 * i + 32))) for i in range(4)]
    tree = HierarchicalClusterTree.from_nested(((groups[0], groups[1]), (groups[2], groups[3])))
    assert tree.cut("auto").tolist() == np.repeat(range(4), 32).tolist()
    assert tree.cut("auto", min_size=8).tolist() == np.repeat(range(4), 32).tolist()


def test_cut_auto_of_a_few_users():
    assert HierarchicalClusterTree.from_nested((0, 1)).cut("auto").tolist() == [0, 1]
    assert HierarchicalClusterTree.from_nested(((0, 1), (2, 3))).cut("auto").tolist() == [0, 0, 1, 1]


def test_communities_of_some_sizes_one_can_see():
    tree = HierarchicalClusterTree.from_nested((((0, 1), (2, 3)), (((4, 5), 6), 7)))
    assert [cluster.users.tolist() for cluster in tree.communities(2, 3)] == [[0, 1], [2, 3], [4, 5, 6], [7]]
    assert [cluster.size for cluster in tree.communities(min_size=4, max_size=5)] == [4, 4]
    assert [cluster.size for cluster in tree.communities(8, 8)] == [8]


def test_communities_hold_everybody_once_and_have_the_sizes_under_the_balance_floor():
    rng = np.random.default_rng(0)
    tree = learn_tree(rng.poisson(rng.pareto(1.6, (1_000, 1)) * 4.0 + 1.0, (1_000, 4)), random_state=0)
    found = tree.communities(50, 149)
    assert sorted(np.concatenate([cluster.leaves for cluster in found]).tolist()) == list(range(1_000))
    assert {50 <= cluster.size <= 149 for cluster in found} == {True}


def test_communities_need_a_user_or_a_range():
    tree = HierarchicalClusterTree.from_nested((((0, 1), (2, 3)), 4))
    with pytest.raises(InputError, match="max_size = 3 is below min_size = 5"):
        tree.communities(5, 3)
    for given_ in ({}, {"min_size": 2}, {"user": 1, "min_size": 2, "max_size": 3}):
        with pytest.raises(InputError, match="takes a user, or both min_size and max_size"):
            tree.communities(**given_)
