from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from privact.errors import InputError
from privact.query.explore import MOST_LISTED, compare, cut_sizes, members, rings, search, view
from privact.query.named_groups import number_groups
from privact.query.quality import draw_random_tree
from privact.tree.hct import HierarchicalClusterTree

NESTED = (((("ann", "bob"), "cid"), (("dee", "eve"), "fay")), (("gus", "hal"), "ida@b.example"))


@pytest.fixture
def tree():
    return HierarchicalClusterTree.from_nested(NESTED)


@pytest.fixture(scope="module")
def path():
    """A path of 3,000 users: user 0 and 1 first, then one more at each step."""
    n_users = 3000
    left = np.arange(n_users - 1, 2 * n_users - 2)
    left[:1] = 0
    return HierarchicalClusterTree.from_children(left, np.arange(1, n_users))


def test_a_view_shows_the_clusters_inside_a_cluster(tree):
    seen = view(tree)
    assert seen["node"] == tree.root
    assert seen["above"] == []
    assert [(block["size"], block["users"][:2]) for block in seen["blocks"][:4]] == [
        (9, ["ann", "bob"]),
        (3, ["ann", "bob"]),
        (3, ["dee", "eve"]),
        (3, ["gus", "hal"]),
    ]
    closer = view(tree, seen["blocks"][2]["node"])
    assert closer["size"] == 3
    assert closer["above"] == [{"node": tree.root, "size": 9}]
    assert {user for block in closer["blocks"] for user in block["users"]} == {"dee", "eve", "fay"}


def test_the_way_back_out_of_a_deep_cluster_is_short(path):
    node = path.community(0, 10).node
    sizes = [step["size"] for step in view(path, node)["above"]]
    assert sizes == [3000, 2430, 810, 270, 90, 30]


def test_every_answer_is_plain_json(tree):
    for answer in (view(tree), members(tree, tree.root), search(tree, "a"), rings(tree, tree.leaf_of("ann")), cut_sizes(tree, 3)):
        assert json.loads(json.dumps(answer)) == answer
    assert json.loads(json.dumps(compare(tree, *map(tree.leaf_of, ("ann", "eve")))))["size"] == 6


def test_members_come_in_pages(tree):
    assert members(tree, tree.root, 0, 4)["users"] + members(tree, tree.root, 4, 5)["users"] == members(tree, tree.root)["users"]
    assert members(tree, tree.root, 100)["users"] == []
    assert sorted(members(tree, tree.root)["users"], key=str.casefold)[:2] == ["ann", "bob"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ann", ["ann"]),
        ("FAY", ["fay"]),
        ("@hal", ["hal"]),
        ("a", ["ann", "fay", "hal", "ida@b.example"]),
        ("b.ex", ["ida@b.example"]),
        ("d", ["dee", "cid", "ida@b.example"]),
        ("nobody", []),
        ("", []),
        (" @ ", []),
        ("a.n", []),
        ("\ud800", []),
    ],
)
def test_search_finds_ids_that_hold_a_text_those_that_begin_with_it_first(tree, text, found):
    assert sorted(search(tree, text)["users"]) == sorted(found)
    if found:
        assert search(tree, text)["users"][0] == found[0]


def test_search_stops_at_the_limit_and_knows_numbers_in_a_tree_without_ids(tree, path):
    assert len(search(tree, "a", 2)["users"]) == 2
    assert search(path, "2999")["users"] == ["2999"]
    assert search(path, "3000")["users"] == search(path, "x")["users"] == []


def test_rings_grow_from_the_user_to_everybody(tree, path):
    found = rings(tree, tree.leaf_of("ann"))
    assert [ring["size"] for ring in found["communities"]] == [1, 2, 3, 6, 9]
    assert found["communities"][2]["users"] == ["bob", "cid"]
    assert found["n_communities"] == 5
    deep = rings(path, 0)
    sizes = [ring["size"] for ring in deep["communities"]]
    assert deep["n_communities"] == 3000
    assert sizes[0] == 1
    assert sizes[-1] == 3000
    assert all(larger >= 1.1 * smaller for smaller, larger in pairwise(sizes[:-1]))


def test_cut_gives_sizes_and_some_users(tree):
    found = cut_sizes(tree, 3)
    assert [(cluster["size"], cluster["users"]) for cluster in found["clusters"]] == [
        (3, ["ann", "bob", "cid"]),
        (3, ["dee", "eve", "fay"]),
        (3, ["gus", "hal", "ida@b.example"]),
    ]
    few = cut_sizes(tree, 9, limit=2)
    assert few["left_out"] == {"clusters": 7, "users": 7}


def test_cut_lists_the_users_of_the_very_cluster():
    tree = draw_random_tree(200, np.random.default_rng(3))
    labels = tree.cut(12)
    for cluster in cut_sizes(tree, 12)["clusters"]:
        label = labels[int(cluster["users"][0])]
        assert {int(user) for user in cluster["users"]} <= set(np.flatnonzero(labels == label).tolist())
        assert cluster["size"] == (labels == label).sum()


def test_a_cut_can_leave_out_crumbs(path):
    found = cut_sizes(path, 1, 10)
    assert found["clusters"][0]["size"] == 3000
    tree = HierarchicalClusterTree.from_nested(((((0, 1), 2), ((3, 4), 5)), 6))
    found = cut_sizes(tree, 2, 3)
    assert [(cluster["size"], cluster["users"]) for cluster in found["clusters"]] == [(3, ["0", "1", "2"]), (3, ["3", "4", "5"])]
    assert found["in_none"] == 1


def test_comparing_two_users_names_what_they_share(tree):
    ann, bob, hal = map(tree.leaf_of, ("ann", "bob", "hal"))
    assert compare(tree, ann, bob)["size"] == compare(tree, ann, bob)["distance"] == 2
    assert compare(tree, ann, hal)["share"] == 1
    assert compare(tree, ann, ann)["distance"] == 0


@pytest.mark.parametrize(
    "ask",
    [
        lambda tree: view(tree, 99),
        lambda tree: view(tree, -1),
        lambda tree: members(tree, 0, -1),
        lambda tree: members(tree, 0, 0, MOST_LISTED + 1),
        lambda tree: search(tree, "a", 0),
        lambda tree: cut_sizes(tree, 10),
    ],
)
def test_what_is_not_there_is_refused_in_one_line(tree, ask):
    with pytest.raises(InputError) as refused:
        ask(tree)
    assert "\n" not in str(refused.value)


def test_the_usual_cut_works_on_every_tree(path):
    found = cut_sizes(path)  # a caterpillar has no two clusters of a usual size
    assert found["k"] == len(found["clusters"]) >= 1
    assert cut_sizes(HierarchicalClusterTree.from_nested(("a", "b")))["k"] == 2


def test_groups_name_and_colour_blocks_and_clusters():
    tree = HierarchicalClusterTree.from_nested(((("a", "b"), "c"), (("d", "e"), "f")))
    groups = number_groups(tree, ["left", "left", "left", "right", "right", None])
    shown = view(tree, groups=groups)
    assert shown["groups"] == ["left", "right"]
    assert shown["blocks"][0]["group"] == {"number": 0, "name": "left", "share": 0.5}
    cut = cut_sizes(tree, 2, groups=groups)
    first, second = cut["clusters"]
    assert cut["groups"] == ["left", "right"]  # so that whoever draws the cut gives each group the colour it has in the view
    assert first["groups"] == [{"number": 0, "name": "left", "share": 1.0}]
    assert second["groups"] == [{"number": 1, "name": "right", "share": 2 / 3}]
