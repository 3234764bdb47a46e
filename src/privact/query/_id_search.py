"""Compiled search of id_search.py: whole blocks are tested for three bytes of the text at once, which vectorises."""

from __future__ import annotations

from numba import njit

_BLOCK = 256  # bytes tested at once


@njit(cache=True, nogil=True)
def find_places(text, wanted, tested, places):  # type: ignore[no-untyped-def]
    """Fill `places` with where a sequence of bytes begins in a text, first ones first; returns how many were found.

    text, wanted: bytes. tested: three positions in `wanted` that seldom match together.
    """
    length = wanted.shape[0]
    last = text.shape[0] - length + 1
    a, b, c = wanted[tested[0]], wanted[tested[1]], wanted[tested[2]]
    found = 0
    for begin in range(0, last, _BLOCK):
        end = min(begin + _BLOCK, last)
        at_a = text[begin + tested[0] : end + tested[0]]
        at_b = text[begin + tested[1] : end + tested[1]]
        at_c = text[begin + tested[2] : end + tested[2]]
        seen = False  # every operand a bool: wider numbers would keep the loop from being vectorised
        for i in range(at_a.shape[0]):
            seen = seen | ((at_a[i] == a) & (at_b[i] == b) & (at_c[i] == c))
        if not seen:
            continue
        for i in range(at_a.shape[0]):
            if at_a[i] == a and at_b[i] == b and at_c[i] == c:
                same = 0
                while same < length and text[begin + i + same] == wanted[same]:
                    same += 1
                if same == length:
                    places[found] = begin + i
                    found += 1
                    if found == places.shape[0]:
                        return found
    return found
