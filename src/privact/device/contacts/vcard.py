"""vCard files -> one id per card.

A card is a contact, and a contact has one id: of several e-mail addresses the preferred one counts, else the first. Were each
counted, one edge would change several counts and cost several times its epsilon. Versions 2.1, 3.0 and 4.0, any number of cards.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from privact.device.contacts.read import Line
from privact.errors import InputError, MissingExtraError

__all__ = ["ids"]

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


def ids(text: str, field: str = "email") -> tuple[list[Line], int]:
    """The id of each card, after the line where the card begins, and how many cards have none.

    text: the whole file.
    field: the property that is the id: email, tel, impp (addresses of messengers), social (a Mastodon or other profile), or
        any property's name, such as nickname.
    """
    wanted = field.strip().casefold()
    if not _NAME.fullmatch(wanted):
        raise InputError(f"field {field!r} is not the name of a vCard property: give email, tel, impp, social or another name")
    found: list[Line] = []
    without_id = 0
    for number, card in _cards(text):
        spelled = _id_of(card, wanted)
        if spelled:
            found.append((number, spelled))
        else:
            without_id += 1
    if without_id and not found:
        raise InputError(f"none of the {without_id:,} cards has {wanted!r}: name another property with --field")
    return found, without_id


def _cards(text: str) -> Iterator[tuple[int, Any]]:
    """Each card as vobject reads it, after the line where it begins."""
    try:
        vobject: Any = import_module("vobject")  # it has no types
    except ImportError:
        raise MissingExtraError("vobject", "device", "reading vCards") from None
    logging.getLogger("vobject").setLevel(logging.CRITICAL)  # it would log what it cannot read: contacts
    starts = [match.start() for match in _BEGIN.finditer(text)]
    if not starts or text[: starts[0]].strip("\ufeff \t\r\n"):
        raise InputError(", line 1: a vCard file begins with BEGIN:VCARD: name the right --format")
    for begin, end in zip(starts, [*starts[1:], len(text)], strict=True):
        number = text.count("\n", 0, begin) + 1
        lines = text[begin:end].strip()
        if not _END.search(lines):
            raise InputError(f", line {number}: the vCard that begins here has no END:VCARD: the file is cut off or damaged")
        try:
            cards = list(vobject.readComponents(lines + "\r\n", validate=False, transform=False, allowQP=True))
        except vobject.base.ParseError as error:
            line = number + (error.lineNumber or 1) - 1
            raise InputError(f", line {line}: this is not a line of a vCard: export the contacts again") from None
        except (ValueError, LookupError, AttributeError, TypeError):  # bytes or a charset that nobody knows
            cards = []
        if len(cards) != 1:
            raise InputError(f", line {number}: the vCard that begins here cannot be read: export the contacts again")
        yield number, cards[0]


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
