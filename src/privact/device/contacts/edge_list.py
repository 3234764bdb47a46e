"""Edge lists of one's own contacts: one id per line, or one's own id beside it -> the other one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from privact.device.contacts.source import Asked, Source
from privact.errors import InputError
from privact.protocol.users import normalise_user_id

__all__ = ["SOURCE"]

_HEADINGS: Final = {
    "user", "users", "contact", "contacts", "id", "ids", "source", "target", "from", "to", "follower", "following", "followee",
    "friend", "friends", "owner", "account", "name", "handle",
}  # fmt: skip


def _read(text: str, asked: Asked) -> Iterator[str | None]:
    """The contact on each line; empty lines, # comments and a heading are skipped."""
    first = True
    for line in text.splitlines():
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        cells = [cell.strip().strip('"') for cell in _split(bare)]
        heading, first = first and all(cell.casefold() in _HEADINGS for cell in cells if cell), False
        if not heading:
            yield cells[0] if len(cells) == 1 else _other(cells, asked.owner)


def _other(cells: list[str], owner: str) -> str | None:
    """The id beside the owner's; None for a line of other people, or with more or fewer than two ids."""
    try:
        sides = [normalise_user_id(cell) for cell in cells]
    except InputError:
        return None
    if len(sides) != 2 or owner not in sides:
        return None
    return cells[1] if sides[0] == owner else cells[0]


def _split(line: str) -> list[str]:
    """The columns of a line, which tabs, commas, semicolons or blanks separate."""
    for separator in "\t,;":
        if separator in line:
            return line.split(separator)
    return line.split()


SOURCE: Final = Source("edges", lambda text: True, _read)
"""One contact per line."""
