from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privact.errors import InputError, UnknownUserError
from privact.tree.hct import HierarchicalClusterTree


def test_arrays_of_a_tree_one_can_see():
    #      8
    #    /   \
    #   5     7
    #  / \   / \
    # 0   3 1   6
    #          / \
    #         2   4
    tree = HierarchicalClusterTree.from_nested((((2, 4), 1), (3, 0)))
    assert tree.left.tolist() == [0, 2, 1, 5]
    assert tree.right.tolist() == [3, 4, 6, 7]
    assert tree.parent.tolist() == [5, 7, 6, 5, 6, 8, 7, 8, -1]
    assert tree.size.tolist() == [1, 1, 1, 1, 1, 2, 2, 3, 5]
    assert tree.order.tolist() == [0, 3, 1, 2, 4]
    assert tree.start.tolist() == [0, 2, 3, 1, 4, 0, 3, 2, 0]
    assert tree.joins.tolist() == [5, 8, 7, 6]
    assert (tree.n_users, tree.n_nodes, tree.root) == (5, 9, 8)
    assert all(array.dtype == np.int32 and not array.flags.writeable for array in (*tree.layout, tree.joins))


def test_one_user_alone():
    tree = HierarchicalClusterTree.from_children([], [])
    assert (tree.n_users, tree.root, tree.parent.tolist(), tree.size.tolist()) == (1, 0, [-1], [1])
    assert list(tree.nearest(0, 5)) == []
    assert tree.communities(0).sizes.tolist() == [1]
    assert tree.distance(0, 0) == 0
    assert tree.cut(1).tolist() == tree.cut_size(1).tolist() == [0]
    assert tree.joins.tolist() == []


@given(data=st.data())
def test_equal_means_the_same_clusters_of_the_same_users(trees, members, data):
    one, other = data.draw(trees), data.draw(trees)
    same = set(members(one.left, one.right)) == set(members(other.left, other.right))
    assert (one == other) is same
    if same:
        assert hash(one) == hash(other)


def test_ids_count_for_equality_and_parameters_do_not():
    tree = HierarchicalClusterTree.from_nested((0, 1))
    named = HierarchicalClusterTree.from_nested(("a", "b"))
    assert tree != named
    assert named != HierarchicalClusterTree.from_nested(("a", "c"))
    assert named == named.with_parameters({"epsilon": 1})
    assert tree != "tree"


@pytest.mark.parametrize("user", [3, -1, np.int64(3), "0", 1.0, True, None, (0,)])
def test_strangers_where_users_are_numbers(user):
    tree = HierarchicalClusterTree.from_nested(((0, 1), 2))
    with pytest.raises(UnknownUserError, match="whose users are the numbers 0 to 2"):
        tree.nearest(user, 1)


@pytest.mark.parametrize("user", ["zoe", "", 0, np.int64(0), None, b"a"])
def test_strangers_where_users_have_ids(user):
    tree = HierarchicalClusterTree.from_nested((("a", "b"), "c"))
    with pytest.raises(UnknownUserError, match="among the 3 users of this tree") as caught:
        tree.distance("a", user)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", [2, np.int32(2), np.uint8(2), np.int64(2)])
def test_any_integer_is_a_leaf_number(number):
    assert HierarchicalClusterTree.from_nested(((0, 1), 2)).leaf_of(number) == 2


def test_as_many_ids_as_leaves():
    with pytest.raises(InputError, match="2 user ids for 3 leaves"):
        HierarchicalClusterTree.from_children([0, 3], [1, 2], ["a", "b"])


def test_parameters_are_read_only_and_plain():
    given_ = {"epsilon": np.float32(0.5), "bins": (1, 2), "nested": {"seed": np.int64(7)}}
    tree = HierarchicalClusterTree.from_nested((0, 1)).with_parameters(given_)
    assert tree.parameters == {"epsilon": 0.5, "bins": [1, 2], "nested": {"seed": 7}}
    with pytest.raises(TypeError):
        tree.parameters["epsilon"] = 2
    tree.parameters["nested"]["seed"] = 8
    assert tree.parameters["nested"]["seed"] == 7
    for bad in ({"epsilon": float("nan")}, {"of": object()}, {(1, 2): 3}):
        with pytest.raises(InputError, match="parameters must fit in JSON"):
            tree.with_parameters(bad)


def test_copies_and_other_processes_get_the_same_tree():
    tree = HierarchicalClusterTree.from_nested((("a", "b"), "c")).with_parameters({"epsilon": 1})
    for other in (copy.copy(tree), copy.deepcopy(tree), pickle.loads(pickle.dumps(tree))):
        assert other == tree
        assert other.parameters == tree.parameters
        assert not other.left.flags.writeable


