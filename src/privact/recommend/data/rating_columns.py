"""How a text file of ratings is laid out: its separator, whether it begins with a header, and which columns count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from privact.errors import InputError

__all__ = ["RatingLayout", "choose_columns", "detect_rating_layout"]

_SEPARATORS = ("\t", "::", ",", ";", " ")
_USERS = ("user", "u", "uid", "member", "account", "customer", "reviewer", "person", "listener", "reader", "viewer")
_ITEMS = (
    "item", "i", "iid", "movie", "film", "artist", "track", "song", "album", "book", "isbn", "product", "asin", "business",
    "page", "url", "bookmark", "game", "anime", "show", "video", "article", "venue", "place",
)  # fmt: skip
_RATINGS = ("rating", "score", "stars", "plays", "playcount", "count", "listens", "weight", "value", "overall", "preference")
_LINES = 200  # looked at to tell a header


class RatingLayout(NamedTuple):
    """How to cut a file of ratings into fields.

    separator: what stands between fields. names: of the columns, from the header or made up. header: whether there is one.
    """

    separator: str
    names: list[str]
    header: bool


def detect_rating_layout(text: str, name: str, header: bool | None = None) -> RatingLayout:
    """How a file is laid out, by its first lines.

    The first line is a header if it has a name for users and one for items, or if its third field, or else all its fields, are no
    numbers while those of the next line are. Where nothing tells (two columns of text), it is taken for a rating only if its
    user or its item occurs again; otherwise the caller is asked.

    text: the first lines. name: of the file, for errors. header: whether the first line is a header; None looks.
    """
    lines = [line for line in text.splitlines() if line.strip()][:_LINES]
    separator = next((mark for mark in _SEPARATORS if mark in lines[0].strip()), None) if lines else None
    if separator is None:
        shown = lines[0][:40] if lines else ""
        raise InputError(
            f"{name}: the first line {shown!r} has one column: separate user, item and rating by tabs, commas, :: or blanks"
        )
    rows = [[field.strip().strip('"') for field in line.strip().split(None if separator == " " else separator)] for line in lines]
    first = rows[0]
    if header is None:
        header = _is_header(first, rows[1:], name)
    return RatingLayout(separator, first if header else [str(place) for place in range(len(first))], header)


def choose_columns(names: Sequence[str], name: str, named: bool) -> tuple[int, int, int | None]:
    """Which columns are user, item and rating (None: every line counts 1): by name, otherwise the first two or three.

    named: whether the names come from the file. name: of the file, for errors.
    """
    if len(names) < 2:
        raise InputError(f"{name}: {len(names)} column: a rating needs a user and an item")
    user, item, rating = (_find(names, known) if named else None for known in (_USERS, _ITEMS, _RATINGS))
    if user is None and item is None:
        return 0, 1, rating if rating is not None and rating > 1 else (2 if len(names) > 2 else None)
    if user is None or item is None:
        others = [place for place in range(len(names)) if place not in (user, item, rating)]
        found = next(iter(others), None)
        if found is None:
            raise InputError(f"{name}: the columns {', '.join(names)} do not tell users from items: call them user and item")
        user, item = (found, item) if user is None else (user, found)
    if rating is None and len(names) == 3:
        rating = next(place for place in range(3) if place not in (user, item))
    assert user is not None
    assert item is not None
    return user, item, rating


def _is_header(first: list[str], others: list[list[str]], name: str) -> bool:
    if _find(first, _USERS) is not None and _find(first, _ITEMS) is not None:
        return True
    if any(map(_is_number, first[2:3])):
        return False
    again = any(row[0] == first[0] or row[1:2] == first[1:2] for row in others)
    if len(first) > 2:
        if again and any(_is_number(row[2]) for row in others if len(row) > 2):
            raise InputError(
                f"{name}: the first line, {' '.join(first)!r}, is no header, and {first[2]!r} is no rating: give a number"
            )
        return True
    if any(map(_is_number, first)) or not others:
        return False
    if all(map(_is_number, others[0])):
        return True
    if not again and len(others) > 1:
        raise InputError(
            f"{name}: the first line, {' '.join(first)!r}, may be a header or a rating: call its columns user and item if it "
            "is a header, or put a line 'user item' above it if not"
        )
    return False


def _find(names: Sequence[str], known: tuple[str, ...]) -> int | None:
    """The place of the first column with a known name, whatever its case, its punctuation and an "id" behind it."""
    for place, name in enumerate(names):
        plain = re.sub(r"[^a-z]", "", name.lower())
        if plain in known or plain.removesuffix("id") in known or plain.removesuffix("name") in known:
            return place
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
