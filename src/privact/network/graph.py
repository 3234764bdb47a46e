"""ContactGraph: who knows whom, all of it at once. For experiments only: no server module may import it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import GraphError, InputError, UnknownUserError
from privact.ids import UserId, keep_id, keep_ids

__all__ = ["ContactGraph"]

_MOST_USERS = 2**31 - 1  # indices are int32
_USERS_PER_CONTACT = 1000  # above a million users, more than this many per contact are ids mistaken for row numbers


@dataclass(frozen=True, eq=False, repr=False)
class ContactGraph:
    """A whole undirected contact graph: for every user, the sorted row numbers of the users they know.

    Build one with `from_edges`, `from_rows`, `from_networkx`, `from_scipy` or `read_graph`; the constructor trusts its arrays.
    Direction is dropped: of a→b and b→a in a list of contacts the second is a duplicate. Two graphs are equal if they
    have the same users in the same order and the same contacts, whatever was dropped on the way.

    indptr: int64, the contacts of user i are `indices[indptr[i]:indptr[i + 1]]`.
    indices: int32 row numbers, ascending within each user, every contact from both ends.
    users: the id of each row, a whole number or text as it was given (`privact.ids` has the rule).
    dropped_duplicates: contacts that the source named again, in the same or in the other direction.
    dropped_self_loops: contacts of a user with themselves in the source.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    users: tuple[UserId, ...]
    dropped_duplicates: int = 0
    dropped_self_loops: int = 0

    def __post_init__(self) -> None:
        self.indptr.flags.writeable = False
        self.indices.flags.writeable = False

    @classmethod
    def from_edges(
        cls, edges: NDArray[Any] | Iterable[Sequence[Hashable]], users: Sequence[Hashable] | None = None
    ) -> ContactGraph:
        """The graph of a list of contacts between ids.

        edges: pairs of ids, as an (m, 2) array or any iterable of pairs. Ids are whole numbers, text, or objects that are
            kept as text. The users of an array of numbers are its distinct numbers in ascending order, those of other pairs
            are numbered in order of first appearance.
        users: the ids of all users, in order: users without contacts stay, and contacts with others are refused.
        """
        named = None if users is None else _keep(users)
        if isinstance(edges, np.ndarray) and edges.dtype.kind in "iuf":
            codes, found = _number_codes(edges)
        else:
            codes, found = _codes(edges)
        if named is None:
            return cls._of_rows(codes[:, 0], codes[:, 1], found)
        row = {str(name): position for position, name in enumerate(named)}
        unknown = next((name for name in found if str(name) not in row), None)
        if unknown is not None:
            raise GraphError(
                f"a contact names user {unknown!r}, who is not among the {len(row)} users given: add them to users, or use "
                "from_rows if contacts are row numbers"
            )
        rows = np.array([row[str(name)] for name in found], dtype=np.int64)[codes]
        return cls._of_rows(rows[:, 0], rows[:, 1], named)

    @classmethod
    def from_rows(cls, rows: NDArray[np.integer[Any]], users: Iterable[Hashable]) -> ContactGraph:
        """The graph of contacts given as row numbers.

        rows: (m, 2) whole numbers, places in `users`. users: the id of every row; those without contacts stay.
        """
        named = _keep(users)
        if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
            raise GraphError(f"contacts of shape {rows.shape} and type {rows.dtype}: give an (m, 2) array of row numbers")
        if rows.size and (rows.min() < 0 or rows.max() >= len(named)):
            wrong = int(rows.min() if rows.min() < 0 else rows.max())
            raise GraphError(f"row number {wrong} is outside 0 to {len(named) - 1}: use from_edges if contacts are ids")
        return cls._of_rows(rows[:, 0], rows[:, 1], named)

    @classmethod
    def from_networkx(cls, graph: Any) -> ContactGraph:
        """The contacts of a networkx graph of any kind; its nodes in order are the users, those without contacts too."""
        nodes = list(graph.nodes)
        row = {node: position for position, node in enumerate(nodes)}
        ends = chain.from_iterable(graph.edges())
        rows = np.fromiter(map(row.__getitem__, ends), dtype=np.int64, count=2 * graph.number_of_edges())
        return cls._of_rows(rows[::2], rows[1::2], _keep(nodes))

    @classmethod
    def from_scipy(cls, matrix: Any, users: Sequence[Hashable] | None = None) -> ContactGraph:
        """The contacts of a square SciPy sparse matrix: two users know each other if either entry is not zero.

        A matrix says a contact in one triangle or in both, so mirrored entries are not counted as duplicates.

        users: the id of every row; its number from 0 if absent.
        """
        from scipy.sparse import coo_array

        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"the matrix has shape {tuple(matrix.shape)}: a contact graph needs one row and one column per user")
        _check_size(matrix.shape[0], matrix.nnz)
        named = tuple(range(matrix.shape[0])) if users is None else _keep(users)
        if len(named) != matrix.shape[0]:
            raise GraphError(f"{len(named)} users for a matrix of {matrix.shape[0]} rows: give one id per row")
        entries = coo_array(matrix)
        entries.sum_duplicates()
        there = entries.data != 0
        first, second = entries.coords[0][there], entries.coords[1][there]
        built = cls._of_rows(first, second, named)
        return cls(built.indptr, built.indices, named, 0, built.dropped_self_loops)

    @classmethod
    def _of_rows(cls, first: NDArray[Any], second: NDArray[Any], users: tuple[UserId, ...]) -> ContactGraph:
        """The graph of contacts first[i] - second[i] given as valid row numbers."""
        n_users = len(users)
        if n_users == 0:
            raise GraphError("the contact graph has no users: give at least one")
        apart = first != second
        if not apart.all():
            first, second = first[apart], second[apart]
        # One sort of row * n + column from both ends orders rows, orders within rows, and puts duplicates side by side.
        keys = np.empty(2 * len(first), dtype=np.int64)
        for half, row, column in ((keys[: len(first)], first, second), (keys[len(first) :], second, first)):
            np.multiply(row, n_users, out=half, dtype=np.int64)
            half += column
        keys.sort()
        fresh = np.ones(len(keys), dtype=bool)
        np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
        if not fresh.all():
            keys = keys[fresh]
        indptr = np.searchsorted(keys, np.arange(n_users + 1, dtype=np.int64) * n_users).astype(np.int64, copy=False)
        np.remainder(keys, n_users, out=keys)
        return cls(indptr, keys.astype(np.int32), users, (len(fresh) - len(keys)) // 2, int(len(apart) - len(first)))

    @property
    def n_users(self) -> int:
        """How many users there are, with or without contacts."""
        return len(self.users)

    @property
    def n_edges(self) -> int:
        """How many pairs of users know each other."""
        return len(self.indices) // 2

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """How many contacts each user has."""
        degrees = np.diff(self.indptr)
        degrees.flags.writeable = False
        return degrees

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The id of each row as text, as devices and files spell it."""
        return tuple(map(str, self.users))

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {user: row for row, user in enumerate(self.names)}

    def row(self, user: Hashable) -> int:
        """The row number of a user, given by id."""
        try:
            return self._rows[str(keep_id(user))]
        except KeyError:
            raise UnknownUserError(f"user {user!r} is not in this graph of {self.n_users} users: see its users") from None

    def neighbours(self, user: Hashable) -> tuple[UserId, ...]:
        """The ids of everyone a user knows, in row order."""
        row = self.row(user)
        return tuple(self.users[other] for other in self.indices[self.indptr[row] : self.indptr[row + 1]])

    def edges(self) -> NDArray[np.int64]:
        """Every contact once, as an (n_edges, 2) array of row numbers u < v in ascending order."""
        rows = np.repeat(np.arange(self.n_users, dtype=np.int64), self.degrees)
        upper = rows < self.indices
        return np.column_stack((rows[upper], self.indices[upper].astype(np.int64)))

    def to_scipy(self) -> Any:
        """The symmetric 0/1 adjacency matrix as a SciPy CSR array of int64 (so that products do not overflow)."""
        from scipy.sparse import csr_array

        ones = np.ones(len(self.indices), dtype=np.int64)
        return csr_array((ones, self.indices.copy(), self.indptr.copy()), shape=(self.n_users, self.n_users))

    def largest_component(self) -> ContactGraph:
        """The largest connected part, users in the same order; of equally large ones, the one with the earliest user.

        The counts of what was dropped are those of the whole source.
        """
        from scipy.sparse.csgraph import connected_components

        _, part = connected_components(self.to_scipy(), directed=False)
        size = np.bincount(part)[part]
        inside = part == part[np.argmax(size)]
        if inside.all():
            return self
        new_row = np.cumsum(inside) - 1
        edges = self.edges()
        edges = new_row[edges[inside[edges[:, 0]]]]
        part_only = self._of_rows(edges[:, 0], edges[:, 1], tuple(self.users[row] for row in np.flatnonzero(inside)))
        return ContactGraph(
            part_only.indptr, part_only.indices, part_only.users, self.dropped_duplicates, self.dropped_self_loops
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ContactGraph):
            return NotImplemented
        return (
            self.users == other.users
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ContactGraph(n_users={self.n_users}, n_edges={self.n_edges})"


def _keep(ids: Iterable[Hashable]) -> tuple[UserId, ...]:
    """Ids as they are kept, or GraphError."""
    try:
        return keep_ids(ids)
    except InputError as error:
        raise GraphError(str(error)) from None


def _codes(edges: Iterable[Sequence[Hashable]]) -> tuple[NDArray[np.int64], tuple[UserId, ...]]:
    """Both ends of every pair as numbers in order of first appearance, and the ids they stand for."""
    if isinstance(edges, np.ndarray) and edges.dtype.kind not in "OSU":
        raise GraphError(f"contacts of type {edges.dtype}: an array of contacts must hold whole numbers or text")
    pairs = edges.tolist() if isinstance(edges, np.ndarray) else list(edges)
    try:
        lengths = set(map(len, pairs))
        if lengths - {2}:
            raise GraphError(f"a contact of {max(lengths - {2})} users: every contact must be a pair")
        ends = list(chain.from_iterable(pairs))
        number = {user: position for position, user in enumerate(dict.fromkeys(ends))}
    except TypeError as error:
        raise GraphError(f"contacts must be pairs of hashable ids: {error}") from None
    codes = np.fromiter(map(number.__getitem__, ends), dtype=np.int64, count=len(ends))
    return codes.reshape(-1, 2), _keep(number)


def _number_codes(edges: NDArray[Any]) -> tuple[NDArray[np.int64], tuple[UserId, ...]]:
    """Both columns of an array of whole numbers as places in their ascending order, and the numbers."""
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise GraphError(f"an array of contacts has shape {edges.shape}: it must be (m, 2)")
    if edges.dtype.kind == "f":
        if not np.isfinite(edges).all():
            raise GraphError("NaN or inf is no user id: drop such contacts")
        whole = (np.abs(edges) < 2**53) & (edges == np.floor(edges))
        if not whole.all():
            raise GraphError(f"{edges[~whole][0]} is no user id: an array of contacts must hold whole numbers or text")
        edges = edges.astype(np.int64)
    found, codes = np.unique(edges, return_inverse=True)
    return codes.reshape(edges.shape).astype(np.int64, copy=False), tuple(found.tolist())


def _check_size(n_users: int, n_contacts: int) -> None:
    """Refuse sizes that only ids mistaken for row numbers would give, before memory is asked for."""
    if n_users > min(_MOST_USERS, max(1_000_000, _USERS_PER_CONTACT * n_contacts)):
        raise GraphError(
            f"{n_users} users for {n_contacts} contacts: if rows are ids rather than places, pass contacts as pairs to from_edges"
        )
