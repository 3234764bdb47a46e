"""A cluster of the tree, and the path of ever larger clusters around one user."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.ids import UserId
from privact.tree.arrays import TreeArrays, User
from privact.tree.counts import check_count
from privact.tree.layout import Int32Array

_NAMED = 5  # users whom the short description of a cluster names
_SHOWN = 8  # sizes in the short description of communities


@dataclass(frozen=True, repr=False)
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
    def users(self) -> list[UserId] | Int32Array:
        """Its users in the tree's leaf order: ids, or leaf numbers if the tree has no ids."""
        return self.tree.users_of(self.leaves)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[UserId]:
        users = self.users
        return iter(users if isinstance(users, list) else users.tolist())

    def __repr__(self) -> str:
        return f"Cluster(node={self.node}, {_describe(self)})"

    def _repr_html_(self) -> str:
        return f"<p><b>Cluster</b> of {html.escape(_describe(self))}</p>"

    def __contains__(self, user: User) -> bool:
        if user not in self.tree:
            return False
        place = int(self.tree.start[self.tree.leaf_of(user)]) - int(self.tree.start[self.node])
        return 0 <= place < self.size


@dataclass(frozen=True, eq=False, repr=False)
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

    def __repr__(self) -> str:
        sizes = [f"{size:,}" for size in self.sizes.tolist()]
        shown = sizes if len(sizes) <= _SHOWN else [*sizes[: _SHOWN - 1], "...", sizes[-1]]
        return f"Communities({len(self)} clusters of {', '.join(shown)} users)"


def _describe(cluster: Cluster) -> str:
    """How many users a cluster has, and the first of them."""
    users = cluster.tree.users_of(cluster.leaves[:_NAMED])
    names = ", ".join(map(repr, users if isinstance(users, list) else users.tolist()))
    return f"{cluster.size:,} users: {names}{', ...' if cluster.size > _NAMED else ''}"


def leaf_depths(tree: TreeArrays) -> Int32Array:
    """How many internal nodes are above each leaf: along the leaf order, each opens where it starts and closes where it ends."""
    start, size = tree.start[tree.n_users :], tree.size[tree.n_users :]
    opened = np.bincount(start, minlength=tree.n_users + 1) - np.bincount(start + size, minlength=tree.n_users + 1)
    return np.cumsum(opened)[tree.start[: tree.n_users]].astype(np.int32)


def cut_into(tree: TreeArrays, n_clusters: int, min_size: int = 1) -> NDArray[np.int64]:
    """Labels of the clusters of a cut, -1 for users in none; see the tree's method."""
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
    split = rank_splits(tree, n_clusters - 1, min_size)
    if len(split) < n_clusters - 1:
        raise InputError(
            f"k = {n_clusters} clusters of at least {min_size} users cannot be: the tree has {len(split) + 1}: ask for fewer"
        )
    sides = np.concatenate((tree.left[split], tree.right[split]))
    splits_at = np.sort(tree.start[tree.right[split]])  # a side with a split strictly inside it is not a cluster itself
    begin, end = tree.start[sides], tree.start[sides] + tree.size[sides]
    whole = np.searchsorted(splits_at, begin, side="right") == np.searchsorted(splits_at, end, side="left")
    return np.sort(begin[whole]), np.sort(end[whole])


def rank_splits(tree: TreeArrays, most: int, min_size: int = 1) -> NDArray[np.int64]:
    """The first splits of a cut, in their order: at most `most`, each with at least min_size users on both sides.

    The cluster whose largest split is largest comes first, then the larger cluster, then the one that starts first. Both are
    larger in a cluster than in those below it, so no cluster comes before the one around it. A split i is that of node n + i.
    """
    splits = np.arange(tree.n_users - 1)
    if min_size > 1:
        splits = np.flatnonzero(np.minimum(tree.size[tree.left], tree.size[tree.right]) >= min_size)
    most = min(most, len(splits))
    if most == 0:
        return splits[:0]
    largest, size, start = largest_splits(tree)[splits], tree.size[tree.n_users + splits], tree.start[tree.n_users + splits]
    rank = largest.astype(np.int64) * (tree.n_users + 1) + size
    first = np.flatnonzero(rank >= np.partition(rank, len(rank) - most)[len(rank) - most])
    return splits[first[np.lexsort((start[first], -rank[first]))[:most]]]


def largest_splits(tree: TreeArrays) -> Int32Array:
    """(n-1) the smaller side of the largest split at or below each internal node: how much there is to part in a cluster.

    In postorder the internal nodes at or below v are the size[v] - 1 up to v: the maxima of such stretches come from maxima of
    stretches of 1, 2, 4, ... nodes, two of which cover any stretch.
    """
    maxima = np.minimum(tree.size[tree.left], tree.size[tree.right])
    length = tree.size[tree.n_users :] - 1
    last = np.arange(len(length))
    out = np.empty_like(maxima)
    width = 1
    while True:
        here = (length >= width) & (length < 2 * width)
        out[here] = np.maximum(maxima[(last - length + 1)[here]], maxima[(last - width + 1)[here]])
        if 2 * width > len(length):
            return out
        maxima = np.maximum(maxima[:-width], maxima[width:])
        width *= 2


def choose_count(tree: TreeArrays, min_size: int = 1) -> int:
    """How many clusters a cut has by the tree itself: cut where the next split is smallest, compared with the last one made.

    At most sqrt(n) of them; of equal drops the one with more clusters.
    """
    most = max(2, math.isqrt(tree.n_users))
    split = rank_splits(tree, most, min_size)
    if len(split) == 0:
        return 1
    sizes = np.append(largest_splits(tree)[split], [1] * (len(split) < most)).astype(np.float64)
    drops = sizes[:-1] / sizes[1:] if len(sizes) > 1 else np.ones(1)
    return int(len(drops) - np.argmax(drops[::-1])) + 1


def cover_users(tree: TreeArrays, min_size: int, max_size: int) -> list[Cluster]:
    """Clusters of min_size to max_size users that hold every user once; see the tree's method `communities`.

    From small clusters up, a cluster is kept whole or as the best clusters below it: those that put fewer users into clusters of
    other sizes, and of equally good ones the fewer clusters. Only clusters of at least min_size users are looked at.
    """
    min_size, max_size = check_count("min_size", min_size, tree.n_users), check_count("max_size", max_size)
    if max_size < min_size:
        raise InputError(f"max_size = {max_size} is below min_size = {min_size}: choose a range of sizes")
    best: dict[int, tuple[int, int]] = {}  # of a node: users in clusters of other sizes, and the number of clusters
    split: set[int] = set()
    large = np.flatnonzero(tree.size >= min_size)  # children come before parents
    for node, size in zip(large.tolist(), tree.size[large].tolist(), strict=True):
        whole = (0 if size <= max_size else size, 1)
        best[node] = whole
        if node >= tree.n_users and size > max_size:
            sides = (int(tree.left[node - tree.n_users]), int(tree.right[node - tree.n_users]))
            parts = [best.get(child, (int(tree.size[child]), 1)) for child in sides]
            apart = (parts[0][0] + parts[1][0], parts[0][1] + parts[1][1])
            if apart < whole:
                best[node] = apart
                split.add(node)
    found, waiting = [], [tree.root]
    while waiting:
        node = waiting.pop()
        if node in split:
            waiting += [int(tree.right[node - tree.n_users]), int(tree.left[node - tree.n_users])]
        else:
            found.append(Cluster(tree, node))
    return found


def cut_by_size(tree: TreeArrays, max_size: int) -> NDArray[np.int64]:
    """Labels of the largest clusters of at most max_size users; see the tree's method."""
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
