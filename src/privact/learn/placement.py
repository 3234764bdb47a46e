"""Late joiners: where a new user belongs in a tree that is already learned, without learning it again.

A newcomer walks down from the root, at each node to the side with the lower average dissimilarity, one dot product a level,
and joins at the place on that walk where it adds most to Dasgupta's cost. In a tree under a balance floor it joins a cluster of
a few users only, as the floor wants it: a larger one would be split into one user and all others.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError, UnknownUserError
from privact.learn.place_finder import PlaceFinder
from privact.tree.ancestry import NearestUsers
from privact.tree.clusters import Cluster
from privact.tree.counts import check_count
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree


@dataclass(frozen=True, eq=False)
class Placement:
    """Where newcomers stand in a learned tree.

    tree: the tree, unchanged.
    siblings: for each newcomer the node of the tree that it joins; its own cluster is that node's users and itself.
    users: ids of the newcomers, or None: then they are asked for by number.
    """

    tree: HierarchicalClusterTree = field(repr=False)
    siblings: NDArray[np.int64]
    users: Sequence[Hashable] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.siblings)

    def nearest(self, newcomer: Hashable, m: int) -> NearestUsers:
        """The m users of the tree nearest to a newcomer, nearest communities first, in leaf order inside one.

        Sizes of shared communities include the newcomer. Other newcomers are not among them; see `grafted`.
        """
        m = check_count("m", m)
        path = self._path(newcomer, m)
        sizes, starts = self.tree.size[path].astype(np.int64), self.tree.start[path].astype(np.int64)
        places = [np.arange(starts[0], starts[0] + sizes[0])]
        for i in range(1, len(path)):
            end = starts[i] + sizes[i]
            places += [np.arange(starts[i], starts[i - 1]), np.arange(starts[i - 1] + sizes[i - 1], end)]
        rings = np.diff(sizes, prepend=0)
        found = np.concatenate(places)[:m]
        return NearestUsers(self.tree, self.tree.order[found], np.repeat(sizes + 1, rings)[:m])

    def community(self, newcomer: Hashable, size: int) -> Cluster:
        """The cluster of the tree which, with the newcomer, has about `size` users, and not more than twice as many.

        As `HierarchicalClusterTree.community`; where even the newcomer's sibling is larger than that, it is the sibling.
        """
        size = check_count("size", size)
        if size > self.tree.n_users + 1:
            raise InputError(
                f"size {size} is more than the {self.tree.n_users} users of the tree and the newcomer: ask for fewer"
            )
        path = self._path(newcomer, max(1, size - 1))
        too_large = int(self.tree.size[path[-1]]) + 1 > 2 * size and len(path) > 1
        return Cluster(self.tree, int(path[-2] if too_large else path[-1]))

    def grafted(self) -> HierarchicalClusterTree:
        """The tree with the newcomers as leaves: old users keep their leaves, newcomers follow in order."""
        return self.tree.with_leaves(self.siblings, self.users)

    def _path(self, newcomer: Hashable, at_least: int) -> NDArray[np.int64]:
        """The nodes from the newcomer's sibling up to the first that holds at least that many users, or the root."""
        node = int(self.siblings[self._number(newcomer)])
        path = [node]
        while self.tree.size[node] < at_least and self.tree.parent[node] >= 0:
            node = int(self.tree.parent[node])
            path.append(node)
        return np.array(path)

    def _number(self, newcomer: Hashable) -> int:
        if self.users is not None and newcomer in self.users:
            return self.users.index(newcomer)
        if self.users is None and isinstance(newcomer, (int, np.integer)) and 0 <= newcomer < len(self):
            return int(newcomer)
        known = f"the numbers 0 to {len(self) - 1}" if self.users is None else f"{len(self)} ids"
        raise UnknownUserError(f"no newcomer {newcomer!r}: they are {known}")


def place(
    tree: HierarchicalClusterTree, embedding: Embedding, newcomers: Embedding, users: Sequence[Hashable] | None = None
) -> Placement:
    """Find the place of each newcomer.

    tree: its parameter `balance` says whether it was learned under a floor.
    embedding: of the tree's users. newcomers: of the new users, in the same coordinates. users: ids of the new users.
    """
    if users is not None and len(users) != len(newcomers):
        raise InputError(f"{len(users)} ids for {len(newcomers)} newcomers: give one each")
    if (users is None) != (tree.users is None):
        raise InputError("newcomers need ids exactly when the tree has ids" + (": give users" if users is None else ""))
    return Placement(tree, PlaceFinder(tree, embedding).find(newcomers), users)
