"""A cluster of the tree, and the path of ever larger clusters around one user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.tree.arrays import TreeArrays, User
from privact.tree.counts import check_count
from privact.tree.layout import Int32Array


@dataclass(frozen=True)
class Cluster:
    """All users below one node of a tree.

    tree: the tree it is part of.
    node: the node's number.
    """

    tree: TreeArrays = field(repr=False)
    node: int

    @property
    def size(self) -> int:
        """How many users it holds."""
        return int(self.tree.size[self.node])

    @property
    def leaves(self) -> Int32Array:
        """Its leaves in the tree's leaf order: a view, not a copy."""
        start = int(self.tree.start[self.node])
        return self.tree.order[start : start + self.size]

    @property
    def users(self) -> list[str] | Int32Array:
        """Its users in the tree's leaf order: ids, or leaf numbers if the tree has no ids."""
        return self.tree.users_of(self.leaves)

    def __len__(self) -> int:
        return self.size

    def __contains__(self, user: User) -> bool:
        place = int(self.tree.start[self.tree.leaf_of(user)]) - int(self.tree.start[self.node])
        return 0 <= place < self.size


@dataclass(frozen=True, eq=False)
class Communities(Sequence[Cluster]):
    """The clusters that hold one user, from the user alone up to everybody; vectors inside, a `Cluster` on demand.

    tree: the tree they are part of.
    nodes: the nodes from the user's leaf to the root.
    """

    tree: TreeArrays = field(repr=False)
    nodes: Int32Array

    @property
    def sizes(self) -> Int32Array:
        """How many users each of them holds, strictly growing from 1 to n."""
        return self.tree.size[self.nodes]

    def __len__(self) -> int:
        return len(self.nodes)

    @overload
    def __getitem__(self, index: int) -> Cluster: ...
    @overload
    def __getitem__(self, index: slice) -> Communities: ...
    def __getitem__(self, index: int | slice) -> Cluster | Communities:
        if isinstance(index, slice):
            return Communities(self.tree, self.nodes[index])
        return Cluster(self.tree, int(self.nodes[index]))

    def __iter__(self) -> Iterator[Cluster]:
        return (Cluster(self.tree, node) for node in self.nodes.tolist())


def leaf_depths(tree: TreeArrays) -> Int32Array:
    """How many internal nodes are above each leaf: along the leaf order, each opens where it starts and closes where it ends."""
    start, size = tree.start[tree.n_users :], tree.size[tree.n_users :]
    opened = np.bincount(start, minlength=tree.n_users + 1) - np.bincount(start + size, minlength=tree.n_users + 1)
    return np.cumsum(opened)[tree.start[: tree.n_users]].astype(np.int32)


def cut_into(tree: TreeArrays, n_clusters: int, min_size: int = 1) -> NDArray[np.int64]:
    """Labels of the clusters left after splitting the largest cluster again and again; see the tree's method."""
    begin, end = cut_slices(tree, n_clusters, min_size)
    labels = np.full(tree.n_users, -1, np.int64)
    at = np.arange(tree.n_users)
    inside = np.searchsorted(begin, at, side="right") - 1
    labels[tree.order] = np.where((inside >= 0) & (at < end[inside]), inside, -1)
    return labels


def cut_slices(tree: TreeArrays, n_clusters: int, min_size: int = 1) -> tuple[Int32Array, Int32Array]:
    """Where the clusters of a cut begin and end in the leaf order, from left to right; arguments as for `cut`.

    A split counts if both sides have at least min_size users; at any other node the small side is in no cluster.
    """
    n_clusters, min_size = check_count("k", n_clusters, tree.n_users), check_count("min_size", min_size)
    if n_clusters == 1:
        return np.zeros(1, np.int32), np.array([tree.n_users], np.int32)
    # A node is always larger than the nodes below it, so the order in which nodes become the largest
    # cluster left is simply the order by size, and of equal sizes the one that starts first.
    rank = tree.size[tree.n_users :] * np.int64(tree.n_users) - tree.start[tree.n_users :]
    splits = np.arange(len(rank))
    if min_size > 1:
        splits = np.flatnonzero(np.minimum(tree.size[tree.left], tree.size[tree.right]) >= min_size)
        if len(splits) < n_clusters - 1:
            raise InputError(
                f"k = {n_clusters} clusters of at least {min_size} users cannot be: the tree has {len(splits) + 1}: ask for fewer"
            )
    last = len(splits) - (n_clusters - 1)
    split = splits[np.argpartition(rank[splits], last)[last:]]
    sides = np.concatenate((tree.left[split], tree.right[split]))
    splits_at = np.sort(tree.start[tree.right[split]])  # a side with a split strictly inside it is not a cluster itself
    begin, end = tree.start[sides], tree.start[sides] + tree.size[sides]
    whole = np.searchsorted(splits_at, begin, side="right") == np.searchsorted(splits_at, end, side="left")
    return np.sort(begin[whole]), np.sort(end[whole])


def cut_by_size(tree: TreeArrays, max_size: int) -> NDArray[np.int64]:
    """Labels of the largest clusters that hold at most so many users; see the tree's method."""
    return _label(tree, tree.size[tree.n_users :] > check_count("max_size", max_size))


def _label(tree: TreeArrays, split: NDArray[np.bool_]) -> NDArray[np.int64]:
    """One label per leaf, counted along the leaf order, when the internal nodes marked in `split` are split.

    Splitting a node parts the leaf order just before its right child, wherever else it is parted.
    """
    begins = np.zeros(tree.n_users, np.int64)
    begins[tree.start[tree.right[split]]] = 1
    labels = np.empty(tree.n_users, np.int64)
    labels[tree.order] = np.cumsum(begins)
    return labels