def test_the_tree_is_frozen():
    tree = HierarchicalClusterTree.from_nested((0, 1))
    with pytest.raises(AttributeError):
        tree.left = tree.right
    with pytest.raises(ValueError, match="read-only"):
        tree.left[0] = 1


def test_what_a_tree_says_of_itself():
    tree = HierarchicalClusterTree.from_nested(("ann", "bob")).with_parameters({"epsilon": 1.0})
    assert repr(tree) == "HierarchicalClusterTree(2 users, ids such as 'ann', epsilon=1.0)"
    assert "ids numbers" in repr(HierarchicalClusterTree.from_nested((0, 1)))


@pytest.mark.parametrize(("question", "function"), [("theta", "theta"), ("violations", "find_violations")])
def test_dissimilarity_is_asked_of_the_cost_module(monkeypatch, question, function):
    monkeypatch.setattr(f"privact.tree.cost.{function}", lambda tree, vectors: (question, tree, vectors))
    tree = HierarchicalClusterTree.from_nested((0, 1))
    assert getattr(tree, question)("vectors") == (question, tree, "vectors")


def test_queries_of_a_file_import_neither_compiler_nor_scipy(tmp_path):
    HierarchicalClusterTree.from_nested((("a", "b"), "c")).save(tmp_path / "tree.hct")
    program = (
        "import sys; from privact.tree.hct import HierarchicalClusterTree as Tree; tree = Tree.load(sys.argv[1]);"
        "tree.nearest('a', 2); tree.community('a', 2); tree.communities('a'); tree.distance('a', 'c'); tree.cut(2);"
        "tree.to_newick(); tree.to_json(); tree.to_linkage(); tree.with_leaves([0], ['d']);"
        "print(sorted({'numba', 'scipy', 'pyarrow'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "tree.hct")], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.slow
def test_many_users_in_one_long_path(tmp_path, path_tree):
    n = 100_000
    ids = [f"user{i}" for i in range(n)]
    path_tree(n, ids).save(tmp_path / "tree.hct")
    tree = HierarchicalClusterTree.load(tmp_path / "tree.hct", memory_map=True)
    # Node n + i of this path holds users 0 to i + 1.
    assert np.array_equal(tree.size[n:], np.arange(2, n + 1))
    assert tree.distance("user3", "user99999") == n
    assert tree.distance("user3", "user40000") == 40_001
    assert tree.lowest_common_cluster("user0", "user9").node == n + 8
    assert list(tree.nearest("user0", 3)) == [("user1", 2), ("user2", 3), ("user3", 4)]
    assert np.array_equal(tree.nearest("user0", n).leaves, np.arange(1, n))
    communities = tree.communities("user0")
    assert np.array_equal(communities.sizes, np.arange(1, n + 1))
    assert communities[-2].size == n - 1
    assert tree.community("user5", 70_000).size == 70_000
    assert np.array_equal(tree.cut(n), np.arange(n))
    assert tree.cut(3).tolist() == [0] * (n - 2) + [1, 2]
    assert tree.cut_size(10).tolist() == [0] * 10 + list(range(1, n - 9))
    assert tree.depths[0] == tree.depths[1] == n - 1
    assert HierarchicalClusterTree.from_newick(tree.to_newick(), users=tree.users) == tree
    assert HierarchicalClusterTree.from_json(tree.to_json()) == tree
    assert HierarchicalClusterTree.from_linkage(tree.to_linkage(np.zeros(n - 1)), users=tree.users) == tree
    pairs = 0
    for leaf in range(1, n):
        pairs = (pairs, leaf)
    nested = HierarchicalClusterTree.from_nested(pairs)
    assert np.array_equal(nested.left, tree.left)
    grown = tree.with_leaves([0, tree.root], ["first", "last"])
    assert grown.distance("user0", "first") == 2
    assert grown.distance("user0", "last") == n + 2


def test_a_tree_has_a_length_and_knows_its_users():
    tree = HierarchicalClusterTree.from_nested((("ann", "bob"), "Eva"))
    assert len(tree) == 3
    assert "ann" in tree
    assert "zoe" not in tree
    with pytest.raises(UnknownUserError, match="no user 'an' in this tree: did you mean 'ann'"):
        tree.nearest("an", 1)
    with pytest.raises(UnknownUserError, match="did you mean 'Eva'"):
        tree.community("eva", 2)
    numbers = HierarchicalClusterTree.from_nested((0, 1))
    assert [user in numbers for user in (0, 1, 2, -1, True, "0")] == [True, True, False, False, False, False]
