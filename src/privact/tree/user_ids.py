"""User ids <-> leaf numbers, light enough to load a million ids and look one up without a table of all."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError, TreeError, UnknownUserError
from privact.ids import UserId, is_spelled_as_integer, keep_id, keep_ids
from privact.tree.id_index import IdIndex

SEPARATOR = b"\xff"  # a byte that no UTF-8 text contains, so that an id is found by one search
INDEXED_FROM = 10_000
"""From how many users on a tree file holds an index of their ids; for fewer, a table costs nothing."""
_DECODED = 1 << 16  # ids that are text at a time when all are visited
_SCANS_BEFORE_INDEX = 4  # a scan of a million ids takes milliseconds, their index a quarter of a second


class UserIds(Sequence[UserId]):
    """The ids of a tree's users: a sequence in which the id at position i belongs to leaf i.

    packed: all ids as UTF-8, each followed by the byte 0xFF, with one such byte in front.
    integers: whether ids that are spelled as integers are integers; otherwise all are text.
    by_hash: the leaves in the order of their ids' hashes, if a file told it; see `IdIndex`.
    """

    __slots__ = ("__weakref__", "_index", "_offsets", "_scans", "_table", "integers", "packed")

    def __init__(self, packed: bytes, integers: bool = False, by_hash: NDArray[np.int32] | None = None) -> None:
        self.packed = packed
        self.integers = integers
        self._offsets: NDArray[np.int64] = np.flatnonzero(np.frombuffer(packed, np.uint8) == SEPARATOR[0])
        self._scans = 0
        self._table: dict[bytes, int] | None = None
        self._index = None if by_hash is None else IdIndex(packed, self._offsets, by_hash)

    @classmethod
    def of(cls, users: Sequence[Hashable]) -> UserIds:
        """Pack ids, refusing those that are missing or occur twice; `privact.ids` has the rule of what becomes text.

        users: one id per leaf.
        """
        if isinstance(users, UserIds):
            return users
        if isinstance(users, str):
            raise InputError("users must be a sequence of ids, not one string: pass a list")
        ids: Sequence[UserId] = users if set(map(type, users)) <= {str} else keep_ids(users)  # type: ignore[assignment]
        integers = any(isinstance(user, int) for user in ids)
        try:
            encoded = [str(user).encode() for user in ids]
        except UnicodeEncodeError:
            raise InputError(_why_no_ids(ids)) from None
        if repeated := _find_repeated(encoded):
            raise InputError(f"user id {repeated.decode()!r} occurs twice: each leaf needs its own")
        return cls(SEPARATOR + b"".join(part + SEPARATOR for part in encoded), integers)

    def leaf(self, user: Hashable) -> int:
        """The leaf of a user, found by the text of the id; raises UnknownUserError."""
        found = self._find(_key_of(user))
        if found < 0:
            raise UnknownUserError(f"no user {user!r} among the {len(self)} users of this tree")
        return found

    def leaves_of(self, users: Sequence[Hashable]) -> NDArray[np.int64]:
        """The leaf of each of many users, -1 for those who are not here."""
        keys = [_key_of(user) for user in users]
        if len(self) < INDEXED_FROM or not keys or SEPARATOR in keys:  # what can be no id is looked for by itself
            return np.array([self._find(key) for key in keys], np.int64)
        if self._index is None:
            self._index = IdIndex(self.packed, self._offsets)
        return self._index.find_all(keys)

    def take(self, leaves: NDArray[np.int32]) -> list[UserId]:
        """The ids of some leaves."""
        if len(leaves) * 4 > len(self):
            every = list(self)
            return [every[leaf] for leaf in leaves.tolist()]
        begins, ends = (self._offsets[leaves] + 1).tolist(), self._offsets[leaves + 1].tolist()
        return self._restore_types([self.packed[begin:end].decode() for begin, end in zip(begins, ends, strict=True)])

    def names(self) -> list[str]:
        """All ids as text, as files and pages spell them."""
        return self._decode(0, len(self))

    def _decode(self, first: int, last: int) -> list[str]:
        """The ids of leaves first to last as text."""
        # Decoding many at once is several times faster than id by id; 0xFF becomes U+DCFF.
        text = self.packed[self._offsets[first] + 1 : self._offsets[last]].decode("utf-8", "surrogateescape")
        return text.split("\udcff")

    def _restore_types(self, names: list[str]) -> list[UserId]:
        """Ids from their text."""
        if not self.integers:
            return names  # type: ignore[return-value]
        return [int(name) if is_spelled_as_integer(name) else name for name in names]

    def order_by_hash(self) -> NDArray[np.int32]:
        """The leaves in the order of their ids' hashes: what a file stores so that ids are found at once."""
        if self._index is None:
            self._index = IdIndex(self.packed, self._offsets)
        return self._index.by_hash

    def _find(self, key: bytes) -> int:
        if self._table is None and len(self) < INDEXED_FROM:
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

    def __iter__(self) -> Iterator[UserId]:
        for first in range(0, len(self), _DECODED):
            yield from self._restore_types(self._decode(first, min(first + _DECODED, len(self))))

    @overload
    def __getitem__(self, index: int) -> UserId: ...
    @overload
    def __getitem__(self, index: slice) -> list[UserId]: ...
    def __getitem__(self, index: int | slice) -> UserId | list[UserId]:
        if isinstance(index, slice):
            return [self[leaf] for leaf in range(*index.indices(len(self)))]
        leaf = range(len(self))[index]
        return self._restore_types([self.packed[self._offsets[leaf] + 1 : self._offsets[leaf + 1]].decode()])[0]

    def __contains__(self, user: Any) -> bool:
        return self._find(_key_of(user)) >= 0

    def index(self, user: Hashable, start: int = 0, stop: int | None = None) -> int:
        """The leaf of a user, as sequences spell it; raises ValueError if it is not within the bounds."""
        leaf = self._find(_key_of(user))
        if leaf < 0 or leaf not in range(*slice(start, stop).indices(len(self))):
            raise ValueError(f"no user {user!r} between positions {start} and {stop}")
        return leaf

    def __eq__(self, other: object) -> bool:
        if isinstance(other, UserIds):
            return self.packed == other.packed and self.integers == other.integers
        if isinstance(other, (list, tuple)):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.packed)

    def __reduce__(self) -> tuple[type[UserIds], tuple[bytes, bool]]:
        return UserIds, (self.packed, self.integers)

    def __repr__(self) -> str:
        shown = ", ".join(repr(user) for user in self[:3])
        return f"UserIds({shown}{', ...' if len(self) > 3 else ''}; {len(self)} users)"


