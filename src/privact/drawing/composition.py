"""What a still picture of a tree shows: blocks, colours and group names, before anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privact.drawing.colours import branch_colour, group_colour
from privact.query.blocks import Block, list_row_sizes, nest_blocks
from privact.query.named_groups import count_groups, number_groups
from privact.tree.hct import HierarchicalClusterTree, User

__all__ = ["Drawing", "compose_drawing"]

_MOST_IN_A_STILL = 1_500  # blocks
_STILL_SHARE = 300  # the smallest block is about this fraction of the picture's width


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
    smallest = max(1, tree.n_users // _STILL_SHARE)
    leaf = None if highlight is None else tree.leaf_of(highlight)
    blocks, block_at = nest_blocks(tree, most=_MOST_IN_A_STILL, smallest=smallest, n_leaves=8, highlight=leaf)
    rows = list_row_sizes(tree.n_users, smallest)[: 1 + max(block.first_row for block in blocks)]
    title = f"{tree.n_users:,} users" if title is None else title
    if groups is None:
        colours = [branch_colour(block) for block in blocks]
        return Drawing(tree, title, notes, rows, blocks, colours, [None] * len(blocks), (), leaf)
    numbered = number_groups(tree, groups)
    names = numbered.names
    counts = count_groups(blocks, block_at, tree.order, numbered)
    largest = counts.argmax(axis=1) if names else np.zeros(len(blocks), np.int64)
    shares = [int(counts[number, group]) / blocks[number].size if names else 0.0 for number, group in enumerate(largest)]
    colours = [
        group_colour(block, int(group), max(len(names), 1), share)
        for block, group, share in zip(blocks, largest, shares, strict=True)
    ]
    mixtures = [(names[group], share) if share else None for group, share in zip(largest, shares, strict=True)]
    return Drawing(tree, title, notes, rows, blocks, colours, mixtures, names, leaf)
