"""The data of a hierarchical cluster tree: flat arrays, user ids and public parameters."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from privact.errors import InputError, UnknownUserError
from privact.ids import UserId, suggest_ids
from privact.tree.layout import Int32Array, Layout, lay_out
from privact.tree.parameters import write_parameters
from privact.tree.ring_order import RingOrder, order_by_size
from privact.tree.user_ids import UserIds

User: TypeAlias = Hashable
"""An id, or a leaf number where a tree has no ids."""

_TOLD = ("epsilon", "n_bins", "bins", "rounds", "search")  # parameters that the short description of a tree names


@dataclass(frozen=True, eq=False, repr=False)
class TreeArrays:
    """The arrays of a full binary tree over users, on which queries, costs and file formats work.

    Of n users, leaves are nodes 0 to n-1, internal nodes n to 2n-2, the root is 2n-2 (with one user, leaf 0).
    The drawing is canonical: a left child holds the smaller smallest leaf, and internal nodes are numbered in
    postorder. So trees with the same clusters have the same arrays and the same file bytes; children have smaller
    numbers than parents; the internal nodes below and including node v are v-size[v]+2 to v; and the first leaf of
    a node's slice is its smallest. Arrays are read-only int32: widen before multiplying sizes.

    The constructor trusts its arrays; `from_children` checks them.

    left: (n-1) left child of internal node n+i.
    right: (n-1) right child of internal node n+i.
    parent: (2n-1) the node above, -1 at the root.
    size: (2n-1) number of users below each node.
    order: (n) the leaves from left to right, so that each node's leaves are order[start:start+size].
    start: (2n-1) where a node's leaves begin in `order`.
    users: the id of each leaf, or None.
    parameters_json: public facts about how the tree was made, as a JSON object.
    """

    left: Int32Array
    right: Int32Array
    parent: Int32Array
    size: Int32Array
    order: Int32Array
    start: Int32Array
    users: UserIds | None = None
    parameters_json: str = "{}"

    def __post_init__(self) -> None:
        for array in self.layout:
            array.flags.writeable = False

    @classmethod
    def from_children(
        cls,
        left: ArrayLike,
        right: ArrayLike,
        users: Sequence[Hashable] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Self:
        """A tree from the two children of each internal node, numbered in any way; O(n), refused if it is not one tree.

        left, right: children of internal node n+i; leaves are 0 to n-1, the root may be any internal node.
        users: one id per leaf.
        parameters: public facts about how the tree was made.
        """
        layout = lay_out(left, right)
        if users is not None and len(users) != len(layout.order):
            raise InputError(f"{len(users)} user ids for {len(layout.order)} leaves: pass one each")
        return cls(*layout, None if users is None else UserIds.of(users), write_parameters(parameters))

    @property
    def layout(self) -> Layout:
        """The six arrays together."""
        return Layout(self.left, self.right, self.parent, self.size, self.order, self.start)

    @property
    def n_users(self) -> int:
        """Number of users, which is the number of leaves."""
        return len(self.order)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, 2n-1."""
        return len(self.size)

    @property
    def root(self) -> int:
        """The node that holds all users."""
        return self.n_nodes - 1

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Public facts about how the tree was made, such as epsilon and bins; a fresh copy that cannot alter the tree."""
        return MappingProxyType(json.loads(self.parameters_json))

    def with_parameters(self, parameters: Mapping[str, Any]) -> Self:
        """The same tree with other public parameters; they must fit in JSON."""
        return replace(self, parameters_json=write_parameters(parameters))

    @cached_property
    def joins(self) -> Int32Array:
        """(n-1) the internal node that joins neighbours order[p] and order[p+1]; each node appears once."""
        joins = np.empty(self.n_users - 1, np.int32)
        joins[self.start[self.right] - 1] = np.arange(self.n_users, self.n_nodes)
        joins.flags.writeable = False
        return joins

    @cached_property
    def ring_order(self) -> RingOrder:
        """The leaves in the order in which equally near users are listed, and where each node begins in it."""
        drawn = order_by_size(self.layout)
        for array in drawn:
            array.flags.writeable = False
        return drawn

    def leaf_of(self, user: User) -> int:
        """The leaf of a user (an id if the tree has ids, else a leaf number); raises UnknownUserError."""
        if self.users is not None:
            try:
                return self.users.leaf(user)
            except UnknownUserError as error:
                suggestion = suggest_ids(str(user), self.users.names())
                raise UnknownUserError(f"no user {user!r} in this tree{suggestion}" if suggestion else str(error)) from None
        if isinstance(user, (int, np.integer)) and not isinstance(user, bool) and 0 <= user < self.n_users:
            return int(user)
        raise UnknownUserError(f"no user {user!r} in this tree, whose users are the numbers 0 to {self.n_users - 1}")

    def __contains__(self, user: object) -> bool:
        """Whether a user is in the tree."""
        if self.users is not None:
            return user in self.users
        return isinstance(user, (int, np.integer)) and not isinstance(user, bool) and 0 <= int(user) < self.n_users

    def __len__(self) -> int:
        return self.n_users

    def __iter__(self) -> Iterator[UserId]:
        """The users in the order of leaves: ids, or leaf numbers if the tree has no ids."""
        return iter(range(self.n_users) if self.users is None else self.users)

    def users_of(self, leaves: Int32Array) -> list[UserId] | Int32Array:
        """The users at some leaves: ids, or the leaf numbers themselves if the tree has no ids."""
        return leaves if self.users is None else self.users.take(leaves)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeArrays):
            return NotImplemented
        return np.array_equal(self.left, other.left) and np.array_equal(self.right, other.right) and self.users == other.users

    def __hash__(self) -> int:
        return hash((self.left.tobytes(), self.right.tobytes()))

    def __repr__(self) -> str:
        ids = "numbers" if self.users is None else f"such as {self.users[0]!r}"
        told = "".join(f", {name}={self.parameters[name]!r}" for name in _TOLD if name in self.parameters)
        return f"{type(self).__name__}({self.n_users:,} users, ids {ids}{told})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, each.name) for each in fields(self))
