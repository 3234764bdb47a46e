from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privact.errors import InputError, TreeError
from privact.tree.hct import HierarchicalClusterTree

names = st.text(st.characters(codec="utf-8"), max_size=5) | st.sampled_from(
    ["o'neil", "a b", "a_b", "(x)", "[c]", "q:1", ";", "''", ""]
)


@given(data=st.data())
def test_numbers_round_trip(trees, data):
    tree = data.draw(trees)
    assert HierarchicalClusterTree.from_newick(tree.to_newick()) == tree


@given(data=st.data())
def test_any_id_round_trips(trees, data):
    plain = data.draw(trees)
    ids = data.draw(st.lists(names, min_size=plain.n_users, max_size=plain.n_users, unique=True))
    tree = HierarchicalClusterTree.from_children(plain.left, plain.right, ids)
    assert HierarchicalClusterTree.from_newick(tree.to_newick(), users=ids) == tree


def test_text_one_can_see():
    tree = HierarchicalClusterTree.from_nested((("ann", "o'neil"), "x_y"))
    assert tree.to_newick() == "((ann:2,'o''neil':2):1,'x_y':3);"
    assert HierarchicalClusterTree.from_nested("me").to_newick() == "me;"
    assert HierarchicalClusterTree.from_nested(0).to_newick() == "0;"


def test_branches_put_every_leaf_equally_deep(path_tree):
    lengths = [int(length) for length in re.findall(r":(\d+)", path_tree(4).to_newick())]
    assert path_tree(4).to_newick() == "(((0:2,1:2):1,2:3):1,3:4);"
    assert lengths[0] + lengths[2] + lengths[4] == lengths[3] + lengths[4] == lengths[5] == 4


@pytest.mark.parametrize(
    "text",
    [
        "((ann,bob),eve);",
        " ( ( ann : 1 , bob:.5 ) : 2e-3 , eve:-1. ) ; \n",
        "[first](('ann'[a (comment;] :1,bob)0.98:3,eve[x]:2)'the root':0;[last]",
        "(eve,(bob,ann)inner);",
    ],
)
def test_lengths_comments_inner_names_and_drawing_do_not_matter(text):
    assert HierarchicalClusterTree.from_newick(text) == HierarchicalClusterTree.from_nested((("ann", "bob"), "eve"))


def test_numbers_are_leaves_unless_ids_are_asked_for():
    assert HierarchicalClusterTree.from_newick("((2,0),1);").users is None
    assert list(HierarchicalClusterTree.from_newick("((2,0),3);").users) == ["0", "2", "3"]
    assert list(HierarchicalClusterTree.from_newick("((2,0),01);").users) == ["0", "01", "2"]
    assert list(HierarchicalClusterTree.from_newick("((2,0),1);", users=["2", "1", "0"]).users) == ["2", "1", "0"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "ends at character 0 without the ';'"),
        ("((a,b),c)", "ends at character 9 without the ';'"),
        ("((a,b),c", "ends at character 8"),
        (";", "character 1: the tree is empty"),
        ("((a,b),c;", "character 9: the tree ends with 1 open parentheses"),
        ("((a,b),c));", "character 10: '\\)' stands outside all parentheses"),
        ("(a,b,c);", "character 5: a node has a third child"),
        ("((a,b),(c));", "character 10: a node has one child"),
        ("(a,);", "character 4: found '\\)' where a name or \\( belongs"),
        ("(,a);", "character 2: found ',' where a name or \\( belongs"),
        ("();", "character 2: found '\\)' where"),
        ("a,b;", "character 2: ',' stands outside all parentheses"),
        ("(a b,c);", "character 4: found 'b' where a comma"),
        ("(a(b,c),d);", "character 3: found '\\(' where a comma"),
        ("(a,b);c;", "character 7: text follows"),
        ("(a:x,b);", "character 3: ':' is not followed by a branch length"),
        ("(a:1:2,b);", "character 5: found ':2' where"),
        ("(a:1.2.3,b);", "character 3: ':' is not followed by a branch length"),
        ("((a,b):1 x,c);", "character 10: found 'x' where"),
        ("((a,b)x y,c);", "character 9: found 'y' where"),
        ("('a,b);", "character 2: a quote is opened and never closed"),
        ("(a[b,c);", "character 3: a comment is opened and never closed"),
        ("(a],b);", "character 3: found ']' where"),
        ("(a,a);", "user id 'a' occurs twice"),
    ],
)
def test_mistakes_are_refused_with_their_place(text, message):
    with pytest.raises(InputError, match=message) as caught:
        HierarchicalClusterTree.from_newick(text)
    assert "\n" not in str(caught.value)


@given(st.text("(),:;'[] ab1", max_size=12))
def test_any_text_is_a_tree_or_refused(text):
    try:
        tree = HierarchicalClusterTree.from_newick(text)
    except InputError:
        return
    assert HierarchicalClusterTree.from_newick(tree.to_newick()) == tree


def test_a_leaf_beyond_the_given_users():
    with pytest.raises(TreeError, match="leaf 'b' is not among the given users"):
        HierarchicalClusterTree.from_newick("(a,b);", users=["a", "c"])
