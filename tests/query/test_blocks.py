from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privact.errors import InputError
from privact.query.blocks import list_row_sizes, nest_blocks
from privact.query.quality import draw_random_tree
from privact.tree.hct import HierarchicalClusterTree


def blocks_and_homes(tree, node=None, **options):
    """The blocks, and for each leaf of the node the innermost block that holds it."""
    blocks, block_at = nest_blocks(tree, node=node, **options)
    top = tree.root if node is None else node
    leaves = tree.order[tree.start[top] : tree.start[top] + tree.size[top]]
    return blocks, dict(zip(leaves.tolist(), block_at.tolist(), strict=True))


def users_below(blocks, block_of, number):
    """All leaves of a block: its own, and those of the blocks inside it."""
    inside = {number}
    for place, block in enumerate(blocks):  # a block comes after the one around it
        if block.parent in inside:
            inside.add(place)
    return {leaf for leaf, place in block_of.items() if place in inside}


def test_rows_shrink_threefold_down_to_the_smallest_size():
    assert list_row_sizes(2000, 6) == [2000, 666, 222, 74, 24, 8]
    assert list_row_sizes(27, 1) == [27, 9, 3, 1]
    assert list_row_sizes(20, 1) == [20, 6, 2, 1]  # single users come last
    assert list_row_sizes(1, 1) == [1]


def test_a_small_tree_is_drawn_whole():
    tree = HierarchicalClusterTree.from_nested(((((0, 1), 2), ((3, 4), 5)), ((6, 7), 8)))
    blocks, block_of = blocks_and_homes(tree, most=100)
    drawn = [(sorted(users_below(blocks, block_of, number)), block.first_row) for number, block in enumerate(blocks)]
    assert drawn[0] == (list(range(9)), 0)
    assert drawn[1:4] == [([0, 1, 2], 1), ([3, 4, 5], 1), ([6, 7, 8], 1)]  # at most 9 // 3
    assert sorted(drawn[4:]) == [([leaf], 2) for leaf in range(9)]
    assert [block.size for block in blocks] == [9] + 3 * [3] + 9 * [1]
    assert not any(block.is_pool for block in blocks)


@settings(deadline=None, max_examples=60)
@given(
    n_users=st.integers(1, 60), seed=st.integers(0, 999), most=st.integers(1, 40), smallest=st.integers(1, 5), mark=st.booleans()
)
def test_blocks_are_clusters_of_nested_cuts_and_share_their_parent_without_gap(n_users, seed, most, smallest, mark):
    tree = draw_random_tree(n_users, np.random.default_rng(seed))
    rows = list_row_sizes(n_users, smallest)
    highlight = seed % n_users if mark else None
    blocks, block_of = blocks_and_homes(tree, most=most, smallest=smallest, highlight=highlight)
    cuts = [
        {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}
        for labels in map(tree.cut_size, rows)
    ]
    assert blocks[0].parent == -1
    marked = sum(block.highlight for block in blocks)
    drawn = sum(not block.is_pool and not block.highlight for block in blocks[1:])
    assert drawn <= 2 * most + marked  # a pool of one counts as a cluster, and every drawn block may have one
    for number, block in enumerate(blocks):
        members = users_below(blocks, block_of, number)
        assert len(members) == block.size
        assert set(block.leaves) <= members
        assert len(block.leaves) == min(5, block.size)
        assert block.end - block.begin == pytest.approx(block.size / n_users)
        if block.clusters == 1:
            assert members in cuts[block.first_row]
        else:
            assert sum(cluster <= members for cluster in cuts[block.first_row]) == block.clusters
        if block.highlight:
            assert highlight in members
            assert block.leaves[0] == highlight
        inside = sorted((child for child in blocks if child.parent == number), key=lambda child: child.begin)
        if inside:
            assert inside[0].begin == pytest.approx(block.begin)
            assert inside[-1].end == pytest.approx(block.end)
            assert all(one.end == pytest.approx(other.begin) for one, other in pairwise(inside))
            assert all(child.first_row == block.last_row + 1 for child in inside)
    if highlight is not None:  # every row shows the cluster around the user
        shown = {row for block in blocks if block.highlight for row in range(block.first_row, block.last_row + 1)}
        assert shown >= set(range(len(rows)))


def test_only_the_largest_are_drawn_and_the_rest_is_pooled():
    tree = HierarchicalClusterTree.from_nested((((0, 1), 2), (3, (4, (5, (6, (7, 8)))))))
    blocks, block_of = blocks_and_homes(tree, most=3)
    assert [(block.size, block.clusters) for block in blocks] == [(9, 1), (3, 1), (3, 1), (3, 3)]
    assert users_below(blocks, block_of, 3) == {3, 4, 5}
    assert blocks[3].is_pool


def test_a_path_of_many_users_takes_a_handful_of_blocks():
    n_users = 100_000
    left = np.arange(n_users - 1, 2 * n_users - 2)
    left[:1] = 0
    tree = HierarchicalClusterTree.from_children(left, np.arange(1, n_users))
    blocks, _ = nest_blocks(tree, most=500, smallest=300)
    clusters = [block.size for block in blocks if not block.is_pool]
    assert clusters == [100_000, 33_333, 11_111, 3_703, 1_234, 411]
    assert [block.clusters for block in blocks if block.is_pool] == [66_667, 22_222, 7_408, 2_469, 823]


@settings(deadline=None, max_examples=60)
@given(n_users=st.integers(1, 60), seed=st.integers(0, 999), most=st.integers(1, 40), most_rows=st.integers(1, 6))
def test_a_node_is_drawn_as_the_tree_of_its_users_would_be(n_users, seed, most, most_rows):
    tree = draw_random_tree(n_users, np.random.default_rng(seed))
    node = seed % tree.n_nodes
    blocks, block_of = blocks_and_homes(tree, node, most=most, most_rows=most_rows)
    alone = subtree(tree, node)
    expected, _ = nest_blocks(alone, most=most, most_rows=most_rows)
    compared = ("parent", "size", "clusters", "first_row", "last_row", "begin", "end")
    assert [[getattr(block, name) for name in compared] for block in blocks] == [
        [getattr(block, name) for name in compared] for block in expected
    ]
    for number, block in enumerate(blocks):
        members = users_below(blocks, block_of, number)
        slice_ = tree.order[tree.start[block.node] : tree.start[block.node] + tree.size[block.node]].tolist()
        assert members == set(slice_) if not block.is_pool else members < set(slice_)


def subtree(tree, node):
    """The tree below a node, with its leaves renumbered in their order."""
    if tree.size[node] == 1:
        return HierarchicalClusterTree.from_children([], [])
    first = node - int(tree.size[node]) + 2
    number = {leaf: place for place, leaf in enumerate(sorted(tree.order[tree.start[node] :][: tree.size[node]].tolist()))}
    number |= {inner: len(number) + place for place, inner in enumerate(range(first, node + 1))}
    inner = range(first - tree.n_users, node + 1 - tree.n_users)
    return HierarchicalClusterTree.from_children(
        [number[int(tree.left[i])] for i in inner], [number[int(tree.right[i])] for i in inner]
    )


def test_nothing_can_be_drawn_with_no_blocks():
    with pytest.raises(InputError, match="most = 0"):
        nest_blocks(HierarchicalClusterTree.from_nested((0, 1)), most=0)
