"""HierarchicalClusterTree: the tree over all users as flat arrays, and what can be asked of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError, UnknownUserError
from privact.tree import ancestry, clusters
from privact.tree.ancestry import NearestUsers
from privact.tree.clusters import Cluster, Communities
from privact.tree.counts import checked_count
from privact.tree.layout import Int32Array, Layout, lay_out
from privact.tree.parameters import parameters_text
from privact.tree.users import UserIds

User: TypeAlias = str | int | np.integer[Any]


@dataclass(frozen=True, eq=False, repr=False)
class HierarchicalClusterTree:
    """A full binary tree whose leaves are users and whose every node is a cluster of the users below it.

    Of n users, leaves are nodes 0 to n-1, internal nodes n to 2n-2, the root is 2n-2 (with one user, leaf 0).
    The drawing is canonical: a left child holds the smaller smallest leaf, and internal nodes are numbered in
    postorder. So trees with the same clusters have the same arrays and the same file bytes; children have smaller
    numbers than parents; the internal nodes below and including node v are v-size[v]+2 to v; and the first leaf of
    a node's slice is its smallest. Arrays are read-only int32: widen before multiplying sizes.

    Make one with `from_children`, `from_nested`, `from_linkage`, `from_newick`, `from_json` or `load`; the
    constructor itself trusts its arrays. A user is an id (text) if the tree has ids, and a leaf number otherwise.
    Two trees are equal if they have the same clusters of the same users; `parameters` say how a tree was made
    rather than what it is, and do not count.

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
        cls, left: ArrayLike, right: ArrayLike, users: Sequence[str] | None = None, parameters: Mapping[str, Any] | None = None
    ) -> HierarchicalClusterTree:
        """A tree from the two children of each internal node, numbered in any way; O(n), refused if it is not one tree.

        left, right: children of internal node n+i; leaves are 0 to n-1, the root may be any internal node.
        users: one id per leaf.
        parameters: public facts about how the tree was made.
        """
        layout = lay_out(left, right)
        if users is not None and len(users) != len(layout.order):
            raise InputError(f"{len(users)} user ids for {len(layout.order)} leaves: pass one each")
        return cls(*layout, None if users is None else UserIds.of(users), parameters_text(parameters))

    @classmethod
    def from_nested(cls, nested: Any, users: Sequence[str] | None = None) -> HierarchicalClusterTree:
        """A tree from pairs of pairs such as ((0, 1), 2) or (("ann", "bob"), "eve").

        nested: a leaf number or id, or a pair of such trees; ids are given leaves in alphabetical order.
        users: the ids in another order, leaf by leaf.
        """
        from privact.tree.formats.exchange import from_nested

        return from_nested(nested, users)

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
        """The node that holds everybody."""
        return self.n_nodes - 1

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Public facts about how the tree was made, such as epsilon and bins; a fresh copy that cannot alter the tree."""
        return MappingProxyType(json.loads(self.parameters_json))

    def with_parameters(self, parameters: Mapping[str, Any]) -> HierarchicalClusterTree:
        """The same tree with other public parameters; they must fit in JSON."""
        return replace(self, parameters_json=parameters_text(parameters))

    @cached_property
    def joins(self) -> Int32Array:
        """(n-1) the internal node that joins neighbours order[p] and order[p+1]; each node appears once."""
        joins = np.empty(self.n_users - 1, np.int32)
        joins[self.start[self.right] - 1] = np.arange(self.n_users, self.n_nodes)
        joins.flags.writeable = False
        return joins

    @property
    def depths(self) -> Int32Array:
        """(n) number of internal nodes above each leaf."""
        return clusters.depths(self)

    def leaf_of(self, user: User) -> int:
        """The leaf of a user (an id if the tree has ids, else a leaf number); raises UnknownUserError."""
        if self.users is not None:
            return self.users.leaf(user)  # type: ignore[arg-type]
        if isinstance(user, (int, np.integer)) and not isinstance(user, bool) and 0 <= user < self.n_users:
            return int(user)
        raise UnknownUserError(f"no user {user!r} in this tree, whose users are the numbers 0 to {self.n_users - 1}")

    def users_of(self, leaves: Int32Array) -> list[str] | Int32Array:
        """The users at some leaves: ids, or the leaf numbers themselves if the tree has no ids."""
        return leaves if self.users is None else self.users.take(leaves)

    def nearest(self, user: User, m: int) -> NearestUsers:
        """The m users nearest to a user, nearest communities first, each with the size of the community they share.

        The cluster around the user grows from leaf to root; who joins at an earlier step comes first, and those who
        join at the same step come in the tree's leaf order. The user is not among them. O(m), also in a huge tree.

        m: how many; more than there are gives all.
        """
        return ancestry.nearest(self, self.leaf_of(user), m)

    def community(self, user: User, size: int) -> Cluster:
        """The smallest cluster that holds the user and has at least `size` users."""
        at_least = checked_count("size", size, self.n_users)
        return Cluster(self, ancestry.enclosing(self, self.leaf_of(user), at_least))

    def communities(self, user: User) -> Communities:
        """All clusters that hold the user, from the user alone to everybody."""
        return Communities(self, ancestry.path_up(self, self.leaf_of(user), self.n_users))

    def lowest_common_cluster(self, a: User, b: User) -> Cluster:
        """The smallest cluster that holds two users."""
        return Cluster(self, ancestry.lowest_common_node(self, self.leaf_of(a), self.leaf_of(b)))

    def distance(self, a: User, b: User) -> int:
        """The number of users in the smallest cluster that holds both, and 0 from a user to itself.

        An ultrametric: distance(a, c) is at most the larger of distance(a, b) and distance(b, c).
        """
        common = self.lowest_common_cluster(a, b)
        return common.size if common.node >= self.n_users else 0

    def cut(self, k: int, min_size: int = 1) -> NDArray[np.int64]:
        """A label per leaf for k clusters, found by always splitting the largest cluster next, of equal ones the first.

        Labels 0 to k-1 follow the leaf order. Deep trees lose users one by one on the way down: with a min_size above 1
        whoever falls off in a smaller group is labelled -1, and all k clusters have at least so many users.
        """
        return clusters.cut(self, k, min_size)

    def cut_size(self, max_size: int) -> NDArray[np.int64]:
        """A label per leaf for the largest clusters that have at most `max_size` users; labels follow the leaf order."""
        return clusters.cut_size(self, max_size)

    def with_leaves(self, siblings: ArrayLike, users: Sequence[str] | None = None) -> HierarchicalClusterTree:
        """The tree with new leaves, each put beside a node of this tree; old leaves keep their numbers.

        siblings: for new leaf n+j the node of this tree that becomes its sibling; of several beside one node, later
            ones stand above earlier ones.
        users: ids of the new leaves, needed exactly when the tree has ids.
        """
        from privact.tree.graft import with_leaves

        return with_leaves(self, siblings, users)

    def theta(self, vectors: Any) -> NDArray[np.float64]:
        """(n-1) average dissimilarity between the two sides of each internal node (the paper's Theorem 1).

        vectors: the users' vectors, row i for leaf i.
        """
        from privact.tree.cost import theta

        return theta(self, vectors)

    def violations(self, vectors: Any) -> NDArray[np.int64]:
        """Internal nodes that break the ideal clustering property: more dissimilar inside than some ancestor.

        vectors: the users' vectors, row i for leaf i.
        """
        from privact.tree.cost import violations

        return violations(self, vectors)

    def to_linkage(self, heights: ArrayLike | None = None) -> NDArray[np.float64]:
        """SciPy's linkage matrix Z, (n-1) x 4, with rows sorted by height; `cophenet` of it is `distance` by default.

        heights: one per internal node, not negative. A height below that of a node underneath is raised to it (running
            maximum from the leaves up), because SciPy asks for monotone heights. By default a node's size.
        """
        from privact.tree.formats.exchange import to_linkage

        return to_linkage(self, heights)

    @classmethod
    def from_linkage(cls, linkage: ArrayLike, users: Sequence[str] | None = None) -> HierarchicalClusterTree:
        """A tree from SciPy's linkage matrix Z; its heights and counts are not used."""
        from privact.tree.formats.exchange import from_linkage

        return from_linkage(linkage, users)

    def to_newick(self) -> str:
        """Newick text; leaves are named by id or number, branch lengths put each node at a height equal to its size."""
        from privact.tree.formats.newick import to_newick

        return to_newick(self)

    @classmethod
    def from_newick(cls, text: str, users: Sequence[str] | None = None) -> HierarchicalClusterTree:
        """A tree from Newick text; branch lengths, names of internal nodes and [comments] are not used.

        Names that are exactly the numbers 0 to n-1 are leaf numbers, others are ids as in `from_nested`.

        users: the ids in another order than the alphabet's, leaf by leaf.
        """
        from privact.tree.formats.newick import from_newick

        return from_newick(text, users)

    def to_json(self) -> str:
        """One line of JSON: {"format": "privact-hct", "version": 1, "parameters", "users", "left", "right"}."""
        from privact.tree.formats.exchange import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, text: str) -> HierarchicalClusterTree:
        """A tree from `to_json`'s text."""
        from privact.tree.formats.exchange import from_json

        return from_json(text)

    def save(self, path: str | Path, parameters: Mapping[str, Any] | None = None) -> None:
        """Write the tree to a checksummed file, all or nothing; same tree and parameters, same bytes.

        parameters: public facts to store in place of the tree's own.
        """
        from privact.tree.formats.hct_file import save

        save(self if parameters is None else self.with_parameters(parameters), path)

    @classmethod
    def load(cls, path: str | Path, memory_map: bool = False) -> HierarchicalClusterTree:
        """Read a saved tree after verifying its checksum and its arrays.

        memory_map: leave the arrays on disk, shared between processes. Only for files that nobody overwrites in
            place while they are in use; `save` never does.
        """
        from privact.tree.formats.hct_file import load

        return load(path, memory_map)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HierarchicalClusterTree):
            return NotImplemented
        return np.array_equal(self.left, other.left) and np.array_equal(self.right, other.right) and self.users == other.users

    def __hash__(self) -> int:
        return hash((self.left.tobytes(), self.right.tobytes()))

    def __repr__(self) -> str:
        ids = "none" if self.users is None else f"{self.users[0]!r}, ..."
        return f"HierarchicalClusterTree({self.n_users} users, ids: {ids}, parameters: {self.parameters_json})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, each.name) for each in fields(self))
