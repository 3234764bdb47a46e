"""Lookups in a tree, by leaf: members of a community, sizes on the way up, clusters of a cut.

Each result is small whatever the number of users. The library, the aggregator and the explorer use these.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from privact.errors import InputError
from privact.tree.ancestry import find_close
from privact.tree.clusters import cut_slices
from privact.tree.hct import HierarchicalClusterTree
from privact.tree.layout import Int32Array

__all__ = ["MOST", "Part", "PathSizes", "find_clusters", "find_community", "list_members", "measure_path"]

MOST: Final = 1_000
"""The most users, clusters or sizes in one result."""


class Part(NamedTuple):
    """Some users of a cluster.

    node: the cluster; -1 for a cluster of a cut with a minimum size. size: how many users it holds.
    leaves: those listed, in the tree's own order.
    """

    node: int
    size: int
    leaves: Int32Array


class PathSizes(NamedTuple):
    """The clusters that hold a user.

    n_clusters: how many there are. sizes: of the smallest ones, smallest first.
    """

    n_clusters: int
    sizes: list[int]


def list_members(tree: HierarchicalClusterTree, node: int, offset: int, limit: int) -> Part:
    """Users of a cluster in the tree's own order.

    offset: how many to pass over. limit: how many to list at most.
    """
    start, size = int(tree.start[node]), int(tree.size[node])
    return Part(node, size, tree.order[start + min(offset, size) : start + min(offset + limit, size)])


def find_community(tree: HierarchicalClusterTree, leaf: int, size: int, limit: int = MOST, offset: int = 0) -> Part:
    """The cluster of about `size` users around a leaf, as `community` finds it; offset and limit as for list_members."""
    if size > tree.n_users:
        raise InputError(f"size {size} is more than the {tree.n_users} users of this tree: ask for fewer")
    return list_members(tree, find_close(tree, leaf, size), offset, limit)


def measure_path(tree: HierarchicalClusterTree, leaf: int, n_clusters: int, limit: int = MOST) -> PathSizes:
    """The sizes of the clusters that hold a leaf, from the leaf alone upwards.

    n_clusters: how many there are, the leaf's depth plus one. limit: how many sizes to list at most.
    """
    sizes: list[int] = []
    node = leaf
    while len(sizes) < min(limit, n_clusters):
        sizes.append(int(tree.size[node]))
        node = int(tree.parent[node])
    return PathSizes(n_clusters, sizes)


def find_clusters(tree: HierarchicalClusterTree, k: int, min_size: int = 1, n_named: int = 3) -> list[Part]:
    """The clusters of `HierarchicalClusterTree.cut(k, min_size)` from left to right, each with its first users.

    n_named: how many users of each to list.
    """
    if k > tree.n_users:
        raise InputError(f"k {k} is more than the {tree.n_users} users of this tree: ask for fewer clusters")
    begin, end = cut_slices(tree, k, min_size)
    ends = np.minimum(end, begin + n_named)
    return [
        Part(-1, stop - start, tree.order[start:last])
        for start, stop, last in zip(begin.tolist(), end.tolist(), ends.tolist(), strict=True)
    ]
