from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privact.errors import InputError
from privact.tree.hct import HierarchicalClusterTree


@given(data=st.data())
def test_grafted_clusters_are_those_of_the_definition(trees, members, data):
    tree = data.draw(trees)
    siblings = data.draw(st.lists(st.integers(0, tree.n_nodes - 1), max_size=6))
    sets = members(tree.left, tree.right)
    # One at a time: the cluster that stands at the sibling's place and all that hold it gain the leaf.
    clusters, standing = set(sets), {node: sets[node] for node in range(tree.n_nodes)}
    for j, node in enumerate(siblings):
        leaf = frozenset([tree.n_users + j])
        below = standing[node]
        # A cluster that equals `below` keeps its members: the graft stands above it.
        clusters = {each | leaf if below < each else each for each in clusters} | {below | leaf, leaf}
        standing = {other: each | leaf if below < each or other == node else each for other, each in standing.items()}
    grown = tree.with_leaves(siblings)
    assert set(members(grown.left, grown.right)) == clusters
    assert grown.n_users == tree.n_users + len(siblings)


def test_grafts_one_can_see():
    tree = HierarchicalClusterTree.from_nested((("a", "b"), "c")).with_parameters({"epsilon": 1})
    grown = tree.with_leaves([0, 0, tree.root], ["x", "y", "z"])
    assert list(grown.users) == ["a", "b", "c", "x", "y", "z"]
    expected = (((((("a", "x"), "y"), "b"), "c")), "z")
    assert grown == HierarchicalClusterTree.from_nested(expected)
    assert grown.parameters == {"epsilon": 1}


def test_one_user_gets_company():
    assert HierarchicalClusterTree.from_nested(0).with_leaves([0, 0]) == HierarchicalClusterTree.from_nested(((0, 1), 2))


def test_nobody_new():
    tree = HierarchicalClusterTree.from_nested(((0, 1), 2))
    assert tree.with_leaves([]) == tree


@pytest.mark.parametrize(
    ("siblings", "users", "message"),
    [
        ([5], ["x"], "node 5 is not in this tree: its nodes are 0 to 4"),
        ([-1], ["x"], "node -1 is not in this tree"),
        ([0.5], ["x"], "siblings must be a flat array"),
        (3, ["x"], "siblings must be a flat array"),
        ([0], None, "new users need ids exactly when the tree has ids"),
        ([0], ["x", "y"], "2 user ids for 1 new leaves"),
        ([0], ["a"], "user id 'a' occurs twice"),
    ],
)
def test_grafts_that_cannot_be(siblings, users, message):
    tree = HierarchicalClusterTree.from_nested((("a", "b"), "c"))
    with pytest.raises(InputError, match=message):
        tree.with_leaves(siblings, users)
