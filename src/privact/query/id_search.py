"""Searching very many ids for a text.

A million ids are 30 MB. Python's search of bytes takes 20 to 40 ms for a text that is not there. Here three bytes of the text
that seldom match together are found on a sample, and a compiled loop tests whole blocks of ids for them: 2 to 5 ms.
"""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from privact.tree.user_ids import SEPARATOR, UserIds

__all__ = ["IdSearch", "find_ids"]

_SMALL: Final = 1 << 21  # bytes; fewer are searched as they are
_CHUNK: Final = 1 << 12  # bytes of a chunk of the sample, on which the bytes to test are chosen
_CHUNKS: Final = 8
_LETTERS: Final = 16  # of the text, among which they are chosen

_searches: WeakKeyDictionary[UserIds, IdSearch] = WeakKeyDictionary()


def find_ids(users: UserIds, text: bytes, limit: int, *, at_start: bool = False) -> list[str]:
    """The first ids that contain a text, or begin with it, in their order; letters of ASCII match in any case.

    users: the ids of a tree; what is prepared for their search is kept for as long as they are.
    limit: how many to find at most.
    """
    search = _searches.get(users)
    if search is None:
        search = _searches[users] = IdSearch(users.packed)
    return search.find(text, limit, at_start=at_start)


class IdSearch:
    """Packed ids, ready to be searched.

    packed: all ids, each followed by a separator, with one in front.
    """

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._folded = packed.lower()
        self._letters = np.frombuffer(self._folded, np.uint8)
        self._some_at = SEPARATOR + b"@" in packed  # whether an id begins with @, for which pages ask each time
        begins = np.linspace(0, max(len(packed) - _CHUNK, 0), _CHUNKS).astype(np.int64)
        self._sample = np.concatenate([self._letters[begin : begin + _CHUNK] for begin in begins])

    def find(self, text: bytes, limit: int, *, at_start: bool = False) -> list[str]:
        """The first `limit` ids that contain a text, or begin with it, in their order."""
        wanted = (SEPARATOR if at_start else b"") + text.lower()
        if at_start and text[:1] == b"@" and not self._some_at:
            return []
        found: list[str] = []
        begin = 0  # behind the id that was found last
        while len(found) < limit:
            most = limit - len(found)
            places = self._find_places(wanted, begin, most)
            for place in places:
                if place >= begin:  # else it is another match within the same id
                    first = self._packed.rfind(SEPARATOR, 0, place + 1) + 1
                    begin = self._packed.find(SEPARATOR, place + 1)
                    found.append(self._packed[first:begin].decode())
            if len(places) < most:
                break
        return found

    def _find_places(self, wanted: bytes, begin: int, most: int) -> list[int]:
        """Where a sequence of bytes occurs from `begin` on, the first `most` places."""
        if len(self._folded) - begin <= _SMALL:
            places: list[int] = []
            place = self._folded.find(wanted, begin)
            while place >= 0 and len(places) < most:
                places.append(place)
                place = self._folded.find(wanted, place + 1)
            return places
        from privact.query._id_search import find_places

        letters = np.frombuffer(wanted, np.uint8)
        filled = np.empty(most, np.int64)
        n = find_places(self._letters[begin:], letters, _choose_tested(letters, self._sample), filled)
        return [begin + place for place in filled[:n].tolist()]


def _choose_tested(wanted: NDArray[np.uint8], sample: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Three positions in a sequence of bytes (the same one again if it is shorter) that seldom match together in a sample."""
    n = len(sample) - min(len(wanted), _LETTERS) + 1
    matches = np.stack([sample[place : place + n] == wanted[place] for place in range(min(len(wanted), _LETTERS))])
    together = np.ones(n, bool)
    tested = []
    for _ in range(3):
        tested.append(int(np.count_nonzero(matches & together, axis=1).argmin()))
        together &= matches[tested[-1]]
    return np.array(tested, np.int64)
