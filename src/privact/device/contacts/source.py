"""What a source of contacts is: a format that recognises its files and finds one id per entry in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

__all__ = ["Asked", "Source", "Unread"]


@dataclass(frozen=True)
class Asked:
    """What a source needs to know besides the text.

    owner: the normalised id of the person whose contacts these are.
    field: the property of an entry that is the contact's id, where entries have several.
    """

    owner: str
    field: str


@dataclass(frozen=True)
class Unread:
    """An entry that is no contact.

    place: where it is in the file, such as "line 3".
    reason: what is wrong with it, in words.
    """

    place: str
    reason: str


@dataclass(frozen=True)
class Source:
    """A format of contact lists.

    name: as people write it after --format.
    title: what people call such a file.
    matches: whether a text, without blanks at its beginning, is in this format.
    read: the id of each entry as it is spelled, or Unread for an entry without one that can be read. It raises InputError only
        for what is wrong with the whole file, never for one entry: whether a device answers must not depend on one contact.
    """

    name: str
    title: str
    matches: Callable[[str], bool]
    read: Callable[[str, Asked], Iterable[str | Unread]]
