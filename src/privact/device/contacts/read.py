"""Contact lists of one person: a file -> the normalised ids of the person's contacts.

Three formats are told apart by what is in the file, not by its name: an edge list of one's own contacts, Mastodon's
`following_accounts.csv`, and vCards. What is read here never leaves the device: errors name a line, not what is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from privact.errors import InputError
from privact.protocol.users import normalise_user_id

__all__ = ["FORMATS", "Contacts", "Line", "contacts_from_text", "read_contacts"]

FORMATS: Final = ("edges", "mastodon", "vcard")
"""The names of the formats that are read."""

Line = tuple[int, str]
"""A contact's id as it is spelled in a file, after the number of its line, from 1."""

_HEADINGS: Final = {
    "user", "users", "contact", "contacts", "id", "ids", "source", "target", "from", "to", "follower", "following", "followee",
    "friend", "friends", "owner", "account", "name", "handle",
}  # fmt: skip


@dataclass(frozen=True)
class Contacts:
    """Whom a person knows.

    ids: normalised ids, each once, in alphabetical order; never the person's own.
    format: "edges", "mastodon" or "vcard".
    duplicates: how many entries named someone again.
    oneself: how many entries named the person.
    without_id: how many cards had none of the property that is the id; only for vCards.
    """

    ids: tuple[str, ...]
    format: str
    duplicates: int = 0
    oneself: int = 0
    without_id: int = 0

    def in_words(self) -> str:
        """How many contacts were found and what was left out, in one sentence."""
        dropped = [
            f"{count:,} {what}"
            for count, what in (
                (self.duplicates, "named again"),
                (self.oneself, "with oneself"),
                (self.without_id, "without an id"),
            )
            if count
        ]
        contacts = "1 contact" if len(self.ids) == 1 else f"{len(self.ids):,} contacts"
        return f"{contacts} ({self.format}{''.join(f'; {what}' for what in dropped)})"


def read_contacts(path: str | Path, owner: str, *, format: str | None = None, field: str = "email") -> Contacts:
    """Read the contacts of one person from a file.

    path: an edge list, Mastodon's following_accounts.csv, or vCards.
    owner: the person's own id, who is nobody's contact here.
    format: one of FORMATS; found out from the content if absent.
    field: the property of a vCard that is the contact's id: email, tel, impp, social, or any property's name.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: this is not UTF-8 text: save the file as UTF-8") from None
    try:
        return contacts_from_text(text, owner, format=format, field=field)
    except InputError as error:
        raise InputError(f"{path}{error}" if str(error).startswith(", line") else f"{path}: {error}") from None


def contacts_from_text(text: str, owner: str, *, format: str | None = None, field: str = "email") -> Contacts:
    """As read_contacts, from the text of such a file. An error begins with ", line" where a line is to blame."""
    from privact.device.contacts import mastodon

    if format is not None and format not in FORMATS:
        raise InputError(f"format {format!r} is unknown: it must be {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    found = format or _detected(text)
    without_id = 0
    lines: Iterable[Line]
    if found == "vcard":
        from privact.device.contacts import vcard

        lines, without_id = vcard.ids(text, field)
    elif found == "mastodon":
        lines = mastodon.ids(text, owner)
    else:
        lines = _edge_list_ids(text, owner)
    return _distinct(lines, owner, found, without_id)


def _distinct(lines: Iterable[Line], owner: str, format: str, without_id: int) -> Contacts:
    """Normalised ids, each once and without the owner."""
    own, seen = normalise_user_id(owner), set()
    duplicates = oneself = 0
    for number, spelled in lines:
        try:
            contact = normalise_user_id(spelled)
        except InputError:
            raise InputError(f", line {number}: there is no id: give one contact per line") from None
        if contact == own:
            oneself += 1
        elif contact in seen:
            duplicates += 1
        else:
            seen.add(contact)
    return Contacts(tuple(sorted(seen)), format, duplicates, oneself, without_id)


def _detected(text: str) -> str:
    """The format that a text is in; whatever is neither vCard nor Mastodon's is an edge list."""
    from privact.device.contacts import mastodon

    start = text.lstrip("\ufeff \t\r\n")
    if start[:11].upper() == "BEGIN:VCARD":
        return "vcard"
    return "mastodon" if mastodon.looks_like(start) else "edges"


def _edge_list_ids(text: str, owner: str) -> Iterable[Line]:
    """The contact on each line: the only id, or the one of two beside the owner's. Empty lines and # comments are skipped."""
    own = normalise_user_id(owner)
    first = True
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        cells = [cell.strip().strip('"') for cell in _splitter(bare)(bare)]
        heading, first = first and all(cell.casefold() in _HEADINGS for cell in cells if cell), False
        if heading:
            continue
        if len(cells) == 1:
            yield number, cells[0]
            continue
        if len(cells) > 2 or not all(cells):
            raise InputError(
                f", line {number}: there are {len(cells)} columns with {sum(map(bool, cells))} ids: "
                "give one contact per line, or one's own id beside it"
            )
        sides = [_normal_or_line(cell, number) for cell in cells]
        if own not in sides:
            raise InputError(
                f", line {number}: neither id is {own!r}, who answers: give only one's own contacts, or join as the right user"
            )
        yield number, cells[1] if sides[0] == own else cells[0]


def _normal_or_line(cell: str, number: int) -> str:
    try:
        return normalise_user_id(cell)
    except InputError:
        raise InputError(f", line {number}: there is no id: give one contact per line") from None


def _splitter(line: str) -> Callable[[str], list[str]]:
    """How the columns of a line are told apart: tab, comma, semicolon, or blanks."""
    for separator in "\t,;":
        if separator in line:
            return lambda text: text.split(separator)
    return str.split
