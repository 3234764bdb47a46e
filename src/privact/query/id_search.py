"""Searching very many ids for a text: ids in blocks, and which short sequences of bytes occur in each block.

A plain search of a million ids reads 30 MB, in 20 to 40 ms. Here only blocks that hold all sequences of the wanted text are
read. A block holds whole ids, so that no match crosses its end. Sequences are hashed into rows of a bit matrix: a row says in
which blocks the sequence may occur.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from privact.tree.user_ids import SEPARATOR, UserIds

__all__ = ["IdSearch", "find_ids"]

_BLOCK: Final = 4096  # bytes of ids in a block, about
_ROWS: Final = 1 << 13  # rows of the bit matrix
_LENGTHS: Final = (2, 3, 4)  # of the sequences
_SMALL: Final = 1 << 21  # bytes; fewer are searched as they are
_BLOCKS_AT_ONCE: Final = 256  # while the matrix is made: 2 MB of marks

_searches: WeakKeyDictionary[UserIds, IdSearch] = WeakKeyDictionary()


def find_ids(users: UserIds, text: bytes, *, at_start: bool = False) -> Iterator[str]:
    """The ids that contain a text, or begin with it, in their order; letters of ASCII match in any case.

    users: the ids of a tree; what is prepared for their search is kept for as long as they are.
    """
    search = _searches.get(users)
    if search is None:
        search = _searches[users] = IdSearch(users.packed)
    return search.find(text, at_start=at_start)


class IdSearch:
    """Packed ids, ready to be searched.

    packed: all ids, each followed by a separator, with one in front.
    """

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._folded = packed.lower()
        self._begins = np.array([0], np.int64)
        self._matrix: NDArray[np.uint8] | None = None
        if len(packed) > _SMALL:
            separators = np.flatnonzero(np.frombuffer(packed, np.uint8) == SEPARATOR[0])
            wanted = np.arange(0, len(packed) - 1, _BLOCK)
            self._begins = np.unique(separators[np.searchsorted(separators, wanted)])
            self._begins = self._begins[self._begins < len(packed) - 1]
            self._matrix = _mark_blocks(self._folded, self._begins)

    def find(self, text: bytes, *, at_start: bool = False) -> Iterator[str]:
        """The ids that contain a text, or begin with it, in their order."""
        wanted = (SEPARATOR if at_start else b"") + text.lower()
        end = 0  # of the id that was found last
        for begin, stop in self._candidates(wanted):
            place = self._folded.find(wanted, max(begin, end), stop)
            while place >= 0:
                first = self._packed.rfind(SEPARATOR, 0, place + 1) + 1
                end = self._packed.find(SEPARATOR, place + 1)
                yield self._packed[first:end].decode()
                place = self._folded.find(wanted, end, stop)

    def _candidates(self, wanted: bytes) -> Iterator[tuple[int, int]]:
        """Where the text may be: stretches of neighbouring blocks that hold all its sequences."""
        last = len(self._folded)
        if self._matrix is None or len(wanted) < _LENGTHS[0]:
            yield 0, last
            return
        length = min(len(wanted), _LENGTHS[-1])
        letters = np.frombuffer(wanted, np.uint8).astype(np.uint32)
        held = np.bitwise_and.reduce(self._matrix[np.unique(_hash(letters, length))], axis=0)
        blocks = np.flatnonzero(np.unpackbits(held, count=len(self._begins)))
        if not len(blocks):
            return
        breaks = np.flatnonzero(np.diff(blocks) > 1)
        stretches = zip(blocks[np.append(0, breaks + 1)], blocks[np.append(breaks, len(blocks) - 1)], strict=True)
        for first, final in stretches:
            stop = int(self._begins[final + 1]) + 1 if final + 1 < len(self._begins) else last
            yield int(self._begins[first]), stop


def _mark_blocks(folded: bytes, begins: NDArray[np.int64]) -> NDArray[np.uint8]:
    """(_ROWS, blocks / 8) a bit for every row and block: whether a sequence of this row occurs in the block."""
    letters = np.frombuffer(folded, np.uint8)
    matrix = np.zeros((_ROWS, -(-len(begins) // 8)), np.uint8)
    ends = np.append(begins[1:] + 1, len(letters))  # with the separator behind the last id
    for first in range(0, len(begins), _BLOCKS_AT_ONCE):
        some = slice(first, first + _BLOCKS_AT_ONCE)
        start, stop = int(begins[some][0]), int(ends[some][-1])
        part = letters[start:stop].astype(np.uint32)
        block = np.searchsorted(begins[some], np.arange(start, stop), side="right") - 1
        marks = np.zeros((_ROWS, len(begins[some])), bool)
        for length in _LENGTHS:
            hashes = _hash(part, length)
            marks[hashes, block[: len(hashes)]] = True
        packed = np.packbits(marks, axis=1)
        matrix[:, first // 8 : first // 8 + packed.shape[1]] = packed
    return matrix


def _hash(letters: NDArray[np.uint32], length: int) -> NDArray[np.uint32]:
    """The matrix row of every sequence of `length` letters, by where it begins."""
    n = len(letters) - length + 1
    mixed = np.full(max(n, 0), length, np.uint32)
    for place in range(length):
        mixed = (mixed ^ letters[place : place + max(n, 0)]) * np.uint32(0x01000193)
    return (mixed ^ (mixed >> np.uint32(15))) % np.uint32(_ROWS)
