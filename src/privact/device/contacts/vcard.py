"""vCard files -> one id per card.

A card is a contact, and a contact has one id: of several e-mail addresses the preferred one counts, else the first. Were each
counted, one edge would change several counts and cost several times its epsilon. Versions 2.1, 3.0 and 4.0, any number of cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote, urlsplit

from privact.device.contacts.content_lines import BLANKS, read_properties, split_lines
from privact.device.contacts.source import Asked, Source, Unread
from privact.errors import InputError

__all__ = ["SOURCE"]

_PROPERTIES: Final = {
    "email": ("email",),
    "tel": ("tel",),
    "impp": ("impp",),
    "social": ("x-mastodon", "socialprofile", "x-socialprofile", "x-activitypub", "impp"),
}
_NAME: Final = re.compile(r"[a-z0-9-]+")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE | re.ASCII)
_BEGIN: Final = re.compile(r"(?:[a-z0-9_-]+\.)?BEGIN:VCARD", re.IGNORECASE | re.ASCII)
_END: Final = re.compile(r"(?:[a-z0-9_-]+\.)?END:VCARD", re.IGNORECASE | re.ASCII)


def _read(text: str, asked: Asked) -> Iterator[str | Unread]:
    """The id of each card, or why it has none."""
    wanted = asked.field.strip().casefold()
    if not _NAME.fullmatch(wanted):
        raise InputError(
            f"field {asked.field!r} is not the name of a vCard property: give email, tel, impp, social or another name"
        )
    for number, card in enumerate(_split_cards(text), 1):
        whole = bool(card) and _END.fullmatch(card[-1].strip(BLANKS)) is not None
        found = _find_id(card[:-1], wanted) if whole else ""
        missing = f"there is no {wanted}" if whole else "the card cannot be read"
        yield found or Unread(f"card {number}", missing)


def _split_cards(text: str) -> Iterator[list[str]]:
    """The lines of each card after its first, without empty ones at the end."""
    cards: list[list[str]] = []
    for line in split_lines(text.lstrip("\ufeff")):
        if _BEGIN.fullmatch(line.strip(BLANKS)):
            cards.append([])
        elif cards:
            cards[-1].append(line)
        elif line.strip(BLANKS):
            raise InputError("a vCard file begins with BEGIN:VCARD: name the right --format")
    for card in cards:
        while card and not card[-1].strip(BLANKS):
            card.pop()
        yield card


def _find_id(lines: list[str], wanted: str) -> str:
    """The one id of a card, or nothing."""
    names = _PROPERTIES.get(wanted, (wanted,))
    found = sorted(read_properties(lines, names), key=lambda each: (names.index(each.name), each.rank))
    for each in found:
        try:
            spelled = _plain(each.value, "tel" if each.name == "tel" else wanted)
        except ValueError:  # an address of a page that is none
            continue
        if spelled:
            return spelled
    return ""


def _plain(value: str, wanted: str) -> str:
    """An id as people write it: without the scheme of its address, a profile's page as user@host, a number without its dashes."""
    value = re.sub(r"\\([,;:])", r"\1", value.strip(BLANKS))
    if wanted == "tel":
        number = re.sub(r"(?i)^tel:", "", value).split(";")[0]
        return re.sub(r"[\s().\-/\u00a0\u2010-\u2015]", "", number)
    if value.casefold().startswith(("http://", "https://")) and wanted in ("social", *_PROPERTIES["social"]):
        page = urlsplit(value)
        user = unquote(page.path).strip("/").removeprefix("users/").split("/")[0].lstrip("@")
        return f"{user}@{page.hostname}" if user and page.hostname and "@" not in user else user
    if wanted in (*_PROPERTIES, *_PROPERTIES["social"]) and _SCHEME.match(value):
        return unquote(_SCHEME.sub("", value, count=1)).split("?")[0].lstrip("/")
    return value


SOURCE: Final = Source("vcard", "an address book", lambda text: text[:11].upper() == "BEGIN:VCARD", _read)
"""vCards of versions 2.1, 3.0 and 4.0."""
