"""Where an id stands among very many packed ones: their hashes in order, 12 bytes an id, made whole arrays at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_START = 0xCBF29CE484222325  # the 64-bit hash of Fowler, Noll and Vo
_FACTOR = 0x100000001B3
_BITS = 0xFFFFFFFFFFFFFFFF


class IdIndex:
    """An index of packed ids.

    packed: all ids, each followed by a separator, with one in front. offsets: where separators are.
    """

    def __init__(self, packed: bytes, offsets: NDArray[np.int64]) -> None:
        self._packed = packed
        self._offsets = offsets
        hashes = hashes_of(packed, offsets)
        self._leaves: NDArray[np.int32] = np.argsort(hashes, kind="stable").astype(np.int32)
        self._hashes = hashes[self._leaves]

    def find(self, key: bytes) -> int:
        """The place of an id, the first of equal ones; -1 if it is not there."""
        wanted = np.uint64(hash_of(key))
        place = int(np.searchsorted(self._hashes, wanted))
        while place < len(self._hashes) and self._hashes[place] == wanted:
            leaf = int(self._leaves[place])
            if self._packed[self._offsets[leaf] + 1 : self._offsets[leaf + 1]] == key:
                return leaf
            place += 1
        return -1


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
