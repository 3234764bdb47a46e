"""Content lines of vCards: the text of a card -> the properties that were asked for, their values decoded.

Written out here and not taken from a library, so that the browser's page reads the same bytes alike, and so that one line that a
contact wrote cannot hold the device up: every step takes time in proportion to the text. What is odd about one property leaves
the others of its card readable.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["BLANKS", "Property", "read_properties", "split_lines"]

BLANKS: Final = " \t"
"""What may be around a line; other white space is part of it."""
_QUOTED: Final = "quoted-printable"
_BASE64: Final = {"b", "base64"}
_NAME: Final = re.compile(r"(?:[a-z0-9_-]+\.)?([a-z0-9_-]+)", re.IGNORECASE | re.ASCII)
_RANK: Final = re.compile(r"[0-9]{1,9}", re.ASCII)
_BYTE: Final = re.compile(rb"=([0-9A-Fa-f]{2})")
_UTF_8: Final = {"", "utf-8", "utf8", "us-ascii", "ascii"}
_LATIN: Final = {"iso-8859-1", "latin1", "latin-1", "windows-1252", "cp1252"}
_UNPREFERRED: Final = 101  # after PREF=100, the last that version 4.0 knows


@dataclass(frozen=True)
class Property:
    """One property of a card.

    name: in lower case, without its group.
    value: the decoded text; empty where it is in an encoding or a charset that is not known.
    rank: of this value among its card's, the lowest first: PREF=1 to 100 as version 4.0 writes it, 0 for TYPE=pref of older ones.
    """

    name: str
    value: str
    rank: int


def split_lines(text: str) -> list[str]:
    """The lines of a file, whatever ends them: nothing but carriage return and line feed does."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def read_properties(lines: Iterable[str], names: Collection[str]) -> Iterator[Property]:
    """The properties with one of these names; a line that is no property is passed over.

    lines: of one card, as they are in the file.
    """
    for line in _unfold(lines):
        if (parts := _split(line)) and (named := _NAME.fullmatch(parts[0])):
            name = named[1].lower().replace("_", "-")  # Lotus Notes writes underscores
            if name in names:
                yield _decode(name, parts[1:-1], parts[-1])


def _unfold(lines: Iterable[str]) -> Iterator[str]:
    """Whole lines: one that begins with a blank continues the one before, as does what follows a quoted-printable = at an end."""
    parts: list[str] = []
    quoted = False
    for line in lines:
        if not line.strip(BLANKS):
            yield "".join(parts)
            parts, quoted = [], False
        elif parts and quoted and parts[-1].endswith("="):
            parts[-1] = parts[-1][:-1]
            parts.append(line)
        elif parts and line[0] in BLANKS:
            parts.append(line[1:])
        else:
            yield "".join(parts)
            parts, quoted = [line], _QUOTED in line.partition(":")[0].lower()
    yield "".join(parts)


def _split(line: str) -> list[str]:
    """Name, parameters and value of a line; nothing where no colon ends the parameters. In quotes neither ; nor : separates."""
    parts, begin, quoted = [], 0, False
    for place, letter in enumerate(line):
        if letter == '"':
            quoted = not quoted
        elif letter in ";:" and not quoted:
            parts.append(line[begin:place])
            begin = place + 1
            if letter == ":":
                return [*parts, line[begin:]]
    return []


def _decode(name: str, parameters: list[str], value: str) -> Property:
    preferred, rank, quoted, unread, charset = False, None, False, False, ""
    for parameter in parameters:
        key, named, given = parameter.partition("=")
        kind, given = (key.lower(), given) if named else ("", key)
        values = given.replace('"', "").lower().split(",")
        if kind in ("", "type", "pref"):
            preferred = preferred or kind == "pref" or "pref" in values
        if kind == "pref" and rank is None and _RANK.fullmatch(values[0]):
            rank = int(values[0])
        if kind in ("", "encoding"):
            quoted = quoted or _QUOTED in values
            unread = unread or not _BASE64.isdisjoint(values)
        if kind == "charset" and not charset:
            charset = values[0]
    text = "" if unread else _decode_quoted(value, charset) if quoted else value
    return Property(name, text, (0 if preferred else _UNPREFERRED) if rank is None else rank)


def _decode_quoted(value: str, charset: str) -> str:
    """Quoted-printable text, or nothing where its charset is not known or its bytes are not of it."""
    data = _BYTE.sub(lambda match: bytes.fromhex(match[1].decode()), value.encode("utf-8", "replace"))
    try:
        if charset in _UTF_8:
            return data.decode("utf-8")
        if charset in _LATIN and not any(0x80 <= byte < 0xA0 for byte in data):  # where the two of them differ
            return data.decode("latin-1")
    except UnicodeDecodeError:
        pass
    return ""
