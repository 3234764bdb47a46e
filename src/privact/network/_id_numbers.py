"""Ids numbered in the order in which they first come, for very many of them: packed bytes and a table of 4 bytes a place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["IdNumbers", "PackedIds"]

_FIRST_IDS = 1 << 16
_DECODED = 1 << 16  # ids that are text at a time when all are visited
_SEPARATOR = 0xFF  # a byte that no UTF-8 text contains


class PackedIds(Sequence[str]):
    """Very many ids in little memory.

    packed: all ids as UTF-8, each followed by the byte 0xFF, with one such byte in front: what a tree file holds.
    """

    def __init__(self, packed: bytes, starts: NDArray[np.int64]) -> None:
        self.packed = packed
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        return self.packed[self._starts[place] : self._starts[place + 1] - 1].decode()

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _DECODED):
            last = min(first + _DECODED, len(self))
            block = self.packed[self._starts[first] : self._starts[last] - 1]
            yield from block.decode("utf-8", "surrogateescape").split("\udcff")


class IdNumbers:
    """All ids so far, packed, and which number each has."""

    def __init__(self) -> None:
        self._count = 0
        self._packed = np.empty(32 * _FIRST_IDS, np.uint8)
        self._packed[0] = _SEPARATOR
        self._starts = np.ones(_FIRST_IDS, np.int64)  # where each id begins; the last entry is where the next one will
        self._table = np.full(2 * _FIRST_IDS, -1, np.int32)

    def __len__(self) -> int:
        return self._count

    def number(self, ids: Any) -> NDArray[np.int32]:
        """The numbers of some ids, new ones after all others. ids: an Arrow array of text, each once."""
        _, starts, text = ids.buffers()
        begins = np.frombuffer(starts, np.int32)[ids.offset : ids.offset + len(ids) + 1]
        characters = np.empty(0, np.uint8) if text is None else np.frombuffer(text, np.uint8)
        self._make_room(len(ids), int(begins[-1] - begins[0]))
        numbers = np.empty(len(ids), np.int32)
        self._count = _number_ids(begins, characters, self._count, self._starts, self._packed, self._table, numbers)
        return numbers

    def pack(self) -> PackedIds:
        """The ids in order; nothing can be added afterwards."""
        starts = self._starts[: self._count + 1].copy()
        packed = self._packed[: starts[-1]].tobytes()
        del self._packed, self._starts, self._table
        return PackedIds(packed, starts)

    def _make_room(self, more: int, more_bytes: int) -> None:
        """Let so many ids of so many bytes fit; half of the table stays empty."""
        ids, size = self._count + more + 1, int(self._starts[self._count]) + more_bytes + more
        if ids > len(self._starts):
            self._starts = _enlarge(self._starts, ids)
        if size > len(self._packed):
            self._packed = _enlarge(self._packed, size)
        if 2 * ids > len(self._table):
            places = len(self._table)
            while places < 2 * ids:
                places *= 2
            del self._table
            self._table = np.full(places, -1, np.int32)
            _fill_table(self._starts, self._packed, self._count, self._table)


def _enlarge(array: NDArray[Any], least: int) -> NDArray[Any]:
    """The same entries in an array of at least that length, and a half more than now."""
    larger = np.empty(max(least, len(array) * 3 // 2), array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True, nogil=True)
def _hash(text, begin, end):  # type: ignore[no-untyped-def]
    """The 64-bit hash of Fowler, Noll and Vo, its upper half folded into the lower."""
    value = np.uint64(0xCBF29CE484222325)
    for i in range(begin, end):
        value = (value ^ np.uint64(text[i])) * np.uint64(0x100000001B3)
    return np.int64((value ^ (value >> np.uint64(32))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@njit(cache=True, nogil=True)
def _number_ids(begins, characters, count, starts, packed, table, out):  # type: ignore[no-untyped-def]
    """Look up or add ids. begins: where each begins in `characters`. count: ids so far. Returns how many there are now."""
    mask = table.shape[0] - 1
    for i in range(out.shape[0]):
        begin, end = begins[i], begins[i + 1]
        length = end - begin
        place = _hash(characters, begin, end) & mask
        while True:
            known = table[place]
            if known < 0:
                at = starts[count]
                for j in range(length):
                    packed[at + j] = characters[begin + j]
                packed[at + length] = _SEPARATOR
                starts[count + 1] = at + length + 1
                table[place] = known = count
                count += 1
                break
            at = starts[known]
            same = starts[known + 1] - at - 1 == length
            j = 0
            while same and j < length:
                same = packed[at + j] == characters[begin + j]
                j += 1
            if same:
                break
            place = (place + 1) & mask
        out[i] = known
    return count


@njit(cache=True, nogil=True)
def _fill_table(starts, packed, count, table):  # type: ignore[no-untyped-def]
    """Put all ids into an empty table."""
    mask = table.shape[0] - 1
    for number in range(count):
        place = _hash(packed, starts[number], starts[number + 1] - 1) & mask
        while table[place] >= 0:
            place = (place + 1) & mask
        table[place] = number
