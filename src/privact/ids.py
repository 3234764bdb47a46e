"""What a user id is in the library: the caller's own whole number or text, and text for anything else.

Integers, NumPy's and floats that are whole included, stay integers and text stays text. Other objects, such as the tuples that
networkx names the nodes of a grid by, are kept as what `str` makes of them. No two ids may have the same text, so a user
is found by either spelling: 5 and "5" are one user.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from privact.errors import InputError

__all__ = ["UserId", "find_similar_ids", "is_spelled_as_integer", "keep_id", "keep_ids", "suggest_ids"]

UserId: TypeAlias = str | int
"""An id as the library keeps it."""

_MOST_COMPARED = 20_000  # ids whose spelling is compared letter by letter: that takes a second
_MOST_SUGGESTED = 3
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")


def keep_id(value: Hashable) -> UserId:
    """An id as it is kept: a whole number, or text; refused if it is missing (None or NaN)."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, bytes):
        raise InputError(f"{value!r} is no user id: decode it to text")
    if value is None or value != value:
        raise InputError(f"{value} is no user id: fill missing ids or drop their rows")
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return int(value)
    return str(value)


def keep_ids(values: Iterable[Hashable]) -> tuple[UserId, ...]:
    """Ids as they are kept, refused where two have the same text or numbers are mixed with text that looks like a number."""
    given = tuple(values)
    kinds = set(map(type, given))
    ids: tuple[UserId, ...] = given if kinds <= {str} or kinds == {int} else tuple(map(keep_id, given))  # type: ignore[assignment]
    if {int, str} <= set(map(type, ids)):
        number = next(each for each in ids if isinstance(each, int))
        for each in ids:
            if isinstance(each, str) and is_spelled_as_integer(each):
                raise InputError(f"ids mix the number {number} with the text {each!r}: make all numbers, or all text")
    if len(set(ids)) != len(ids):
        seen: set[UserId] = set()
        twice = next(each for each in ids if each in seen or seen.add(each))  # type: ignore[func-returns-value]
        raise InputError(f"user {twice!r} is named twice (ids are compared as text): make the ids unique")
    return ids


def is_spelled_as_integer(text: str) -> bool:
    """Whether a text is what Python prints for some integer."""
    return _INTEGER.fullmatch(text) is not None


def find_similar_ids(name: str, users: Sequence[str]) -> list[str]:
    """A few ids spelled like the name: the same but for case and blanks, beginning with it, or nearly the same."""
    from difflib import get_close_matches

    wanted = name.strip().lstrip("@").casefold()
    if not wanted:
        return []
    folded = [(user.casefold().lstrip("@"), user) for user in users]
    found = [user for fold, user in folded if fold == wanted] or [user for fold, user in folded if fold.startswith(wanted)]
    if not found:
        alike = [(fold, user) for fold, user in folded if fold[:1] == wanted[:1]] if len(folded) > _MOST_COMPARED else folded
        spelled = dict(alike[:_MOST_COMPARED])
        found = [spelled[fold] for fold in get_close_matches(wanted, spelled, _MOST_SUGGESTED, 0.75)]
    return found[:_MOST_SUGGESTED]


def suggest_ids(name: str, users: Sequence[str]) -> str:
    """The end of an error about an unknown id: a question, or nothing."""
    similar = find_similar_ids(name, users)
    return f": did you mean {' or '.join(map(repr, similar))}?" if similar else ""
