from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from privact.errors import InputError, TreeError
from privact.tree.hct import HierarchicalClusterTree

names = st.text(st.characters(codec="utf-8"), max_size=5)


def named(tree, data):
    ids = data.draw(st.lists(names, min_size=tree.n_users, max_size=tree.n_users, unique=True))
    return HierarchicalClusterTree.from_children(tree.left, tree.right, ids)


def nested(tree):
    built = list(range(tree.n_users))
    for a, b in zip(tree.left, tree.right, strict=True):
        built.append((built[b], built[a]))  # the other way round, which must not matter
    return built[-1]


@given(data=st.data())
def test_nested_pairs(trees, data):
    tree = data.draw(trees)
    assert HierarchicalClusterTree.from_nested(nested(tree)) == tree


def test_nested_ids_do_not_depend_on_the_drawing():
    one = HierarchicalClusterTree.from_nested((("cat", "ann"), "bob"))
    assert one == HierarchicalClusterTree.from_nested(["bob", ["ann", "cat"]])
    assert list(one.users) == ["ann", "bob", "cat"]
    other = HierarchicalClusterTree.from_nested((("cat", "ann"), "bob"), users=["cat", "bob", "ann"])
    assert other.order.tolist() == [0, 2, 1]
    assert HierarchicalClusterTree.from_nested("only").n_users == 1


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ((0, 1, 2), "a node has 3 children"),
        (((0,), 1), "a node has 1 children"),
        ((0, 0), "0 is named twice"),
        (("a", "a"), "occurs twice"),
        (("a", None), "None is no user id"),
        ((1, "2"), "mix the number 1 with the text '2'"),
    ],
)
def test_nested_pairs_that_are_no_tree(pairs, message):
    with pytest.raises(InputError, match=message):
        HierarchicalClusterTree.from_nested(pairs)


@given(data=st.data())
def test_json_round_trip(trees, data):
    tree = data.draw(trees)
    if data.draw(st.booleans()):
        tree = named(tree, data)
    tree = tree.with_parameters({"epsilon": 0.1, "bins": ["ä", None]})
    again = HierarchicalClusterTree.from_json(tree.to_json())
    assert again == tree
    assert again.parameters == tree.parameters
    assert "\n" not in tree.to_json()


def test_json_is_what_the_documentation_says():
    text = HierarchicalClusterTree.from_nested((("b", "a"), "c")).to_json()
    assert json.loads(text) == {
        "format": "privact-hct", "version": 1, "parameters": {}, "users": ["a", "b", "c"], "left": [0, 3], "right": [1, 2],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "is not a tree"),
        ({"version": 2}, "is version 2; this privact reads version 1"),
        ({"left": None}, 'no list "left"'),
        ({"right": {"0": 1}}, 'no list "right"'),
        ({"left": [0]}, "left has 1 entries"),
        ({"left": [0, 0]}, "two parents"),
        ({"left": [0, 0.5]}, "flat array"),
        ({"left": ["0", "3"]}, "flat array"),
        ({"left": [[0], 3]}, "flat array"),
        ({"users": "abc"}, '"users" must be a list'),
        ({"users": ["a"]}, "1 user ids for 3 leaves"),
        ({"users": [1, 2, None]}, "None is no user id"),
        ({"parameters": []}, '"parameters" an object'),
    ],
)
def test_json_that_is_no_tree(change, message):
    content = json.loads(HierarchicalClusterTree.from_nested((("b", "a"), "c")).to_json())
    with pytest.raises(InputError, match=message) as caught:
        HierarchicalClusterTree.from_json(json.dumps(content | change))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "3", "null", "[]", '{"left": [], "right": []}', "1" * 5_000])
def test_text_that_is_no_json_tree(text):
    with pytest.raises(TreeError):
        HierarchicalClusterTree.from_json(text)


@given(data=st.data())
def test_linkage_is_accepted_by_scipy_and_its_cophenet_is_the_distance(trees, data):
    tree = data.draw(trees.filter(lambda tree: tree.n_users > 1))
    linkage = tree.to_linkage()
    assert hierarchy.is_valid_linkage(linkage, throw=True)
    assert hierarchy.is_monotonic(linkage)
    distance = [[tree.distance(a, b) for b in range(tree.n_users)] for a in range(tree.n_users)]
    assert np.array_equal(squareform(hierarchy.cophenet(linkage)), distance)
    assert HierarchicalClusterTree.from_linkage(linkage) == tree


@given(data=st.data())
def test_given_heights_are_raised_to_those_below(trees, members, data):
    tree = data.draw(trees.filter(lambda tree: tree.n_users > 1))
    heights = data.draw(st.lists(st.integers(0, 9), min_size=tree.n_users - 1, max_size=tree.n_users - 1))
    linkage = tree.to_linkage(heights)
    assert hierarchy.is_valid_linkage(linkage, throw=True)
    assert hierarchy.is_monotonic(linkage)
    assert HierarchicalClusterTree.from_linkage(linkage) == tree
    sets = members(tree.left, tree.right)
    raised = {
        sets[node]: max(h for v, h in enumerate(heights, tree.n_users) if sets[v] <= sets[node])
        for node in range(tree.n_users, tree.n_nodes)
    }
    rows = members(linkage[:, 0].astype(int), linkage[:, 1].astype(int))[tree.n_users :]
    assert [raised[leaves] for leaves in rows] == linkage[:, 2].tolist()
    assert [len(leaves) for leaves in rows] == linkage[:, 3].tolist()


def test_linkage_of_scipy_is_read():
    points = np.array([[0.0], [1.0], [10.0], [12.0], [30.0]])
    tree = HierarchicalClusterTree.from_linkage(hierarchy.linkage(points, "average"), users=list("abcde"))
    assert tree == HierarchicalClusterTree.from_nested(((("a", "b"), ("c", "d")), "e"))


def test_one_user_has_an_empty_linkage():
    one = HierarchicalClusterTree.from_nested(0)
    assert one.to_linkage().shape == (0, 4)
    assert HierarchicalClusterTree.from_linkage(one.to_linkage()) == one


@pytest.mark.parametrize("heights", [[1.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf], [[1.0, 2.0]]])
def test_heights_that_cannot_be(heights):
    with pytest.raises(InputError, match="heights must be 2 finite numbers"):
        HierarchicalClusterTree.from_nested(((0, 1), 2)).to_linkage(heights)


@pytest.mark.parametrize(
    ("linkage", "message"),
    [
        ([[0, 1, 1, 2], [2, 4, 2, 3]], "row 1 of the linkage joins 4: clusters known there are 0 to 3"),
        ([[0, 1.5, 1, 2]], "row 0 of the linkage joins 1.5"),
        ([[0, np.nan, 1, 2]], "row 0 of the linkage joins nan"),
        ([[0, 1, 1, 2], [0, 3, 2, 3]], "node 0 has two parents"),
        ([[0, 1, 1]], "4 columns"),
        ([0, 1, 1, 2], "4 columns"),
        ([["a", "b", "c", "d"]], "numbers only"),
    ],
)
def test_a_linkage_that_is_no_tree(linkage, message):
    with pytest.raises(TreeError, match=message):
        HierarchicalClusterTree.from_linkage(linkage)
