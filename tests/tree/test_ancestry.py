from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privact.errors import InputError, MissingExtraError
from privact.learn.search.learn_tree import learn_tree
from privact.tree.hct import HierarchicalClusterTree


def smallest_common(sets, a, b):
    return min((leaves for leaves in sets if a in leaves and b in leaves), key=len)


def larger_first(tree, node):
    """The leaves below a node, those of the larger child first."""
    if node < tree.n_users:
        return [node]
    sides = int(tree.left[node - tree.n_users]), int(tree.right[node - tree.n_users])
    return [leaf for side in sorted(sides, key=lambda side: -tree.size[side]) for leaf in larger_first(tree, side)]


@given(data=st.data())
def test_nearest_is_by_community_then_larger_clusters_first(trees, members, data):
    tree = data.draw(trees)
    sets = members(tree.left, tree.right)
    user = data.draw(st.integers(0, tree.n_users - 1))
    m = data.draw(st.integers(1, tree.n_users + 2))
    size = {other: len(smallest_common(sets, user, other)) for other in range(tree.n_users)}
    place = {leaf: i for i, leaf in enumerate(larger_first(tree, tree.root))}
    expected = sorted(set(range(tree.n_users)) - {user}, key=lambda other: (size[other], place[other]))[:m]
    found = tree.nearest(user, m)
    assert list(found) == [(other, size[other]) for other in expected]
    assert found.users.tolist() == found.leaves.tolist() == expected
    assert len(found) == len(expected)
    assert found.tied == (list(size.values()).count(size[expected[-1]]) if expected else 0)


def test_whom_nearest_lists_does_not_depend_on_the_order_of_the_file():
    rng = np.random.default_rng(0)
    nested = (((0, (1, 2)), (3, (4, (5, 6)))), (7, (8, (9, (10, 11)))))
    tree = HierarchicalClusterTree.from_nested(nested)
    number = rng.permutation(12)

    def renumbered(part):
        return int(number[part]) if isinstance(part, int) else tuple(renumbered(side) for side in part)

    shuffled = HierarchicalClusterTree.from_nested(renumbered(nested))
    for m in (2, 3, 4):  # where no two equal sides decide
        assert {int(number[leaf]) for leaf in tree.nearest(7, m).leaves} == set(
            shuffled.nearest(int(number[7]), m).leaves.tolist()
        )
    assert tree.nearest(0, 4).leaves.tolist()[:2] == [1, 2]
    assert set(tree.nearest(0, 4).leaves.tolist()[2:]) < {4, 5, 6}  # the larger side of the ring (3, (4, (5, 6)))


def test_nearest_of_a_tree_one_can_see():
    tree = HierarchicalClusterTree.from_nested((("ann", "bob"), ("eve", ("cat", "dan"))))
    assert list(tree.nearest("dan", 10)) == [("cat", 2), ("eve", 3), ("ann", 5), ("bob", 5)]
    assert tree.nearest("dan", 2).users == ["cat", "eve"]
    assert tree.nearest("bob", np.int64(1)).users == ["ann"]


@pytest.mark.parametrize("m", [0, -3, 2.0, "3", None, True])
def test_fewer_than_one_nearest_user(m, path_tree):
    with pytest.raises(InputError, match=f"m = {m!r} cannot be: choose a whole number of at least 1"):
        path_tree(4).nearest(0, m)


@given(data=st.data())
def test_communities_are_the_clusters_that_hold_the_user(trees, members, data):
    tree = data.draw(trees)
    user = data.draw(st.integers(0, tree.n_users - 1))
    holding = sorted((leaves for leaves in members(tree.left, tree.right) if user in leaves), key=len)
    path = tree.communities(user)
    assert [set(cluster.users.tolist()) for cluster in path] == holding
    assert path.sizes.tolist() == [len(leaves) for leaves in holding]
    size = data.draw(st.integers(1, tree.n_users))
    place = next(i for i, leaves in enumerate(holding) if len(leaves) >= size)
    expected = holding[place] if len(holding[place]) <= 2 * size else holding[place - 1]
    assert set(tree.community(user, size).users.tolist()) == expected


@given(data=st.data())
def test_lowest_common_cluster_and_distance(trees, members, data):
    tree = data.draw(trees)
    sets = members(tree.left, tree.right)
    a, b, c = (data.draw(st.integers(0, tree.n_users - 1)) for _ in range(3))
    common = smallest_common(sets, a, b)
    assert set(tree.lowest_common_cluster(a, b).users.tolist()) == common
    assert tree.distance(a, b) == tree.distance(b, a) == (0 if a == b else len(common))
    assert tree.distance(a, c) <= max(tree.distance(a, b), tree.distance(b, c))


