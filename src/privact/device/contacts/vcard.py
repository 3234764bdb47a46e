"""vCard files -> one id per card.

A card is a contact, and a contact has one id: of several e-mail addresses the preferred one counts, else the first. Were each
counted, one edge would change several counts and cost several times its epsilon. Versions 2.1, 3.0 and 4.0, any number of cards.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from privact.device.contacts.source import Asked, Source, Unread
from privact.errors import InputError, MissingExtraError

__all__ = ["SOURCE"]

_PROPERTIES: Final = {
    "email": ("email",),
    "tel": ("tel",),
    "impp": ("impp",),
    "social": ("x-mastodon", "socialprofile", "x-socialprofile", "x-activitypub", "impp"),
}
_NAME: Final = re.compile(r"[a-z0-9-]+")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_BEGIN: Final = re.compile(r"^[^\S\n]*(?:[\w-]+\.)?BEGIN:VCARD\s*$", re.IGNORECASE | re.MULTILINE)

_END: Final = re.compile(r"^(?:[\w-]+\.)?END:VCARD\Z", re.IGNORECASE | re.MULTILINE)


def _read(text: str, asked: Asked) -> Iterator[str | Unread]:
    """The id of each card, or why it has none."""
    wanted = asked.field.strip().casefold()
    if not _NAME.fullmatch(wanted):
        raise InputError(
            f"field {asked.field!r} is not the name of a vCard property: give email, tel, impp, social or another name"
        )
    for number, card in enumerate(_cards(text), 1):
        try:
            found = "" if card is None else _id_of(card, wanted)
        except ValueError:  # an address that is none
            found = ""
        missing = "the card cannot be read" if card is None else f"there is no {wanted}"
        yield found or Unread(f"card {number}", missing)


def _cards(text: str) -> Iterator[Any]:
    """Each card as vobject reads it, or None where it cannot."""
    try:
        vobject: Any = import_module("vobject")  # it has no types
    except ImportError:
        raise MissingExtraError("vobject", "device", "reading vCards") from None
    logging.getLogger("vobject").setLevel(logging.CRITICAL)  # it would log what it cannot read: contacts
    starts = [match.start() for match in _BEGIN.finditer(text)]
    if text[: starts[0] if starts else None].strip("\ufeff \t\r\n"):
        raise InputError("a vCard file begins with BEGIN:VCARD: name the right --format")
    for begin, end in pairwise([*starts, len(text)]):
        lines = text[begin:end].strip()
        try:
            cards = list(vobject.readComponents(lines + "\r\n", validate=False, transform=False, allowQP=True))
        except Exception:  # whatever a card makes vobject do, the others are read: an odd line, an unknown charset, ...
            cards = []
        yield cards[0] if len(cards) == 1 and _END.search(lines) else None


def _id_of(card: Any, wanted: str) -> str:
    """The one id of a card, or nothing."""
    for name in _PROPERTIES.get(wanted, (wanted,)):
        lines = sorted(card.contents.get(name, ()), key=_preference)
        for line in lines:
            spelled = _plain(line.value if isinstance(line.value, str) else "", "tel" if name == "tel" else wanted)
            if spelled:
                return spelled
    return ""


def _preference(line: Any) -> int:
    """The rank of a value among its card's: PREF=1 to 100 as version 4.0 writes it, TYPE=pref as the older ones do."""
    ranks = [rank for rank in line.params.get("PREF", ()) if rank.isascii() and rank.isdigit()]
    if ranks:
        return int(ranks[0])
    kinds = [kind.casefold() for kind in line.params.get("TYPE", ())] + [name.casefold() for name in line.singletonparams]
    return 0 if "pref" in kinds or "PREF" in line.params else 101


def _plain(value: str, wanted: str) -> str:
    """An id as people write it: without the scheme of its address, a profile's page as user@host, a number without its dashes."""
    value = value.strip().replace("\\,", ",").replace("\\;", ";").replace("\\:", ":")
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


SOURCE: Final = Source("vcard", lambda text: text[:11].upper() == "BEGIN:VCARD", _read)
"""vCards of versions 2.1, 3.0 and 4.0."""