def _find_repeated(encoded: list[bytes]) -> bytes | None:
    """An id that occurs twice, or None."""
    if len(set(encoded)) == len(encoded):
        return None
    ordered = sorted(encoded)
    return next(one for one, other in pairwise(ordered) if one == other)


def _key_of(user: Hashable) -> bytes:
    """The packed bytes of an id; of what can be no id, bytes that match none."""
    try:
        return str(keep_id(user)).encode("utf-8", "surrogatepass")  # a lone surrogate matches no stored id
    except InputError:
        return SEPARATOR


def _why_no_ids(users: Sequence[UserId]) -> str:
    """What is wrong with the first of some ids that cannot be encoded."""
    wrong = (at for at, user in enumerate(users) if any("\ud800" <= character <= "\udfff" for character in str(user)))
    leaf = next(wrong)
    return f"the id of leaf {leaf}, {users[leaf]!r}, is not valid Unicode text"


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


def find_index_problem(by_hash: NDArray[np.int32] | None, n_users: int) -> str | None:
    """Why an index cannot be one of n_users ids, or None if it can; for files of unknown origin.

    Whether its order is right is not checked: in a forged one some ids are not found, never a wrong leaf.
    """
    if by_hash is None:
        return None
    if len(by_hash) != n_users or int(by_hash.min(initial=0)) < 0 or int(by_hash.max(initial=0)) >= n_users:
        return "the index of user ids does not match the number of users"
    return None


def number_leaves(names: Sequence[Hashable], users: Sequence[Hashable] | None = None) -> tuple[NDArray[np.int64], UserIds | None]:
    """The leaf of each named user, and the ids in order of leaves, or None if the names are the leaf numbers 0 to n-1.

    names: the users in the order in which a text or nested pairs draw them.
    users: ids in the order of leaves; if not given, numbers ascending and then text in alphabetical order, so that the drawing
        does not matter.
    """
    try:
        given = [keep_id(name) for name in names]
        if users is None and set(given) == set(range(len(given))):
            return np.array(given, np.int64), None
        ids = UserIds.of(sorted(given, key=lambda name: (isinstance(name, str), name)) if users is None else users)
    except InputError as error:
        raise TreeError(str(error)) from None
    leaf_of = {str(user): leaf for leaf, user in enumerate(ids)}
    try:
        leaves = np.array([leaf_of[str(name)] for name in given], np.int64)
    except KeyError as error:
        raise TreeError(f"leaf {error.args[0]!r} is not among the given users") from None
    different = len(set(leaves.tolist()))
    if len(given) != len(ids) or different != len(given):
        raise TreeError(f"{len(ids)} users were given but the tree names {len(given)} leaves, {different} of them different")
    return leaves, ids
