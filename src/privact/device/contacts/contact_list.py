"""Contact lists of one person: a file -> the normalised ids of the person's contacts.

Formats are told apart by what is in the file, not by its name. Entries without an id that can be read are skipped and counted:
whether a device answers must not depend on one contact. What is read here never leaves the device: errors name a file, not what
is in it.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from privact.device.contacts.contact_formats import SOURCES
from privact.device.contacts.source import Asked, Unread
from privact.errors import InputError
from privact.protocol.users import LONGEST_USER_ID, normalise_user_id

__all__ = ["Contacts", "check_contacts_file", "contacts_from_text", "read_contacts"]

_REPLACED = "\ufffd"  # what bytes that are no text become


@dataclass(frozen=True)
class Contacts:
    """Whom a person knows.

    ids: normalised ids, each once, in alphabetical order; never the person's own.
    format: the name of the format.
    duplicates: how many entries named someone again.
    oneself: how many entries named the person.
    skipped: the entries that have no id that can be read, with the reasons.
    """

    ids: tuple[str, ...]
    format: str
    duplicates: int = 0
    oneself: int = 0
    skipped: tuple[Unread, ...] = ()

    @property
    def without_id(self) -> int:
        """How many entries were skipped because they have no id that can be read."""
        return len(self.skipped)

    def in_words(self) -> str:
        """How many contacts were found and what was left out, in one sentence."""
        dropped = [
            f"{count:,} {what}"
            for count, what in (
                (self.duplicates, "named again"),
                (self.oneself, "with oneself"),
                (self.without_id, "skipped without an id that can be read"),
            )
            if count
        ]
        contacts = "1 contact" if len(self.ids) == 1 else f"{len(self.ids):,} contacts"
        return f"{contacts} ({SOURCES[self.format].title}{''.join(f'; {what}' for what in dropped)})"


def check_contacts_file(path: str | Path, format: str | None = None) -> None:
    """Refuse a file that cannot be opened or a format that is unknown, without looking at a single contact."""
    _check_format(format)
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise InputError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None


def read_contacts(path: str | Path, owner: str, *, format: str | None = None, field: str = "email") -> Contacts:
    """Read the contacts of one person from a file.

    path: an edge list, Mastodon's following_accounts.csv, vCards, or Matrix account data, in UTF-8, or in UTF-16 with its mark;
        what is not makes only its own entry unreadable.
    owner: the person's own id, who is nobody's contact here.
    format: a name in SOURCES; found out from the content if absent.
    field: the property of a vCard that is the contact's id: email, tel, impp, social, or any property's name.
    """
    check_contacts_file(path, format)
    try:
        data = Path(path).read_bytes()
        encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
        text = data.decode(encoding, errors="replace")
        return contacts_from_text(text, owner, format=format, field=field)
    except OSError as error:
        raise InputError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def contacts_from_text(text: str, owner: str, *, format: str | None = None, field: str = "email") -> Contacts:
    """As read_contacts, from the text of such a file."""
    _check_format(format)
    start = text.lstrip("\ufeff \t\r\n")
    source = SOURCES[format] if format else next(source for source in SOURCES.values() if source.matches(start))
    own = normalise_user_id(owner)
    return _distinct(source.read(text, Asked(own, field)), own, source.name)


def _distinct(entries: Iterable[str | Unread], own: str, format: str) -> Contacts:
    """Normalised ids, each once and without the owner."""
    seen: set[str] = set()
    skipped: list[Unread] = []
    duplicates = oneself = 0
    for number, spelled in enumerate(entries, 1):
        if isinstance(spelled, Unread):
            skipped.append(spelled)
            continue
        try:
            contact = normalise_user_id(spelled)
        except InputError:
            contact = _REPLACED
        if _REPLACED in contact or len(contact) > LONGEST_USER_ID:
            skipped.append(Unread(f"entry {number}", "there is no id that can be read"))
        elif contact == own:
            oneself += 1
        elif contact in seen:
            duplicates += 1
        else:
            seen.add(contact)
    return Contacts(tuple(sorted(seen)), format, duplicates, oneself, tuple(skipped))


def _check_format(format: str | None) -> None:
    if format is not None and format not in SOURCES:
        *some, last = sorted(SOURCES)
        raise InputError(f"format {format!r} is unknown: it must be {', '.join(some)} or {last}")
