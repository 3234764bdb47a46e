"""What a still picture of a tree shows: blocks, colours and group names, before anything is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privact.drawing.colours import branch_colour, group_colour
from privact.errors import InputError
from privact.query.blocks import Block, list_row_sizes, nest_blocks
from privact.tree.hct import HierarchicalClusterTree, User

__all__ = ["Drawing", "compose_drawing", "number_groups"]

_MOST_IN_A_STILL = 1_500  # blocks
_STILL_SHARE = 300  # the smallest block is about this fraction of the picture's width
_MOST_GROUPS = 24  # more hues than this cannot be told apart


@dataclass(frozen=True)
class Drawing:
    """What a still shows, before it is drawn.

    tree: the tree.
    title: one line above the picture.
    notes: what to know about it, below; may be empty.
    rows: the largest size of a cluster in each row.
    blocks: the blocks, each after the one around it.
    colours: of each block, as #rrggbb.
    mixtures: for each block the largest group and its share of the block's users, or None.
    groups: the names of the groups with their own colour, largest first.
    highlight: the leaf whose clusters are outlined, or None.
    """

    tree: HierarchicalClusterTree
    title: str
    notes: str
    rows: Sequence[int]
    blocks: Sequence[Block]
    colours: Sequence[str]
    mixtures: Sequence[tuple[str, float] | None]
    groups: Sequence[str]
    highlight: int | None


def compose_drawing(
    tree: HierarchicalClusterTree,
    *,
    title: str | None = None,
    notes: str = "",
    highlight: User | None = None,
    groups: Sequence[str | None] | None = None,
) -> Drawing:
    """What a still picture of a tree shows; arguments as for `save_picture`."""
    names, group_of = number_groups(tree, groups)
    smallest = max(1, tree.n_users // _STILL_SHARE)
    leaf = None if highlight is None else tree.leaf_of(highlight)
    blocks, block_at = nest_blocks(tree, most=_MOST_IN_A_STILL, smallest=smallest, n_leaves=8, highlight=leaf)
    rows = list_row_sizes(tree.n_users, smallest)[: 1 + max(block.first_row for block in blocks)]
    title = f"{tree.n_users:,} users" if title is None else title
    if group_of is None:
        colours = [branch_colour(block) for block in blocks]
        return Drawing(tree, title, notes, rows, blocks, colours, [None] * len(blocks), (), leaf)
    block_of = np.empty_like(block_at)
    block_of[tree.order] = block_at
    counts = _count_groups(blocks, block_of, len(names), group_of)
    largest = counts.argmax(axis=1) if names else np.zeros(len(blocks), np.int64)
    shares = [int(counts[number, group]) / blocks[number].size if names else 0.0 for number, group in enumerate(largest)]
    colours = [
        group_colour(block, int(group), max(len(names), 1), share)
        for block, group, share in zip(blocks, largest, shares, strict=True)
    ]
    mixtures = [(names[group], share) if share else None for group, share in zip(largest, shares, strict=True)]
    return Drawing(tree, title, notes, rows, blocks, colours, mixtures, names, leaf)


def number_groups(
    tree: HierarchicalClusterTree, groups: Sequence[str | None] | None
) -> tuple[list[str], NDArray[np.int64] | None]:
    """The names of the largest groups, and for each leaf the number of its group, -1 for none of them."""
    if groups is None:
        return [], None
    if len(groups) != tree.n_users:
        raise InputError(f"{len(groups)} groups for {tree.n_users} users: give one for each leaf, None for users in no group")
    sizes = Counter(group for group in groups if group is not None)
    names = [name for name, _ in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))[:_MOST_GROUPS]]
    number = {name: place for place, name in enumerate(names)}
    return names, np.array([-1 if group is None else number.get(group, -1) for group in groups])


def _count_groups(
    blocks: Sequence[Block], block_of: NDArray[np.int64], n_groups: int, group_of: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many users of each group a block holds."""
    counts = np.zeros((len(blocks), n_groups), np.int64)
    known = group_of >= 0
    np.add.at(counts, (block_of[known], group_of[known]), 1)
    parents = [block.parent for block in blocks]
    for place in range(len(blocks) - 1, 0, -1):  # a block comes after the one around it, pools after all clusters
        counts[parents[place]] += counts[place]
    return counts
