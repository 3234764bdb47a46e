"""What a text edge list looks like, line by line: its separator, its header, and where it breaks its own rules."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

__all__ = ["BLANKS", "Layout", "detect_layout", "find_fault", "find_line", "is_column_name", "strip_comments"]

BLANKS = b" "  # as a separator: one or more blanks or tabs
_SEPARATORS = (b"\t", b",", b";")
_COMMENT_MARKS = (b"#", b"%")
_LINES_LOOKED_AT = 100
_NUMBER = re.compile(rb"[+-]?\d+(\.\d+)?")
_COLUMN_NAMES = (
    rb"user|friend|contact|account|member|node|neighbou?r|source|target|src|dst|from|to|follower|followee|following|followed"
)
_COLUMN_NAME = re.compile(rb"(" + _COLUMN_NAMES + rb")[ _]?(id)?", re.IGNORECASE)
_LINE_END = re.compile(rb"\r\n|\n|\r")
_LINE_WITH_TEXT = re.compile(rb"[^\r\n]*[^\r\n\t ][^\r\n]*")
_INNER_COMMENT = re.compile(rb"[#%](?<=[\r\n].)[^\r\n]*")  # the mark first: the regular expression engine then skips ahead to it


class Layout(NamedTuple):
    """How to cut an edge list into fields.

    separator: tab, comma, semicolon, or BLANKS.
    n_columns: fields on its first line, and so on every line.
    start: offset of the first contact, past a header; None if there is none.
    even: whether all lines looked at have that many fields.
    digits: whether all ids looked at are made of digits only.
    """

    separator: bytes
    n_columns: int
    start: int | None
    even: bool
    digits: bool


def strip_comments(data: bytes) -> bytes:
    """The text without the byte order mark and the lines that start with # or %."""
    start = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    while data.startswith(_COMMENT_MARKS, start):
        end = _LINE_END.search(data, start)
        start = end.end() if end else len(data)
    rest = data[start:] if start else data
    marks = [mark for mark in _COMMENT_MARKS if mark in rest]  # one byte is looked for much faster than two
    if any(end + mark in rest for end in (b"\n", b"\r") for mark in marks):
        return _INNER_COMMENT.sub(b"", rest)
    return rest


def detect_layout(text: bytes, header: bool | None) -> Layout | None:
    """How this text (without comments) is cut, from its first 100 lines; None if there is no line with text.

    Separator: the first of tab, comma, semicolon that cuts at least half of these lines, otherwise blanks. Tab gives way to
    blanks if cutting at both gives more columns and, below the first line, nothing but numbers ("1 2<TAB>1 1082008561").
    Header, if not told: the first line, if its first two fields are two different column names, or if neither is a number while
    the first two fields of the next line both are.
    """
    found = list(islice(_LINE_WITH_TEXT.finditer(text), _LINES_LOOKED_AT))
    if not found:
        return None
    lines = [match.group() for match in found]
    separator = _separator(lines)
    rows = [_fields_or_none(line, separator) or [] for line in lines]
    if header is None:
        header = _is_header(rows[0], rows[1] if len(rows) > 1 else [])
    contacts = rows[1:] if header else rows
    start = found[1 if header else 0].start() if contacts else None
    even = {len(row) for row in rows} == {len(rows[0])}
    return Layout(separator, len(rows[0]), start, even, all(field.isdigit() for row in contacts for field in row[:2]))


def _separator(lines: list[bytes]) -> bytes:
    for separator in _SEPARATORS:
        rows = [_fields_or_none(line, separator) or [] for line in lines]
        if 2 * sum(len(row) > 1 for row in rows) >= len(rows):
            finer = [fields(line, BLANKS) for line in lines]
            below = list(zip(rows, finer, strict=True))[1:] or [(rows[0], finer[0])]  # the first line may be a header
            if separator == b"\t" and all(len(fine) > len(row) and all(map(_NUMBER.fullmatch, fine)) for row, fine in below):
                return BLANKS
            return separator
    return BLANKS


def _is_header(first: list[bytes], second: list[bytes]) -> bool:
    one, two = ([field.strip() for field in row[:2]] for row in (first, second))
    if len(one) < 2:
        return False
    if one[0].lower() != one[1].lower() and all(map(_COLUMN_NAME.fullmatch, one)):
        return True
    return len(two) == 2 and not any(map(_NUMBER.fullmatch, one)) and all(map(_NUMBER.fullmatch, two))


def is_column_name(text: str) -> bool:
    """Whether a text is what a column of contacts may be called."""
    return _COLUMN_NAME.fullmatch(text.strip().encode()) is not None


def fields(line: bytes, separator: bytes) -> list[bytes]:
    """The fields of one line; raises csv.Error where a quote is opened and not closed."""
    if separator == BLANKS:
        return line.replace(b"\t", b" ").split()
    if b'"' not in line:
        return line.split(separator)
    row = next(csv.reader([line.decode("latin-1")], delimiter=separator.decode(), strict=True))
    return [field.encode("latin-1") for field in row]


def _fields_or_none(line: bytes, separator: bytes) -> list[bytes] | None:
    try:
        return fields(line, separator)
    except csv.Error:
        return None


def find_line(data: bytes, offset: int) -> int:
    """The line number, from 1, of a byte."""
    return 1 + sum(1 for _ in _LINE_END.finditer(data, 0, offset))


def find_fault(data: bytes, layout: Layout) -> str | None:
    """The first line that is not two user ids in UTF-8 and the same number of columns as the first: "line 7: what is wrong"."""
    for number, line in enumerate(_lines(data.removeprefix(b"\xef\xbb\xbf")), start=1):
        if not line.strip() or line.startswith(_COMMENT_MARKS):
            continue
        wrong = _fault(line, layout)
        if wrong:
            return f"line {number}: {wrong}"
    return None


def _fault(line: bytes, layout: Layout) -> str | None:
    try:
        row = fields(line, layout.separator)
        if len(row) < 2:
            return "one column where a contact needs two users"
        if len(row) != layout.n_columns:
            return f"{len(row)} columns where the first line has {layout.n_columns}: every line must have the same number"
        ids = [field.decode().strip() for field in row[:2]]
    except csv.Error:
        return "a quote is opened but not closed"
    except UnicodeDecodeError:
        return "not UTF-8 text: save the file as UTF-8"
    if not all(ids):
        return "an empty user id"
    if layout.separator == BLANKS and any(user.startswith('"') for user in ids):
        return "a quoted id between blanks: separate the columns by tabs or commas"
    return None


def _lines(data: bytes) -> Iterator[bytes]:
    start = 0
    for end in _LINE_END.finditer(data):
        yield data[start : end.start()]
        start = end.end()
    yield data[start:]
