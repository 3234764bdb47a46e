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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from privact.errors import ProtocolError
from privact.protocol.round import DIGEST_SIZE, MAX_BINS, MAX_USERS
from privact.protocol.users import normalise_user_id

__all__ = ["NO_LABEL", "LabelTable"]

NO_LABEL: Final = -1
"""The label of a user in no group."""

_VERSION: Final = 1
_MAGIC: Final = b"PCLT"
_KEY_SIZE: Final = 16
_HEAD: Final = struct.Struct(f">4sBII{_KEY_SIZE}s")
_ENTRY: Final = np.dtype([("hash", ">u8"), ("label", ">u2")])


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Which group each user is in, as a sorted table of hashes.

    key: 16 bytes, the key of the hashes.
    n_labels: number of groups; labels are 0 to n_labels - 1, and a round that uses the table has n_labels bins.
    hashes: (n,) uint64, strictly ascending.
    labels: (n,) uint16, the label of the user with the hash at the same place.
    """

    key: bytes
    n_labels: int
    hashes: NDArray[np.uint64]
    labels: NDArray[np.uint16]

    def __post_init__(self) -> None:
        """Refuse arrays that are not a table, and freeze them."""
        _check_key(self.key)
        if not 1 <= self.n_labels <= MAX_BINS:
            raise ProtocolError(
                f"a label table with {self.n_labels} labels cannot be used; the number must be from 1 to {MAX_BINS}"
            )
        if self.hashes.shape != self.labels.shape or self.hashes.ndim != 1 or self.hashes.size > MAX_USERS:
            raise ProtocolError(
                f"label table has {self.hashes.shape} hashes, {self.labels.shape} labels; give one per user, at most {MAX_USERS}"
            )
        if np.any(self.hashes[1:] <= self.hashes[:-1]):
            raise ProtocolError("hashes of a label table must ascend without repeats: build it with LabelTable.from_labels")
        if self.labels.size and int(self.labels.max()) >= self.n_labels:
            raise ProtocolError(f"label {int(self.labels.max())} is outside the table's {self.n_labels} labels: raise n_labels")
        for array in (self.hashes, self.labels):
            array.setflags(write=False)

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
        hashes = _hashes(labels, key)
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        twice = np.flatnonzero(ordered[1:] == ordered[:-1])
        if twice.size:
            users = list(labels)
            one, other = users[order[twice[0]]], users[order[twice[0] + 1]]
            way_out = "list each user once" if normalise_user_id(one) == normalise_user_id(other) else "draw another key"
            raise ProtocolError(f"users {one!r} and {other!r} fall on the same entry of the label table: {way_out}")
        values = np.fromiter(labels.values(), dtype=np.uint16, count=len(labels))
        return cls(key, n_labels, ordered, values[order])

    def label_of(self, user_id: str) -> int:
        """The label of one user, or NO_LABEL (-1) for a user in no group."""
        return int(self.labels_of([user_id])[0])

    def labels_of(self, user_ids: Iterable[str]) -> NDArray[np.int32]:
        """The labels of many users, NO_LABEL (-1) where a user is in no group."""
        wanted = _hashes(user_ids, self.key)
        if not self.hashes.size:
            return np.full(wanted.shape, NO_LABEL, dtype=np.int32)
        place = np.minimum(np.searchsorted(self.hashes, wanted), self.hashes.size - 1)
        return np.where(self.hashes[place] == wanted, self.labels[place].astype(np.int32), np.int32(NO_LABEL))

    def to_bytes(self) -> bytes:
        """The one encoding of this table; the layout is in the module's docstring."""
        entries = np.empty(self.hashes.size, dtype=_ENTRY)
        entries["hash"], entries["label"] = self.hashes, self.labels
        return _HEAD.pack(_MAGIC, _VERSION, self.n_labels, self.hashes.size, self.key) + entries.tobytes()

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
        length = _HEAD.size + n_users * _ENTRY.itemsize
        if len(data) != length:
            raise ProtocolError(f"label table of {n_users} users has {len(data)} bytes; it must have {length}: download it again")
        entries = np.frombuffer(data, dtype=_ENTRY, offset=_HEAD.size)
        return cls(key, n_labels, entries["hash"].astype(np.uint64), entries["label"].astype(np.uint16))

    def digest(self) -> bytes:
        """BLAKE2b-256 of the canonical bytes: what a round names."""
        return self._digest

    @cached_property
    def _digest(self) -> bytes:
        """Computed once: every degree vector compares it with the round's."""
        return hashlib.blake2b(self.to_bytes(), digest_size=DIGEST_SIZE).digest()


def _check_key(key: bytes) -> None:
    """Refuse a key of another length, before anything is hashed under it."""
    if not isinstance(key, bytes) or len(key) != _KEY_SIZE:
        raise ProtocolError(f"the key of a label table must be {_KEY_SIZE} bytes: draw it with secrets.token_bytes({_KEY_SIZE})")


def _hashes(user_ids: Iterable[str], key: bytes) -> NDArray[np.uint64]:
    """The 64-bit keyed hash of each user id."""
    hashed = (hashlib.blake2b(normalise_user_id(user).encode(), digest_size=8, key=key).digest() for user in user_ids)
    return np.frombuffer(b"".join(hashed), dtype=">u8").astype(np.uint64)
