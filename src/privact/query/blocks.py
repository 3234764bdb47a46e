"""A tree as nested blocks, few enough to draw: the clusters of ever finer cuts, the small ones pooled.

A binary tree is too deep to draw as it is. Row 0 of the drawing is all users, row j the cut into the largest clusters of at most
n / 3^j users (`cut_size`). A cluster that stays whole from one row to the next is one block over both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privact.tree.counts import check_count
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["STEP", "Block", "list_row_sizes", "nest_blocks"]

STEP = 3
"""A row's clusters are at most a third of the size allowed in the row above."""


@dataclass(frozen=True)
class Block:
    """A cluster in the drawing, or the small clusters of another block pooled into one.

    node: the cluster's node in the tree; of a pool, the node of the block around it.
    parent: place of the block around it in the list; -1 for the outermost.
    size: how many users it holds.
    clusters: how many clusters it stands for; 1 unless they were pooled.
    first_row, last_row: the rows in which it is drawn.
    begin, end: from where to where it reaches from left to right, as a share of the whole width.
    leaves: some of its users, or all of them if they are few; the user to highlight comes first.
    highlight: whether it is a cluster around the user to highlight.
    """

    node: int
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


def list_row_sizes(n_users: int, smallest: int, most_rows: int | None = None) -> list[int]:
    """The largest size that a cluster may have in each row, from all users down to a size that is not below `smallest`.

    most_rows: no more rows than these, if given.
    """
    sizes = [n_users]
    while sizes[-1] // STEP >= smallest:
        sizes.append(sizes[-1] // STEP)
    if smallest == 1 < sizes[-1]:
        sizes.append(1)  # the last row shows single users
    return sizes[:most_rows]


def nest_blocks(
    tree: HierarchicalClusterTree,
    *,
    most: int,
    smallest: int = 1,
    n_leaves: int = 5,
    highlight: int | None = None,
    node: int | None = None,
    most_rows: int | None = None,
) -> tuple[list[Block], NDArray[np.int64]]:
    """The blocks of a drawing, each after the block around it, larger ones first and pools last.

    tree: what to draw.
    most: how many clusters may be drawn at most, the largest ones; what is left over of a block is pooled.
    smallest: clusters with fewer users are pooled too.
    n_leaves: how many users of each block to name.
    highlight: a leaf; all clusters of the rows around it are drawn, however small.
    node: the cluster to draw; by default the root.
    most_rows: no more rows than these, if given: what a deep tree has below them is left for a closer look.

    Returns the blocks, and for each place of the node's slice of `tree.order` the innermost of them that holds it.
    """
    most, smallest = check_count("most", most), check_count("smallest", smallest)
    top = tree.root if node is None else node
    n_users, offset = int(tree.size[top]), int(tree.start[top])
    rows = np.array(list_row_sizes(n_users, smallest, most_rows))
    clusters, last_row, above = _clusters_of_rows(tree, top, rows)
    around = np.zeros(len(clusters), np.bool_)
    if highlight is not None:
        place = int(tree.start[highlight]) - tree.start[clusters].astype(np.int64)
        around = (place >= 0) & (place < tree.size[clusters])
    drawn = (tree.size[clusters] >= smallest) & (np.arange(len(clusters)) < most) | around
    drawn[0] = True  # the node itself
    nodes, left_over = clusters[drawn], clusters[~drawn]

    owner = np.full(n_users, -1)  # the innermost block at each place of the leaf order: small ones are painted later
    parents = []
    starts = (tree.start[nodes] - offset).tolist()
    for number, (start, size) in enumerate(zip(starts, tree.size[nodes].tolist(), strict=True)):
        parents.append(int(owner[start]))
        owner[start : start + size] = number
    home = owner[tree.start[left_over] - offset]
    pooled = np.bincount(home[last_row[drawn][home] == above[~drawn]], minlength=len(nodes))

    bottom = len(rows) - 1
    inside = np.zeros(len(nodes), np.int64)
    np.add.at(inside, parents[1:], tree.size[nodes[1:]])
    blocks: list[Block] = []
    next_begin: list[int] = []  # where the next block inside each block begins, in users from the left
    for number, (cluster, parent) in enumerate(zip(nodes.tolist(), parents, strict=True)):
        size, start = int(tree.size[cluster]), int(tree.start[cluster])
        begin = 0 if parent < 0 else next_begin[parent]
        if parent >= 0:
            next_begin[parent] += size
        next_begin.append(begin)
        # What is not split any further reaches down to the end.
        ends = int(above[drawn][number]) + 1, int(last_row[drawn][number]) if inside[number] else bottom
        leaves = tree.order[start : start + min(size, n_leaves)].tolist()
        if around[drawn][number]:
            leaves = [highlight, *(leaf for leaf in leaves if leaf != highlight)][:n_leaves]
        share = begin / n_users, (begin + size) / n_users
        blocks.append(Block(cluster, parent, size, 1, *ends, *share, tuple(leaves), bool(around[drawn][number])))
    for number, cluster in enumerate(nodes.tolist()):
        size = int(tree.size[cluster]) - int(inside[number])
        if 0 < size < tree.size[cluster]:
            begin, start = next_begin[number], starts[number]
            mine = start + np.flatnonzero(owner[start : start + int(tree.size[cluster])] == number)
            owner[mine] = len(blocks)
            share = begin / n_users, (begin + size) / n_users
            leaves = tree.order[offset + mine[:n_leaves]].tolist()
            first = int(last_row[drawn][number]) + 1
            if pooled[number] == 1:  # a pool of one is that cluster
                cluster = int(left_over[(home == number) & (above[~drawn] == first - 1)][0])
            blocks.append(Block(cluster, number, size, int(pooled[number]), first, bottom, *share, tuple(leaves)))
    return blocks, owner


def _clusters_of_rows(
    tree: HierarchicalClusterTree, top: int, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The clusters of all rows below a node, larger ones first; for each its last row, and that of the node above it.

    A cluster belongs to the rows from the first whose limit it keeps to the last; the node above it exceeds that of the first.
    """
    inner = np.arange(top - int(tree.size[top]) + 2, top + 1) if tree.size[top] > 1 else np.empty(0, np.int64)
    split = inner[tree.size[inner] > rows[-1]] - tree.n_users  # only what is larger than the last row's limit has parts in it
    nodes = np.concatenate(([top], tree.left[split], tree.right[split])).astype(np.int64)
    last_row = len(rows) - np.searchsorted(rows[::-1], tree.size[nodes]) - 1
    above = len(rows) - np.searchsorted(rows[::-1], tree.size[tree.parent[nodes]]) - 1
    above[0] = -1
    kept = last_row > above
    order = np.lexsort((tree.start[nodes[kept]], -tree.size[nodes[kept]].astype(np.int64)))
    return nodes[kept][order], last_row[kept][order], above[kept][order]
