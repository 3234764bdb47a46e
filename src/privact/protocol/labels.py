"""LabelTable: the public group of every user, ten bytes a user, downloaded whole.

A device never asks for one contact's label, because the question would tell the contact. So the table is small
enough to send whole: a 64-bit hash of each user id under the table's own key, and a two-byte label. The key is drawn
after the users are known; nobody can register two ids that meet in the table on purpose.

Canonical bytes, version 1; integers are unsigned and big endian:

    offset  bytes  field
    0       4      "PCLT"
    4       1      version, 1
    5       4      n_labels
    9       4      number of users
    13      16     key
    29      10 x   entries, ascending by hash: 8 bytes keyed BLAKE2b of the normalised user id, 2 bytes label
"""

from __future__ import annotations

import hashlib
import struct
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from operator import itemgetter, lt
from typing import TYPE_CHECKING, Final

from privact.errors import ProtocolError
from privact.protocol.round import DIGEST_SIZE, MAX_BINS, MAX_USERS
from privact.protocol.users import normalise_user_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["NO_LABEL", "LabelTable"]

NO_LABEL: Final = -1
"""The label of a user in no group."""

_VERSION: Final = 1
_MAGIC: Final = b"PCLT"
_KEY_SIZE: Final = 16
_HEAD: Final = struct.Struct(f">4sBII{_KEY_SIZE}s")
_HASH_SIZE: Final = 8
_LABEL_SIZE: Final = 2
_ENTRY_SIZE: Final = _HASH_SIZE + _LABEL_SIZE
_LABEL: Final = struct.Struct(f">{_HASH_SIZE}xH")


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Which group each user is in, as a sorted table of hashes.

    key: 16 bytes, the key of the hashes.
    n_labels: number of groups; labels are 0 to n_labels - 1, and a round that uses the table has n_labels bins.
    entries: ten bytes a user, strictly ascending by hash, as they are encoded.
    """

    key: bytes
    n_labels: int
    entries: bytes = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse entries that are not a table."""
        _check_key(self.key)
        if not 1 <= self.n_labels <= MAX_BINS:
            raise ProtocolError(
                f"a label table with {self.n_labels} labels cannot be used; the number must be from 1 to {MAX_BINS}"
            )
        if len(self.entries) % _ENTRY_SIZE or self.n_users > MAX_USERS:
            raise ProtocolError(f"label table has {len(self.entries)} bytes of entries; give ten a user, for at most {MAX_USERS}")
        hashes = [self.entries[place : place + _HASH_SIZE] for place in range(0, len(self.entries), _ENTRY_SIZE)]
        if not all(map(lt, hashes, hashes[1:])):
            raise ProtocolError("hashes of a label table must ascend without repeats: build it with LabelTable.from_labels")
        largest = max((label for (label,) in _LABEL.iter_unpack(self.entries)), default=0)
        if largest >= self.n_labels:
            raise ProtocolError(f"label {largest} is outside the table's {self.n_labels} labels: raise n_labels")

    @classmethod
    def from_labels(cls, labels: Mapping[str, int], n_labels: int, *, key: bytes) -> LabelTable:
        """Build the table from each user's label.

        labels: user id to label, 0 to n_labels - 1; users in no group are left out.
        n_labels: number of groups.
        key: 16 fresh random bytes, drawn after the users are known.
        """
        _check_key(key)
        n_allowed = min(n_labels, MAX_BINS)
        for user_id, label in labels.items():
            if label != int(label) or not 0 <= label < n_allowed:
                raise ProtocolError(
                    f"user {user_id!r} has label {label!r}; labels go from 0 to {n_allowed - 1}: leave out users in no group"
                )
        hashed = sorted(((_hash(user, key), user) for user in labels), key=itemgetter(0))
        for (hash, one), (next_hash, other) in pairwise(hashed):
            if hash == next_hash:
                way_out = "list each user once" if normalise_user_id(one) == normalise_user_id(other) else "draw another key"
                raise ProtocolError(f"users {one!r} and {other!r} fall on the same entry of the label table: {way_out}")
        return cls(key, n_labels, b"".join(hash + int(labels[user]).to_bytes(_LABEL_SIZE) for hash, user in hashed))

    @property
    def n_users(self) -> int:
        """How many users have a label."""
        return len(self.entries) // _ENTRY_SIZE

    def label_of(self, user_id: str) -> int:
        """The label of one user, or NO_LABEL (-1) for a user in no group."""
        wanted = _hash(user_id, self.key)
        place = bisect_left(range(self.n_users), wanted, key=lambda at: self._entry(at)[:_HASH_SIZE])
        found = self._entry(place)
        return int.from_bytes(found[_HASH_SIZE:]) if found[:_HASH_SIZE] == wanted else NO_LABEL

    def labels_of(self, user_ids: Iterable[str]) -> NDArray[np.int32]:
        """The labels of many users, NO_LABEL (-1) where a user is in no group."""
        import numpy as np  # for the users of a whole round; a device has none

        wanted = np.frombuffer(b"".join(_hash(user, self.key) for user in user_ids), dtype=">u8").astype(np.uint64)
        if not self.entries:
            return np.full(wanted.shape, NO_LABEL, dtype=np.int32)
        table = np.frombuffer(self.entries, dtype=[("hash", ">u8"), ("label", ">u2")])
        hashes = table["hash"].astype(np.uint64)
        place = np.minimum(np.searchsorted(hashes, wanted), hashes.size - 1)
        return np.where(hashes[place] == wanted, table["label"][place].astype(np.int32), np.int32(NO_LABEL))

    def without(self, user_id: str) -> LabelTable:
        """This table without one user, who may be in it or not; another table to every round that names this one."""
        wanted = _hash(user_id, self.key)
        entries = (self.entries[place : place + _ENTRY_SIZE] for place in range(0, len(self.entries), _ENTRY_SIZE))
        return LabelTable(self.key, self.n_labels, b"".join(entry for entry in entries if not entry.startswith(wanted)))

    def to_bytes(self) -> bytes:
        """The one encoding of this table; the layout is in the module's docstring."""
        return _HEAD.pack(_MAGIC, _VERSION, self.n_labels, self.n_users, self.key) + self.entries

    @classmethod
    def from_bytes(cls, data: bytes, digest: bytes | None = None) -> LabelTable:
        """The table that these bytes encode; anything but a table's one encoding is refused.

        data: what to_bytes gave.
        digest: the digest that the round names; another table's bytes are refused.
        """
        if digest is not None and hashlib.blake2b(data, digest_size=DIGEST_SIZE).digest() != digest:
            raise ProtocolError(f"label table does not have the round's digest {digest.hex()}; download it again")
        if len(data) < _HEAD.size or data[:4] != _MAGIC:
            raise ProtocolError(
                f"{len(data)} bytes starting with {data[:4]!r} are not a label table, which starts with {_MAGIC!r}"
            )
        _, version, n_labels, n_users, key = _HEAD.unpack_from(data)
        if version != _VERSION:
            raise ProtocolError(f"label table has version {version}; only {_VERSION} is known here: update the older side")
        length = _HEAD.size + n_users * _ENTRY_SIZE
        if len(data) != length:
            raise ProtocolError(f"label table of {n_users} users has {len(data)} bytes; it must have {length}: download it again")
        return cls(key, n_labels, data[_HEAD.size :])

    def digest(self) -> bytes:
        """BLAKE2b-256 of the canonical bytes: what a round names."""
        return self._digest

    @cached_property
    def _digest(self) -> bytes:
        """Computed once: every degree vector compares it with the round's."""
        return hashlib.blake2b(self.to_bytes(), digest_size=DIGEST_SIZE).digest()

    def _entry(self, place: int) -> bytes:
        """The ten bytes of the user at this place of the order; fewer past the end."""
        return self.entries[_ENTRY_SIZE * place : _ENTRY_SIZE * (place + 1)]


def _check_key(key: bytes) -> None:
    """Refuse a key of another length, before anything is hashed under it."""
    if not isinstance(key, bytes) or len(key) != _KEY_SIZE:
        raise ProtocolError(f"the key of a label table must be {_KEY_SIZE} bytes: draw it with secrets.token_bytes({_KEY_SIZE})")


def _hash(user_id: str, key: bytes) -> bytes:
    """The keyed hash of a user id; as an integer and as bytes it sorts alike."""
    return hashlib.blake2b(normalise_user_id(user_id).encode(), digest_size=_HASH_SIZE, key=key).digest()
