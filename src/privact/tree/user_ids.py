"""User ids <-> leaf numbers, light enough to load a million ids and look one up without a table of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError, TreeError, UnknownUserError
from privact.tree.id_index import IdIndex

SEPARATOR = b"\xff"  # a byte that no UTF-8 text contains, so that an id is found by one search
_TABLE_BELOW = 10_000  # users; for so few a table costs nothing
_SCANS_BEFORE_INDEX = 4  # a scan of a million ids takes milliseconds, their index a quarter of a second


class UserIds(Sequence[str]):
    """The ids of a tree's users: a sequence in which the id at position i belongs to leaf i.

    packed: all ids as UTF-8, each followed by the byte 0xFF, with one such byte in front.
    """

    __slots__ = ("__weakref__", "_index", "_offsets", "_scans", "_table", "packed")

    def __init__(self, packed: bytes) -> None:
        self.packed = packed
        self._offsets: NDArray[np.int64] = np.flatnonzero(np.frombuffer(packed, np.uint8) == SEPARATOR[0])
        self._scans = 0
        self._table: dict[bytes, int] | None = None
        self._index: IdIndex | None = None

    @classmethod
    def of(cls, users: Sequence[str]) -> UserIds:
        """Pack ids, refusing what is not text and what occurs twice.

        users: one id per leaf.
        """
        if isinstance(users, UserIds):
            return users
        if isinstance(users, str):
            raise InputError("users must be a sequence of ids, not one string: pass a list")
        try:
            encoded = list(map(str.encode, users))
        except (TypeError, UnicodeEncodeError):
            raise InputError(_why_no_ids(users)) from None
        if repeated := _repeated(encoded):
            raise InputError(f"user id {repeated.decode()!r} occurs twice: each leaf needs its own")
        return cls(SEPARATOR + b"".join(part + SEPARATOR for part in encoded))

    def leaf(self, user: str) -> int:
        """The leaf of a user; raises UnknownUserError."""
        found = -1
        if isinstance(user, str):
            key = user.encode("utf-8", "surrogatepass")  # a lone surrogate matches no stored id
            found = self._find(key)
        if found < 0:
            raise UnknownUserError(f"no user {user!r} among the {len(self)} users of this tree, whose ids are text")
        return found

    def take(self, leaves: NDArray[np.int32]) -> list[str]:
        """The ids of some leaves."""
        if len(leaves) * 4 > len(self):
            every = list(self)
            return [every[leaf] for leaf in leaves.tolist()]
        begins, ends = (self._offsets[leaves] + 1).tolist(), self._offsets[leaves + 1].tolist()
        return [self.packed[begin:end].decode() for begin, end in zip(begins, ends, strict=True)]

    def _find(self, key: bytes) -> int:
        if self._table is None and len(self) < _TABLE_BELOW:
            parts = self.packed[1:-1].split(SEPARATOR)
            self._table = dict(zip(reversed(parts), range(len(parts) - 1, -1, -1), strict=True))  # as a scan: the first wins
        if self._table is not None:
            return self._table.get(key, -1)
        if self._index is None and self._scans >= _SCANS_BEFORE_INDEX:
            self._index = IdIndex(self.packed, self._offsets)
        if self._index is not None:
            return self._index.find(key)
        self._scans += 1
        place = self.packed.find(SEPARATOR + key + SEPARATOR)
        return -1 if place < 0 else int(np.searchsorted(self._offsets, place))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __iter__(self) -> Iterator[str]:
        # Decoding everything at once is several times faster than id by id; 0xFF becomes U+DCFF.
        return iter(self.packed[1:-1].decode("utf-8", "surrogateescape").split("\udcff"))

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[leaf] for leaf in range(*index.indices(len(self)))]
        leaf = range(len(self))[index]
        return self.packed[self._offsets[leaf] + 1 : self._offsets[leaf + 1]].decode()

    def __contains__(self, user: object) -> bool:
        return isinstance(user, str) and self._find(user.encode("utf-8", "surrogatepass")) >= 0

    def index(self, user: str, start: int = 0, stop: int | None = None) -> int:
        """The leaf of a user, as sequences spell it; raises ValueError if it is not within the bounds."""
        leaf = self._find(user.encode("utf-8", "surrogatepass"))
        if leaf < 0 or leaf not in range(*slice(start, stop).indices(len(self))):
            raise ValueError(f"no user {user!r} between positions {start} and {stop}")
        return leaf

    def __eq__(self, other: object) -> bool:
        if isinstance(other, UserIds):
            return self.packed == other.packed
        if isinstance(other, (list, tuple)):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.packed)

    def __reduce__(self) -> tuple[type[UserIds], tuple[bytes]]:
        return UserIds, (self.packed,)

    def __repr__(self) -> str:
        shown = ", ".join(repr(user) for user in self[:3])
        return f"UserIds({shown}{', ...' if len(self) > 3 else ''}; {len(self)} users)"


def _repeated(encoded: list[bytes]) -> bytes | None:
    """An id that occurs twice, or None."""
    if len(set(encoded)) == len(encoded):
        return None
    ordered = sorted(encoded)
    return next(one for one, other in pairwise(ordered) if one == other)


def _why_no_ids(users: Sequence[object]) -> str:
    """What is wrong with the first of some ids that cannot be encoded."""
    for leaf, user in enumerate(users):
        if not isinstance(user, str):
            return f"the id of leaf {leaf} is {user!r}: user ids are text, so pass str(id)"
        if any("\ud800" <= character <= "\udfff" for character in user):
            return f"the id of leaf {leaf}, {user!r}, is not valid Unicode text"
    raise AssertionError("every id can be encoded")


def find_ids_problem(packed: bytes, n_users: int) -> str | None:
    """Why bytes are not the packed ids of n_users users, or None if they are; for files of unknown origin.

    Whether an id occurs twice is not checked, because that takes as long as all the rest of loading a file: no file
    written here has one, and in a forged one its first leaf answers.
    """
    if packed[:1] != SEPARATOR or packed[-1:] != SEPARATOR or packed.count(SEPARATOR) != n_users + 1:
        return "the user ids do not match the number of users"
    try:
        packed.replace(SEPARATOR, b"\n").decode()
    except UnicodeDecodeError:
        return "a user id is not UTF-8"
    return None


def number_leaves(names: Sequence[str | int], users: Sequence[str] | None = None) -> tuple[NDArray[np.int64], UserIds | None]:
    """The leaf of each named user, and the ids in order of leaves, or None if the names are the leaf numbers 0 to n-1.

    names: the users in the order in which a text or nested pairs draw them.
    users: ids in the order of leaves; alphabetical if not given, so that the drawing does not matter.
    """
    if users is None and all(isinstance(name, int) and not isinstance(name, bool) for name in names):
        leaves = np.array(names, dtype=object)
        if sorted(leaves) != list(range(len(names))):
            raise TreeError(f"the {len(names)} leaves must be the numbers 0 to {len(names) - 1}, each once")
        return leaves.astype(np.int64), None
    texts = [name for name in names if isinstance(name, str)]
    if len(texts) < len(names):
        odd = next(name for name in names if not isinstance(name, str))
        raise TreeError(f"leaf {odd!r} is not an id: leaves are all ids (text), or all numbers")
    ids = UserIds.of(sorted(texts) if users is None else users)
    leaf_of = {user: leaf for leaf, user in enumerate(ids)}
    try:
        leaves = np.array([leaf_of[name] for name in texts], np.int64)
    except KeyError as error:
        raise TreeError(f"leaf {error.args[0]!r} is not among the given users") from None
    if len(texts) != len(ids) or len(set(texts)) != len(texts):
        raise TreeError(
            f"{len(ids)} users were given but the tree names {len(texts)} leaves, {len(set(texts))} of them different"
        )
    return leaves, ids
