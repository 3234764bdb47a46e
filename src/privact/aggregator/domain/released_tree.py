"""ReleasedTree: queries on a released tree by user id, in plain values, fast for a million users.

The queries themselves are in `privact.query.lookups`; here user ids become leaves and back. Results are about the released tree
with everyone who joined late as a further leaf, each marked `joined_late`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from privact.aggregator.domain.release import count_late
from privact.errors import UnknownUserError
from privact.protocol.labels import LabelTable
from privact.protocol.users import normalise_user_id
from privact.query.lookups import find_clusters, find_community, measure_path
from privact.query.named_groups import Groups, number_groups
from privact.tree.ancestry import count_alike, find_nearest
from privact.tree.hct import HierarchicalClusterTree
from privact.tree.layout import Int32Array

__all__ = ["EXAMPLES", "ReleasedTree", "find_user_ids"]

EXAMPLES: Final = 3
"""How many users a response names of each cluster of a cut."""


@dataclass(frozen=True, eq=False)
class ReleasedTree:
    """A released tree, ready for queries.

    tree: with everyone who joined late as its last leaves.
    digest: SHA-256 of the release, which holds no joiners.
    released: when, UTC seconds.
    privacy: what the round promises, in plain English.
    labels, label_names: the label table of the round and the names of its labels by number; None with random bins, or where the
        retention erased them.
    """

    tree: HierarchicalClusterTree
    digest: bytes
    released: int
    privacy: str
    labels: LabelTable | None = None
    label_names: Sequence[str] | None = None

    @cached_property
    def groups(self) -> Groups | None:
        """The public label of each user, for colours and names of clusters."""
        if self.labels is None or self.tree.users is None:
            return None
        names = self.label_names or [f"group {number + 1}" for number in range(self.labels.n_labels)]
        numbers = self.labels.labels_of(self.tree.users.names()).tolist()
        return number_groups(self.tree, [None if number < 0 else names[number] for number in numbers])

    @cached_property
    def n_early(self) -> int:
        """How many leaves, the first ones, are users of the release."""
        return self.tree.n_users - count_late(self.tree)

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
        listed = zip(self._name_all(found.leaves), found.community_sizes.tolist(), strict=True)
        nearest = [each | {"community_size": size} for each, size in listed]
        return self._name(leaf) | {"nearest": nearest, "tied": found.tied}

    def community(self, user: str, size: int, limit: int, offset: int = 0) -> dict[str, Any]:
        """The close community of a user: the cluster of about `size` users around the user, never of more than twice as many.

        limit: how many of its users to name. offset: how many to leave out before, in the tree's own order.
        """
        leaf = self.leaf(user)
        found = find_community(self.tree, leaf, size, limit, offset)
        sizes = {"asked_size": size, "size": found.size, "alike": count_alike(self.tree, leaf)}
        return self._name(leaf) | sizes | {"offset": offset, "users": self._name_all(found.leaves)}

    def path(self, user: str, limit: int) -> dict[str, Any]:
        """The sizes of all clusters that hold a user, from the user alone to everybody.

        limit: how many sizes to give, the smallest ones.
        """
        leaf = self.leaf(user)
        found = measure_path(self.tree, leaf, int(self._depths[leaf]) + 1, limit)
        return self._name(leaf) | {"clusters": found.n_clusters, "sizes": found.sizes}

    def cut(self, k: int) -> dict[str, Any]:
        """The sizes of the k clusters of a cut, in the tree's own order, with some users of each."""
        clusters = [
            {"cluster": number, "size": part.size, "users": self._name_all(part.leaves)}
            for number, part in enumerate(find_clusters(self.tree, k, n_named=EXAMPLES))
        ]
        return {"users": self.tree.n_users, "clusters": clusters}

    def late_among(self, users: Iterable[str]) -> list[str]:
        """Those of some users of the tree who joined late, in alphabetical order."""
        if self.n_early == self.tree.n_users:
            return []
        return sorted(user for user in users if self.leaf(user) >= self.n_early)

    def leaf(self, user: str) -> int:
        """The leaf of a user in any spelling; raises UnknownUserError."""
        assert self.tree.users is not None
        wanted = normalise_user_id(user)
        if wanted not in self.tree.users:
            raise UnknownUserError(f"no user {wanted!r} among the {self.tree.n_users} users of this tree")
        return self.tree.users.leaf(wanted)

    def _name_all(self, leaves: Int32Array) -> list[dict[str, Any]]:
        """Users by id, with who joined late."""
        ids = self.tree.users_of(leaves)
        return [{"user": name, "joined_late": late} for name, late in zip(ids, (leaves >= self.n_early).tolist(), strict=True)]

    def _name(self, leaf: int) -> dict[str, Any]:
        return self._name_all(np.array([leaf], np.int32))[0]


def find_user_ids(found: Any) -> set[str]:
    """All users that a result of `privact.query.explore` names; what is under `groups` are names of labels."""
    if isinstance(found, dict):
        named = {found["user"]} if isinstance(found.get("user"), str) else set()
        return named.union(*(find_user_ids(value) for key, value in found.items() if key not in ("user", "groups")))
    if isinstance(found, list):
        return {item for item in found if isinstance(item, str)}.union(*(find_user_ids(item) for item in found))
    return set()
