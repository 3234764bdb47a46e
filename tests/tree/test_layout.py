from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privact.errors import TreeError
from privact.tree import _layout, layout
from privact.tree.layout import Layout, find_layout_problem, lay_out


def same(one: Layout, other: Layout) -> bool:
    return all(np.array_equal(a, b) and a.dtype == b.dtype == np.int32 for a, b in zip(one, other, strict=True))


@given(data=st.data())
def test_the_drawing_is_what_its_definition_says(children, members, data):
    left, right = data.draw(children)
    n = len(left) + 1
    drawn = lay_out(left, right)
    before, after = members(left, right), members(drawn.left, drawn.right)
    assert set(before) == set(after)
    assert after[-1] == frozenset(range(n))
    for node, leaves in enumerate(after):
        slice_ = drawn.order[drawn.start[node] : drawn.start[node] + drawn.size[node]]
        assert drawn.size[node] == len(leaves) == len(slice_)
        assert set(slice_.tolist()) == leaves
        assert slice_[0] == min(leaves)
    for node, (a, b) in enumerate(zip(drawn.left, drawn.right, strict=True), start=n):
        assert min(after[a]) < min(after[b])
        assert drawn.parent[a] == drawn.parent[b] == node
    assert drawn.parent[-1] == -1


@given(data=st.data())
def test_internal_nodes_are_in_postorder(trees, data):
    tree = data.draw(trees)
    visited, todo = [], [tree.root]
    while todo:  # root, right, left: postorder backwards
        node = todo.pop()
        if node >= tree.n_users:
            visited.append(node)
            todo += [int(tree.left[node - tree.n_users]), int(tree.right[node - tree.n_users])]
    assert visited[::-1] == list(range(tree.n_users, tree.n_nodes))


@given(data=st.data())
def test_numbering_and_sides_do_not_matter(children, data):
    left, right = data.draw(children)
    n = len(left) + 1
    shuffled = np.array(data.draw(st.permutations(range(n - 1))), np.int64)
    flipped = np.array(data.draw(st.lists(st.booleans(), min_size=n - 1, max_size=n - 1)), bool)
    number = np.concatenate((np.arange(n), n + shuffled)).astype(np.int64)
    other_left, other_right = np.empty_like(left), np.empty_like(right)
    other_left[shuffled] = number[np.where(flipped, right, left)]
    other_right[shuffled] = number[np.where(flipped, left, right)]
    assert same(lay_out(left, right), lay_out(other_left, other_right))


@given(data=st.data())
def test_compiled_kernels_agree_with_their_plain_twins(children, data):
    left, right = (side.astype(np.int32) for side in data.draw(children.filter(lambda pair: len(pair[0]) > 0)))
    root = int(np.setdiff1d(np.arange(2 * len(left) + 1), np.concatenate((left, right)))[0])
    top_down = layout.walk_down(left, right, root)
    assert np.array_equal(top_down, _layout.walk_down(left, right, root))
    plain, compiled = layout.draw_in_order(left, right, top_down), _layout.draw_in_order(left, right, top_down)
    assert same(Layout(*plain), Layout(*compiled))


@pytest.mark.parametrize("n_users", [1_999, 2_000, 2_001])
def test_both_sides_of_the_switch_to_compiled_kernels(n_users):
    leaves = np.random.default_rng(1).permutation(n_users)
    left = np.concatenate((leaves[:1], np.arange(n_users, 2 * n_users - 2)))
    drawn = lay_out(left, leaves[1:])
    assert find_layout_problem(drawn) is None
    # Each node of a path adds one leaf; the first two are joined at the bottom.
    assert set(drawn.order[drawn.start[n_users] :][:2].tolist()) == set(leaves[:2].tolist())
    assert np.array_equal(np.sort(drawn.size[n_users:]), np.arange(2, n_users + 1))


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ([0], [2, 1], "left has 1 entries and right 2"),
        ([0, 3], [1, 5], "right child 5 of internal node 4 is not a node: nodes are 0 to 4"),
        ([-1, 3], [1, 2], "left child -1 of internal node 3 is not a node"),
        ([0, 0], [1, 2], "node 0 has two parents: it is a child of internal nodes 3 and 4"),
        ([0, 3], [0, 2], "node 0 has two parents: it is a child of internal node 3 twice"),
        ([0, 1], [4, 3], "leaf 2 has no parent and every internal node has one"),
        ([0, 5, 2], [1, 3, 4], "internal node 5 is not reached from root 6"),
        ([0.0, 3.0], [1.0, 2.0], "left must be a flat array of node numbers, not float64"),
        ([[0, 3]], [[1, 2]], "left must be a flat array of node numbers"),
        ([True], [False], "left must be a flat array of node numbers, not bool"),
        ([[0], [1, 2]], [1, 2], "left must be a flat array of node numbers"),
        ([2**70], [1], "left must be a flat array of node numbers"),
    ],
)
def test_what_is_not_one_tree_is_refused_in_one_line(left, right, message):
    with pytest.raises(TreeError, match=message) as caught:
        lay_out(left, right)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("tail", [0, 2_000])
def test_a_cycle_beside_the_tree_is_found(tail):
    # Internal nodes n and n+1 are each other's child; the others are a path that is a tree.
    n = 5 + tail
    left = [n + 1, n, 2, *range(n + 2, 2 * n - 2)]
    right = [0, 1, 3, *range(4, n)]
    with pytest.raises(TreeError, match=f"internal node {n} is not reached from root {2 * n - 2}"):
        lay_out(left, right)


def test_any_changed_entry_is_noticed():
    good = lay_out([0, 5, 2, 6], [1, 3, 4, 7])
    assert find_layout_problem(good) is None
    for field in Layout._fields:
        array = getattr(good, field)
        for place in range(len(array)):
            for value in set(range(-2, 11)) - {int(array[place])}:
                changed = array.copy()
                changed[place] = value
                assert find_layout_problem(good._replace(**{field: changed})) is not None
        assert find_layout_problem(good._replace(**{field: array[:-1]})) is not None


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (([0], [1], [2, 2, -1], [2, 1, 3], [0, 1], [0, 2, 0]), "sizes do not add up"),
        (([0], [1], [2, 2, -1], [1, 1, 2], [1, 0], [-1, 0, -1]), "leaf slices do not nest"),
        (([0], [0], [2, 2, -1], [1, 1, 2], [0, 1], [0, 1, 0]), "leaf slices do not nest"),
        (([], [], [-1], [1], [3], [0]), "leaf order is not the tree's"),
        (([], [], [], [], [], []), "lengths"),
    ],
)
def test_lies_that_agree_with_each_other_are_noticed(layout, message):
    assert message in find_layout_problem(Layout(*(np.array(values, np.int32) for values in layout)))


def test_a_tree_drawn_another_way_is_not_canonical():
    as32 = {name: np.array(value, np.int32) for name, value in {
        "left": [1], "right": [0], "parent": [2, 2, -1], "size": [1, 1, 2], "order": [1, 0], "start": [1, 0, 0],
    }.items()}  # fmt: skip
    assert "smaller leaf" in find_layout_problem(Layout(**as32))
    twisted = Layout(*(np.array(value, np.int32) for value in (
        [2, 0, 5], [3, 1, 4], [5, 5, 4, 4, 6, 6, -1], [1, 1, 1, 1, 2, 2, 4], [0, 1, 2, 3], [0, 1, 2, 3, 2, 0, 0],
    )))  # fmt: skip
    assert "postorder" in find_layout_problem(twisted)
