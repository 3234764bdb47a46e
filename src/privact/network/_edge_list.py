"""Text edge list -> row numbers and user ids, parsed by pyarrow."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privact.errors import GraphError
from privact.network._text_layout import BLANKS, Layout, detect_layout, find_fault, find_line, strip_comments
from privact.network.graph import ContactGraph

__all__ = ["Contacts", "parse_contacts", "parse_edge_list"]

_BLOCK = 1 << 20  # bytes that pyarrow parses at a time; no line may be longer


Contacts: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], Any]


class _Broken(Exception):
    """The text breaks the rules somewhere; where is found line by line."""


def parse_edge_list(data: bytes, name: str, header: bool | None) -> ContactGraph:
    """The graph of a text edge list; its users are numbered in order of first appearance. Arguments as for `parse_contacts`."""
    first, second, ids = parse_contacts(data, name, header)
    return ContactGraph._of_rows(first, second, tuple(ids.to_pylist()))


def parse_contacts(data: bytes, name: str, header: bool | None) -> Contacts:
    """Both ends of every contact as row numbers, and the users they stand for as an Arrow array, in order of first appearance.

    data: the whole file.
    name: what to call the file in an error.
    header: whether the first line is a header; None looks at it.
    """
    if (nul := data.find(b"\0")) >= 0:
        raise GraphError(f"{name}, line {find_line(data, nul)}: a NUL byte: this is not an edge list in UTF-8 text")
    text = strip_comments(data)
    layout = detect_layout(text, header)
    if layout is not None and layout.n_columns == 1 and b"::" in text:  # as in the files of MovieLens
        return parse_contacts(data.replace(b"::", b"\t"), name, header)
    if layout is None:
        raise GraphError(
            f"{name}: no contacts in this {'file of comments and blanks' if data else 'empty file'}: give one per line"
        )
    if layout.start is None:
        raise GraphError(f"{name}: no contacts after the header line: pass header=False if that line is a contact")
    body = text[layout.start :]
    if not body.endswith((b"\n", b"\r")):
        body += b"\n"  # pyarrow does not see a first line without an end
    try:
        return _parse(body, layout)
    except _Broken as broken:
        fault = find_fault(data, layout)
        if fault is not None:
            raise GraphError(f"{name}, {fault}") from None
        tidy = b"".join(line + b"\n" for line in body.splitlines() if line.strip())
        if len(tidy) == len(body):
            raise GraphError(f"{name}: {broken}") from None
    try:  # pyarrow skips empty lines but not lines of blanks
        return _parse(tidy, layout)
    except _Broken as broken:
        raise GraphError(f"{name}: {broken}") from None


def _parse(body: bytes, layout: Layout) -> Contacts:
    """Both ends of every contact as row numbers in order of first appearance, and the users they stand for."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if layout.n_columns < 2 or not layout.even:
        raise _Broken("lines of fewer than two, or of different numbers of columns")
    blanks = layout.separator == BLANKS
    if blanks:
        body = _single_blanks(body)
    ends = None
    if layout.digits and _are_plain_integers(body):  # the same ids either way, but integers are numbered several times faster
        with suppress(_Broken):
            ends = _columns(body, layout, pa.int64()).dictionary_encode()
    if ends is None:
        ends = _columns(body, layout, pa.dictionary(pa.int32(), pa.string())).unify_dictionaries()
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in ends.chunks])
    ids = ends.chunk(0).dictionary.cast(pa.string())
    trimmed = pc.utf8_trim_whitespace(ids)
    if not trimmed.equals(ids):
        merged = trimmed.dictionary_encode()
        codes, ids = merged.indices.to_numpy()[codes], merged.dictionary
    if pc.any(pc.match_substring_regex(ids, '^$|[\r\n]|^"' if blanks else "^$|[\r\n]")).as_py():
        raise _Broken("an id is empty, holds a line end, or is quoted between blanks")
    n_contacts = len(codes) // 2
    return _in_order_of_appearance(codes[:n_contacts], codes[n_contacts:], ids)


def _columns(body: bytes, layout: Layout, kind: Any) -> Any:
    """The first two columns, one after the other, as values of this Arrow type."""
    import pyarrow as pa
    from pyarrow import csv

    quoted = layout.separator != BLANKS and b'"' in body
    try:
        table = csv.read_csv(
            pa.BufferReader(pa.py_buffer(body)),
            read_options=csv.ReadOptions(autogenerate_column_names=True, block_size=_BLOCK),
            parse_options=csv.ParseOptions(delimiter=layout.separator.decode(), quote_char='"' if quoted else False),
            convert_options=csv.ConvertOptions(
                include_columns=["f0", "f1"], column_types={"f0": kind, "f1": kind}, null_values=[], strings_can_be_null=False
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        if "straddl" in str(error):
            raise _Broken(f"a line is longer than {_BLOCK} bytes: this is not an edge list") from None
        raise _Broken(" ".join(str(error).split())) from None
    if quoted and table.num_rows != _count_lines(body):
        raise _Broken("a quote is opened but not closed")
    return pa.chunked_array(table.column(0).chunks + table.column(1).chunks)


def _are_plain_integers(body: bytes) -> bool:
    """Whether no integer in the text would lose its spelling: no signs, no leading zeros, nothing hexadecimal."""
    if any(mark in body for mark in (b"+", b"-", b"x", b"X")):
        return False
    text = np.frombuffer(body, dtype=np.uint8)
    for start in range(0, len(text), _BLOCK):
        block = text[max(0, start - 2) : start + _BLOCK]
        digit = block - np.uint8(48) < 10
        zero = (block[:-1] == 48) & digit[1:]  # a zero before a digit leads unless a digit or a decimal point stands before it
        zero[1:] &= ~digit[:-2] & (block[:-2] != 46)
        if zero[min(start, 1) :].any():  # the first byte of an overlap was judged with the block before
            return False
    return True


def _in_order_of_appearance(first: NDArray[np.int32], second: NDArray[np.int32], ids: Any) -> Contacts:
    """Renumber users by where they first appear, reading each line from left to right."""
    appearance = np.minimum(2 * _first_line(first, len(ids)), 2 * _first_line(second, len(ids)) + 1)
    order = np.argsort(appearance)
    row = np.empty(len(ids), dtype=np.int32)
    row[order] = np.arange(len(ids), dtype=np.int32)
    return row[first], row[second], ids.take(order)


def _first_line(codes: NDArray[np.int32], n_codes: int) -> NDArray[np.int64]:
    """The first position of each code; beyond all positions for codes that do not occur."""
    position = np.full(n_codes, len(codes), dtype=np.int64)
    position[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of repeated assignments the last one stays
    return position


def _count_lines(body: bytes) -> int:
    """How many lines are not empty."""
    text = np.frombuffer(body, dtype=np.uint8)
    end = (text == 10) | (text == 13)
    return int(np.count_nonzero(end[1:] & ~end[:-1])) + int(not end[-1])


def _single_blanks(body: bytes) -> bytes:
    """The text with every run of blanks and tabs as one blank, and none at either end of a line."""
    text = np.frombuffer(body, dtype=np.uint8)
    blank = (text == 32) | (text == 9)
    edge = (text == 10) | (text == 13)
    drop = blank.copy()
    drop[1:] &= blank[:-1] | edge[:-1]  # after a blank or at the start of a line; the very first byte too
    text, edge = text[~drop], edge[~drop]
    blank = (text == 32) | (text == 9)
    blank[:-1] &= edge[1:]  # now single: drop it before a line end; the very last byte too
    text = np.where(text == 9, np.uint8(32), text)[~blank]
    return bytes(text)
