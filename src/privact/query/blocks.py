"""A tree as nested blocks, few enough to draw: the clusters of ever finer cuts, the small ones pooled.

A binary tree is too deep to draw as it is. Row 0 of the drawing is everybody, row j the cut into the largest clusters of at most
n / 3^j users (`cut_size`). A cluster that stays whole from one row to the next is one block over both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privact.tree.counts import checked_count
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["STEP", "Block", "nested_blocks", "row_sizes"]

STEP = 3
"""A row's clusters are at most a third of the size allowed in the row above."""


@dataclass(frozen=True)
class Block:
    """A cluster in the drawing, or the small clusters of another block pooled into one.

    parent: place of the block around it in the list; -1 for everybody.
    size: how many users it holds.
    clusters: how many clusters it stands for; 1 unless they were pooled.
    first_row, last_row: the rows in which it is drawn.
    begin, end: from where to where it reaches from left to right, as a share of the whole width.
    leaves: some of its users, or all of them if they are few; the user to highlight comes first.
    highlight: whether it is a cluster around the user to highlight.
    """

    parent: int
    size: int
    clusters: int
    first_row: int
    last_row: int
    begin: float
    end: float
    leaves: tuple[int, ...]
    highlight: bool = False

    @property
    def is_pool(self) -> bool:
        """Whether it stands for several small clusters rather than for one."""
        return self.clusters != 1


def row_sizes(n_users: int, smallest: int) -> list[int]:
    """The largest size that a cluster may have in each row, from everybody down to a size that is not below `smallest`."""
    sizes = [n_users]
    while sizes[-1] // STEP >= smallest:
        sizes.append(sizes[-1] // STEP)
    if smallest == 1 < sizes[-1]:
        sizes.append(1)  # the last row shows single users
    return sizes


def nested_blocks(
    tree: HierarchicalClusterTree, *, most: int, smallest: int = 1, n_leaves: int = 5, highlight: int | None = None
) -> tuple[list[Block], NDArray[np.int64]]:
    """The blocks of a drawing, each after the block around it, larger ones first and pools last.

    tree: what to draw.
    most: how many clusters may be drawn at most, the largest ones; what is left over of a block is pooled.
    smallest: clusters with fewer users are pooled too.
    n_leaves: how many users of each block to name.
    highlight: a leaf; all clusters of the rows around it are drawn, however small.

    Returns the blocks, and (n) for each leaf the innermost of them that holds it.
    """
    most, smallest = checked_count("most", most), checked_count("smallest", smallest)
    rows = np.array(row_sizes(tree.n_users, smallest))
    last_row = len(rows) - np.searchsorted(rows[::-1], tree.size) - 1  # the lowest row whose limit a node keeps
    above = np.append(last_row[tree.parent[:-1]], -1)
    clusters = np.flatnonzero(last_row > above)  # the largest of their row: the node above them exceeds its limit
    clusters = clusters[np.lexsort((tree.start[clusters], -tree.size[clusters].astype(np.int64)))]
    around = np.zeros(len(clusters), np.bool_)
    if highlight is not None:
        offset = int(tree.start[highlight]) - tree.start[clusters].astype(np.int64)
        around = (offset >= 0) & (offset < tree.size[clusters])
    drawn = (tree.size[clusters] >= smallest) & (np.arange(len(clusters)) < most) | around
    drawn[0] = True  # everybody
    nodes, left_over = clusters[drawn], clusters[~drawn]

    owner = np.full(tree.n_users, -1)  # the innermost block at each place of the leaf order: small ones are painted later
    parents = []
    for number, (start, size) in enumerate(zip(tree.start[nodes].tolist(), tree.size[nodes].tolist(), strict=True)):
        parents.append(int(owner[start]))
        owner[start : start + size] = number
    home = owner[tree.start[left_over]]
    pooled = np.bincount(home[last_row[nodes[home]] == above[left_over]], minlength=len(nodes))

    bottom = len(rows) - 1
    inside = np.zeros(len(nodes), np.int64)
    np.add.at(inside, parents[1:], tree.size[nodes[1:]])
    blocks: list[Block] = []
    next_begin: list[int] = []  # where the next block inside each block begins, in users from the left
    for number, (node, parent) in enumerate(zip(nodes.tolist(), parents, strict=True)):
        size, start = int(tree.size[node]), int(tree.start[node])
        begin = 0 if parent < 0 else next_begin[parent]
        if parent >= 0:
            next_begin[parent] += size
        next_begin.append(begin)
        row = int(last_row[node]) if inside[number] else bottom  # what is not split any further reaches down to the end
        leaves = tree.order[start : start + min(size, n_leaves)].tolist()
        if around[drawn][number]:
            leaves = [highlight, *(leaf for leaf in leaves if leaf != highlight)][:n_leaves]
        ends = begin / tree.n_users, (begin + size) / tree.n_users
        blocks.append(Block(parent, size, 1, int(above[node]) + 1, row, *ends, tuple(leaves), bool(around[drawn][number])))
    for number, node in enumerate(nodes.tolist()):
        size = int(tree.size[node]) - int(inside[number])
        if 0 < size < tree.size[node]:
            begin, start = next_begin[number], int(tree.start[node])
            mine = start + np.flatnonzero(owner[start : start + int(tree.size[node])] == number)
            owner[mine] = len(blocks)
            ends = begin / tree.n_users, (begin + size) / tree.n_users
            leaves = tree.order[mine[:n_leaves]].tolist()
            blocks.append(Block(number, size, int(pooled[number]), int(last_row[node]) + 1, bottom, *ends, tuple(leaves)))
    block_of = np.empty_like(owner)
    block_of[tree.order] = owner
    return blocks, block_of
