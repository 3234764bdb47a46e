"""Which clusters and which other users are nearest to a user: queries that climb from a leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from privact.errors import MissingExtraError
from privact.ids import UserId
from privact.tree.arrays import TreeArrays
from privact.tree.counts import check_count
from privact.tree.formats.result_tables import render_html_table, render_text_table
from privact.tree.layout import Int32Array

ALIKE = 16
"""From this many users on, a cluster that is halved all the way down is taken for users with the same points."""

_SHOWN = 20  # users in the table of nearest users
_HEAD = ("user", "community size")


@dataclass(frozen=True, eq=False, repr=False)
class NearestUsers(Sequence[tuple[UserId, int]]):
    """The users nearest to one user, nearest communities first: the paper's N(u). A sequence of (user, size) pairs.

    tree: the tree they were found in.
    leaves: their leaf numbers.
    community_sizes: for each, how many users the smallest cluster holds that holds both.
    tied: how many users are as near as the last one listed, that one and those not listed included.
    """

    tree: TreeArrays = field(repr=False)
    leaves: Int32Array
    community_sizes: NDArray[np.int64]
    tied: int = 0

    @property
    def users(self) -> list[UserId] | Int32Array:
        """Their ids, or leaf numbers if the tree has no ids."""
        return self.tree.users_of(self.leaves)

    def to_pandas(self) -> Any:
        """A pandas frame with a row for each of them, in order: user and community_size."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("pandas", "graph", "a data frame") from None

        return pandas.DataFrame(list(self), columns=["user", "community_size"])

    def __len__(self) -> int:
        return len(self.leaves)

    def __iter__(self) -> Iterator[tuple[UserId, int]]:
        users = self.users
        return zip(users if isinstance(users, list) else users.tolist(), self.community_sizes.tolist(), strict=True)

    @overload
    def __getitem__(self, index: int) -> tuple[UserId, int]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[UserId, int]]: ...
    def __getitem__(self, index: int | slice) -> tuple[UserId, int] | list[tuple[UserId, int]]:
        if isinstance(index, slice):
            part = NearestUsers(self.tree, self.leaves[index], self.community_sizes[index])
            return list(part)
        at = range(len(self))[index]
        return self[at : at + 1][0]

    def __contains__(self, user: object) -> bool:
        """Whether a user, or a pair of a user and a community size, is among them."""
        if isinstance(user, tuple):
            return user in list(self)
        return user in self.tree and self.tree.leaf_of(user) in self.leaves

    def __repr__(self) -> str:
        left = len(self) - _SHOWN
        more = f"\n... and {left:,} more" if left > 0 else ""
        return f"{self._describe()}\n{render_text_table(_HEAD, self[:_SHOWN])}{more}"

    def _repr_html_(self) -> str:
        return render_html_table(_HEAD, self[:_SHOWN], self._describe())

    def _describe(self) -> str:
        tied = f", {self.tied:,} as near as the last" if self.tied > 1 else ""
        return f"{len(self):,} nearest users of {self.tree.n_users:,}{tied}"


def climb_path(tree: TreeArrays, leaf: int, at_least: int) -> Int32Array:
    """The nodes from a leaf up to the first that holds at least `at_least` users.

    at_least: a number of users, at most all of them.
    """
    path = [leaf]
    while tree.size[path[-1]] < at_least:
        path.append(int(tree.parent[path[-1]]))
    return np.array(path, np.int32)


def find_enclosing(tree: TreeArrays, leaf: int, at_least: int) -> int:
    """The last node of `climb_path`, without the path."""
    node = leaf
    while tree.size[node] < at_least:
        node = int(tree.parent[node])
    return node


def find_close(tree: TreeArrays, leaf: int, size: int) -> int:
    """The cluster of about `size` users around a leaf; see the tree's method `community`."""
    node = find_enclosing(tree, leaf, size)
    if tree.size[node] <= 2 * size:
        return node
    left, right = int(tree.left[node - tree.n_users]), int(tree.right[node - tree.n_users])
    return left if tree.start[leaf] < tree.start[right] else right


def count_alike(tree: TreeArrays, leaf: int) -> int:
    """The users of the largest cluster around a leaf that is halved all the way down; 1 if they are fewer than ALIKE."""
    node, found = leaf, 1
    while node != tree.root:
        node = int(tree.parent[node])
        size = int(tree.size[node])
        below = np.arange(node - size + 2, node + 1) - tree.n_users
        if np.any(np.abs(tree.size[tree.left[below]] - tree.size[tree.right[below]]) > 1):
            break
        found = size
    return found if found >= ALIKE else 1


def find_nearest(tree: TreeArrays, leaf: int, m: int) -> NearestUsers:
    """The m users nearest to a leaf, in O(m) whatever the number of users; see the tree's method."""
    m = check_count("m", m)
    path = climb_path(tree, leaf, min(m + 1, tree.n_users))
    order, start = tree.ring_order
    sizes, starts = tree.size[path].astype(np.int64), start[path].astype(np.int64)
    # Each step up adds one ring: the slice of the sibling, just after or just before what was there.
    ring = np.diff(sizes)
    tied = int(ring[-1]) if len(ring) else 0
    ring_start = np.where(starts[1:] == starts[:-1], starts[:-1] + sizes[:-1], starts[1:])
    if len(ring):
        ring[-1] -= max(0, int(sizes[-1]) - 1 - m)
    before = np.cumsum(ring) - ring
    places = np.repeat(ring_start - before, ring) + np.arange(int(ring.sum()))
    return NearestUsers(tree, order[places], np.repeat(sizes[1:], ring), tied)


def find_lowest_common(tree: TreeArrays, a: int, b: int) -> int:
    """The smallest node that holds two leaves."""
    if a == b:
        return a
    first, last = sorted((int(tree.start[a]), int(tree.start[b])))
    # Every node that joins neighbours between the two places lies below their lowest common node,
    # which is one of them, and postorder gives it the largest number.
    return int(tree.joins[first:last].max())
