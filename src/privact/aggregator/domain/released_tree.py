"""ReleasedTree: what can be asked of a released tree, in plain values, fast for a million users.

Answers are about the released tree with everyone who joined late as a further leaf, each marked `joined_late`. Leaves are in the
order of user digests, first those of the release and then the joiners, so that a user is found by bisection over the file
itself: no table of ids is kept in memory.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Final

import numpy as np

from privact.aggregator.domain.release import n_late
from privact.errors import InputError, UnknownUserError
from privact.protocol.users import normalise_user_id, user_digest
from privact.tree.ancestry import climb_path, find_nearest
from privact.tree.hct import HierarchicalClusterTree
from privact.tree.layout import Int32Array

__all__ = ["EXAMPLES", "MOST", "ReleasedTree"]

MOST: Final = 1_000
"""The most users, clusters or sizes in one answer."""

EXAMPLES: Final = 3
"""How many users an answer names of each cluster of a cut."""


@dataclass(frozen=True, eq=False)
class ReleasedTree:
    """A released tree, ready for questions.

    tree: with everyone who joined late as its last leaves.
    digest: SHA-256 of the release, which holds no joiners.
    released: when, UTC seconds.
    privacy: what the round promises, in plain English.
    """

    tree: HierarchicalClusterTree
    digest: bytes
    released: int
    privacy: str

    @cached_property
    def n_early(self) -> int:
        """How many leaves, the first ones, are users of the release."""
        return self.tree.n_users - n_late(self.tree)

    @cached_property
    def _depths(self) -> Int32Array:
        """How many clusters are above each leaf."""
        return self.tree.depths

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What there is to know about the tree as a whole."""
        depths = self._depths
        parameters = dict(self.tree.parameters)
        return {
            "round": parameters["round"],
            "users": self.tree.n_users,
            "joined_late": self.tree.n_users - self.n_early,
            "depth": {"mean": float(depths.mean()), "largest": int(depths.max())},
            "sha256": self.digest.hex(),
            "released_at": self.released,
            "parameters": parameters,
            "privacy": self.privacy,
        }

    def nearest(self, user: str, m: int) -> dict[str, Any]:
        """The m users nearest to a user, nearest communities first, each with the size of the community they share."""
        leaf = self.leaf(user)
        found = find_nearest(self.tree, leaf, m)
        named = zip(self._named(found.leaves), found.community_sizes.tolist(), strict=True)
        return self._named_one(leaf) | {"nearest": [each | {"community_size": size} for each, size in named]}

    def community(self, user: str, size: int, limit: int, offset: int = 0) -> dict[str, Any]:
        """The close community of a user: the smallest cluster that holds the user and has at least `size` users.

        limit: how many of its users to name. offset: how many to leave out before, in the tree's own order.
        """
        if size > self.tree.n_users:
            raise InputError(f"size {size} is more than the {self.tree.n_users} users of this tree: ask for fewer")
        leaf = self.leaf(user)
        node = int(climb_path(self.tree, leaf, size)[-1])
        start, held = int(self.tree.start[node]), int(self.tree.size[node])
        members = self.tree.order[start : start + held][offset : offset + limit]
        return self._named_one(leaf) | {"asked_size": size, "size": held, "offset": offset, "users": self._named(members)}

    def path(self, user: str, limit: int) -> dict[str, Any]:
        """The sizes of all clusters that hold a user, from the user alone to everybody.

        limit: how many sizes to give, the smallest ones.
        """
        leaf = self.leaf(user)
        clusters = int(self._depths[leaf]) + 1
        sizes: list[int] = []
        node = leaf
        while len(sizes) < min(limit, clusters):
            sizes.append(int(self.tree.size[node]))
            node = int(self.tree.parent[node])
        return self._named_one(leaf) | {"clusters": clusters, "sizes": sizes}

    def cut(self, k: int) -> dict[str, Any]:
        """The sizes of k clusters, found by always splitting the largest, in the tree's own order, with some users of each."""
        if k > self.tree.n_users:
            raise InputError(f"k {k} is more than the {self.tree.n_users} users of this tree: ask for fewer clusters")
        tree, n_users = self.tree, self.tree.n_users
        # Largest first, of equally large ones the first in leaf order: the same clusters as tree.cut(k) labels.
        left = [(-n_users, 0, tree.root)]
        while len(left) < k:
            _, _, node = heapq.heappop(left)
            for child in (int(tree.left[node - n_users]), int(tree.right[node - n_users])):
                heapq.heappush(left, (-int(tree.size[child]), int(tree.start[child]), child))
        parts = sorted((start, -size) for size, start, _ in left)
        shown = [min(size, EXAMPLES) for _, size in parts]
        places = np.concatenate([np.arange(start, start + few) for (start, _), few in zip(parts, shown, strict=True)])
        named = iter(self._named(tree.order[places]))
        clusters = [
            {"cluster": number, "size": size, "users": list(islice(named, few))}
            for number, ((_, size), few) in enumerate(zip(parts, shown, strict=True))
        ]
        return {"users": n_users, "clusters": clusters}

    def late_among(self, users: Iterable[str]) -> list[str]:
        """Those of some users of the tree who joined late, in alphabetical order."""
        if self.n_early == self.tree.n_users:
            return []
        return sorted(user for user in users if self.leaf(user) >= self.n_early)

    def leaf(self, user: str) -> int:
        """The leaf of a user in any spelling; raises UnknownUserError."""
        assert self.tree.users is not None
        wanted, ids = normalise_user_id(user), self.tree.users
        digest = user_digest(wanted)
        for first, last in ((0, self.n_early), (self.n_early, self.tree.n_users)):
            leaf = bisect_left(range(last), digest, first, last, key=lambda leaf: user_digest(ids[leaf]))
            if leaf < last and ids[leaf] == wanted:
                return leaf
        raise UnknownUserError(f"no user {wanted!r} among the {self.tree.n_users} users of this tree")

    def _named(self, leaves: Int32Array) -> list[dict[str, Any]]:
        """Users by id, with who joined late."""
        ids = self.tree.users_of(leaves)
        return [{"user": name, "joined_late": late} for name, late in zip(ids, (leaves >= self.n_early).tolist(), strict=True)]

    def _named_one(self, leaf: int) -> dict[str, Any]:
        return self._named(np.array([leaf], np.int32))[0]
