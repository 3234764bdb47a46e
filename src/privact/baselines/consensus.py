"""The clusters that most sampled trees agree on, as a hierarchy whose clusters may have many parts.

Two clusters that each occur in more than half of the trees occur together in at least one tree, so they are nested or
disjoint: the majority forms a hierarchy. It shows what the data support and leaves open what they do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["Consensus", "consensus"]


@dataclass(frozen=True, eq=False)
class Consensus:
    """Nested clusters with at least 2 users each; cluster 0 is everybody, and parents come before their parts.

    parent: (c) the smallest cluster that holds each cluster, -1 for cluster 0.
    size: (c) number of users of each cluster, never rising.
    support: (c) share of the trees that have each cluster.
    innermost: (n) the smallest cluster that holds each leaf.
    """

    parent: NDArray[np.int64]
    size: NDArray[np.int64]
    support: NDArray[np.float64]
    innermost: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.parent)

    def members(self, cluster: int) -> NDArray[np.int64]:
        """The leaves of a cluster, ascending."""
        if not 0 <= cluster < len(self):
            raise InputError(f"cluster {cluster} is outside 0 to {len(self) - 1}")
        inside = np.zeros(len(self), np.bool_)
        inside[cluster] = True
        for part in range(cluster + 1, len(self)):
            inside[part] = inside[self.parent[part]]
        return np.flatnonzero(inside[self.innermost])


def consensus(trees: Sequence[HierarchicalClusterTree], share: float = 0.5) -> Consensus:
    """The clusters that occur in more than a share of the trees.

    trees: over the same users, such as those of `sample_cmn`.
    share: 0.5, the majority, or more.
    """
    if len(trees) == 0:
        raise InputError("no trees were given: give at least one")
    if not 0.5 <= share < 1.0:
        raise InputError(f"share {share!r} is outside 0.5 to 1: below a half, clusters may contradict each other")
    n = trees[0].n_users
    for number, tree in enumerate(trees):
        if tree.n_users != n or tree.users != trees[0].users:
            raise InputError(f"tree {number} is not over the same users as tree 0: give trees of one graph")
    # A cluster is known by the exclusive or of its users' random 64-bit names and by its size: among a million clusters,
    # two different ones are mistaken for one with a chance of less than 1 in 10 million.
    names = np.random.default_rng(0).integers(0, 2**64, n, dtype=np.uint64)
    found: dict[tuple[int, int], list[int]] = {}  # how many trees have it, and where it was first seen
    for number, tree in enumerate(trees):
        running = np.concatenate((np.zeros(1, np.uint64), np.bitwise_xor.accumulate(names[tree.order])))
        first, size = tree.start[n:], tree.size[n:]
        keys = running[first + size] ^ running[first]
        for key, users, place in zip(keys.tolist(), size.tolist(), first.tolist(), strict=True):
            found.setdefault((key, users), [0, number, place])[0] += 1
    kept = [(users, count, number, place) for (_, users), (count, number, place) in found.items() if count > share * len(trees)]
    kept.sort(key=lambda cluster: (-cluster[0], cluster[2:]))
    parent = np.full(len(kept), -1, np.int64)
    innermost = np.full(n, -1, np.int64)
    for cluster, (users, _, number, place) in enumerate(kept):
        members = trees[number].order[place : place + users]
        parent[cluster] = innermost[members[0]]
        innermost[members] = cluster
    sizes, counts = (np.array([cluster[column] for cluster in kept], np.int64) for column in (0, 1))
    return Consensus(parent, sizes, counts / len(trees), innermost)