def test_a_deep_path(path_tree):
    tree = path_tree(5_000)  # node 5,000 + i holds leaves 0 to i + 1
    assert tree.communities(7).sizes.tolist() == [1, *range(8, 5_001)]
    assert tree.community(7, 3_000).node == 5_000 + 2_998
    assert tree.distance(7, 4_000) == 4_001
    assert list(tree.nearest(4_998, 3)) == [(0, 4_999), (1, 4_999), (2, 4_999)]


@pytest.mark.parametrize("size", [0, 5, 1.5])
def test_a_community_larger_than_everybody(size, path_tree):
    with pytest.raises(InputError, match=f"size = {size} cannot be: choose a whole number from 1 to 4, the number of users"):
        path_tree(4).community(0, size)


class Watched(np.ndarray):
    """An array that remembers the largest piece ever taken out of it."""

    largest = 0

    def __getitem__(self, key):
        piece = super().__getitem__(key)
        Watched.largest = max(Watched.largest, np.size(piece))
        return piece


def test_a_few_nearest_users_do_not_touch_everybody(path_tree):
    tree = path_tree(10_000)
    watched = replace(tree, **{name: array.view(Watched) for name, array in tree.layout._asdict().items()})
    assert len(watched.ring_order.order) == 10_000  # made once for a tree
    Watched.largest = 0
    assert watched.nearest(9_000, 5).leaves.tolist() == [0, 1, 2, 3, 4]
    assert watched.nearest(0, 5).leaves.tolist() == [1, 2, 3, 4, 5]
    assert 0 < Watched.largest <= 6


def test_nearest_says_how_many_are_tied_with_the_last():
    tree = HierarchicalClusterTree.from_nested(((0, 1), ((2, 3), (4, 5))))
    assert tree.nearest(0, 1).tied == 1
    assert tree.nearest(0, 3).tied == 4  # 2 and 3 are listed, 4 and 5 are as near


def test_a_community_is_never_more_than_twice_what_was_asked_for(path_tree):
    tree = path_tree(100)  # leaf i joins a cluster of i users
    assert tree.community(30, 20).size == 31
    assert tree.community(60, 20).size == 1  # the next larger one has 61


def test_users_who_are_halved_all_the_way_down_are_alike():
    tree = learn_tree(np.repeat([[4, 4], [40, 0]], [33, 7], axis=0), balance=0.04)
    assert tree.alike(0) == 33
    assert tree.alike(39) == 1  # seven are too few to tell
    assert tree.community(0, 8).size <= 16


def test_nearest_users_are_a_sequence_that_reads_as_a_table():
    tree = HierarchicalClusterTree.from_nested((("ann", "bob"), ("eve", ("cat", "dan"))))
    near = tree.nearest("dan", 3)
    assert list(near) == near[:] == [("cat", 2), ("eve", 3), ("ann", 5)]
    assert near[0] == ("cat", 2)
    assert near[-1] == ("ann", 5)
    assert len(near) == 3
    assert ("eve", 3) in near
    assert "eve" in near
    assert ("eve", 4) not in near
    assert "bob" not in near
    assert "nobody" not in near
    with pytest.raises(IndexError):
        near[3]
    assert repr(near).splitlines() == [
        "3 nearest users of 5, 2 as near as the last",
        "user  community size",
        "cat                2",
        "eve                3",
        "ann                5",
    ]
    assert "<td>cat</td><td>2</td>" in near._repr_html_()
    many = HierarchicalClusterTree.from_linkage([[i and 99 + i, i + 1, i + 1, i + 2] for i in range(99)]).nearest(0, 60)
    assert repr(many).endswith("... and 40 more")


def test_nearest_users_and_the_users_of_a_tree_go_into_a_frame_and_a_loop(path_tree):
    tree = HierarchicalClusterTree.from_children([0, 2], [1, 3], ["ann", "bob", "cat"])
    frame = tree.nearest("ann", 2).to_pandas()
    assert frame.to_dict("list") == {"user": ["bob", "cat"], "community_size": [2, 3]}
    assert list(tree) == ["ann", "bob", "cat"]
    assert len(tree.nearest("ann")) == 2
    assert len(path_tree(30).nearest(0)) == 10
    assert list(path_tree(3)) == [0, 1, 2]


def test_a_frame_without_pandas_is_told_what_to_install(path_tree, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="a data frame needs pandas"):
        path_tree(3).nearest(0).to_pandas()
