"""Plain lists of one's own contacts: one id per line, or one's own id beside it -> the other one.

A line that is no contact is skipped with the reason: a name, a phone number where ids are addresses, people whom it does not
connect with the owner. Where the owner's id is an address such as ada@vinyl.example, so are all others; the link of a
Mastodon profile, https://vinyl.example/@bob, is the address bob@vinyl.example.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from privact.device.contacts.source import Asked, Source, Unread
from privact.errors import InputError
from privact.protocol.users import normalise_user_id

__all__ = ["SOURCE"]

_HEADINGS: Final = {
    "user", "users", "contact", "contacts", "id", "ids", "source", "target", "from", "to", "follower", "following", "followee",
    "friend", "friends", "owner", "account", "name", "handle",
}  # fmt: skip
_NUMBER: Final = re.compile(r"[(]?[+0][0-9 \u00a0\t().\-/\u2010-\u2015]{6,}")
_IN_NUMBERS: Final = re.compile(r"[ \u00a0\t().\-/\u2010-\u2015]")
_NAMED: Final = re.compile(r"[^<>@]*<([^<>@ \t]+@[^<>@ \t]+)>")  # Bob <bob@a.example>, as mail programs write it
_PROFILE: Final = re.compile(r"[Hh][Tt][Tt][Pp][Ss]?://([^/@?#:<> \t]+)/@([^/@?#:<> \t]+)/?")  # as Mastodon shows it
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LONGEST_SHOWN: Final = 40


def _read(text: str, asked: Asked) -> Iterator[str | Unread]:
    """The contact on each line; empty lines, # comments and a heading are skipped."""
    first = True
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        cells = [cell.strip().strip('"') for cell in _split(bare)]
        heading, first = first and all(cell.casefold() in _HEADINGS for cell in cells if cell), False
        if heading:
            continue
        found = _contact(bare, cells, asked.owner)
        yield Unread(f"line {number}", found.reason) if isinstance(found, Unread) else found


def _contact(line: str, cells: list[str], owner: str) -> str | Unread:
    """The one contact that a line names, or why it names none."""
    if _NUMBER.fullmatch(line):
        return _fitting(re.sub(r"^00", "+", _IN_NUMBERS.sub("", line)), owner)
    if len(cells) == 1:
        return _fitting(cells[0], owner)
    if _NAMED.fullmatch(line):
        return _fitting(line, owner)
    try:
        sides = [normalise_user_id(cell) for cell in cells]
    except InputError:
        return Unread("", f"{_shorten(line)} has an empty column: give one id, or yours and another")
    if owner in sides and len(sides) == 2:
        return _fitting(cells[1] if sides[0] == owner else cells[0], owner)
    if "@" not in line and not re.search("[\t,;]", line):
        return Unread("", f"{_shorten(line)} is a name, not an id")
    return Unread("", f"{_shorten(line)} does not have your id and one other: give one id a line")


def _fitting(spelled: str, owner: str) -> str | Unread:
    """An id, if it is one where the owner's is one."""
    if named := _NAMED.fullmatch(spelled):
        spelled = named[1]
    if "@" in owner and (profile := _PROFILE.fullmatch(spelled)):
        spelled = f"{profile[2]}@{profile[1]}"
    try:
        normal = normalise_user_id(spelled)
    except InputError:
        return Unread("", "there is no id")
    if "\ufffd" in normal or _CONTROL.search(normal):
        return Unread("", f"{_shorten(spelled)} is not UTF-8 text")
    if "@" in owner and ("://" in normal or not re.fullmatch("[^@<> \t]+@[^@<> \t]+", normal)):
        what = "a link" if "://" in normal else "a phone number" if _NUMBER.fullmatch(spelled) else "not an id"
        return Unread("", f"{_shorten(spelled)} is {what}: ids look like {owner} here")
    return spelled


def _shorten(text: str) -> str:
    return f"'{text if len(text) <= _LONGEST_SHOWN else f'{text[:_LONGEST_SHOWN]}...'}'"


def _split(line: str) -> list[str]:
    """The columns of a line, which tabs, commas, semicolons or blanks separate."""
    for separator in "\t,;":
        if separator in line:
            return line.split(separator)
    return line.split()


SOURCE: Final = Source("edges", "a plain list", lambda text: True, _read)
"""One contact per line."""
