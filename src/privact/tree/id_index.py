"""Where an id stands among very many packed ones: their leaves in the order of the ids' hashes, 4 bytes an id.

A tree file stores this order, so that the first look-up needs no pass over the ids.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

_START = 0xCBF29CE484222325  # the 64-bit hash of Fowler, Noll and Vo
_FACTOR = 0x100000001B3
_SEPARATOR = b"\xff"  # a byte that no UTF-8 text contains
_BITS = 0xFFFFFFFFFFFFFFFF


class IdIndex:
    """An index of packed ids.

    packed: all ids, each followed by a separator, with one in front. offsets: where separators are.
    by_hash: the leaves in the order of their ids' hashes, equal ones as they come; found from the ids if not given.
    """

    def __init__(self, packed: bytes, offsets: NDArray[np.int64], by_hash: NDArray[np.int32] | None = None) -> None:
        self._packed = packed
        self._offsets = offsets
        if by_hash is None:
            by_hash = np.argsort(hashes_of(packed, offsets), kind="stable").astype(np.int32)
        self.by_hash = by_hash

    def find(self, key: bytes) -> int:
        """The place of an id, the first of equal ones; -1 if it is not there."""
        wanted = hash_of(key)
        place = bisect_left(self.by_hash, wanted, key=lambda leaf: hash_of(self._id(leaf)))
        for leaf in self.by_hash[place:]:
            found = self._id(leaf)
            if found == key:
                return int(leaf)
            if hash_of(found) != wanted:
                break
        return -1

    def find_all(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """The place of each id, -1 for those that are not there; many at once are much faster than one by one."""
        packed = _SEPARATOR.join([b"", *keys, b""])
        offsets = np.flatnonzero(np.frombuffer(packed, np.uint8) == _SEPARATOR[0])
        places = np.searchsorted(self._hashes, hashes_of(packed, offsets))
        leaves = self.by_hash[np.minimum(places, len(self.by_hash) - 1)].astype(np.int64)
        begins, ends = (self._offsets[leaves] + 1).tolist(), self._offsets[leaves + 1].tolist()
        here = [self._packed[begin:end] == key for begin, end, key in zip(begins, ends, keys, strict=True)]
        for at in np.flatnonzero(~np.array(here, bool)).tolist():  # unknown, or another id with the same hash
            leaves[at] = self.find(keys[at])
        return leaves

    @cached_property
    def _hashes(self) -> NDArray[np.uint64]:
        """The hashes of all ids in ascending order, 8 bytes an id."""
        return hashes_of(self._packed, self._offsets)[self.by_hash]

    def _id(self, leaf: np.int32) -> bytes:
        return self._packed[self._offsets[leaf] + 1 : self._offsets[leaf + 1]]


def hash_of(key: bytes) -> int:
    """The hash of one id."""
    value = _START
    for byte in key:
        value = (value ^ byte) * _FACTOR & _BITS
    return value


def hashes_of(packed: bytes, offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The hash of every id: byte after byte, for all ids at once that are so long."""
    text = np.frombuffer(packed, np.uint8)
    starts, lengths = offsets[:-1] + 1, np.diff(offsets) - 1
    values = np.full(len(starts), _START, np.uint64)
    longest_first = np.argsort(-lengths, kind="stable")
    ascending = np.sort(lengths)
    for position in range(int(lengths.max(initial=0))):
        active = longest_first[: len(lengths) - int(np.searchsorted(ascending, position, side="right"))]
        values[active] = (values[active] ^ text[starts[active] + position]) * np.uint64(_FACTOR)
    return values
