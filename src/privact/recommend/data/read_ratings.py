"""read_ratings: CSV, TSV or Parquet file -> Ratings."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

from privact.errors import InputError
from privact.recommend.data.ratings import Ratings

__all__ = ["read_ratings"]

_NAMES = ("user", "item", "rating")


def read_ratings(path: str | os.PathLike[str], users: Sequence[Hashable] | None = None) -> Ratings:
    """Read ratings from a file with one rating a line: user, item and, unless every line counts 1, rating.

    Columns called user, item and rating are found by name in the first line; a file without them gives its first two or three
    columns. The first line is a header if it names these columns or if its third field is not a number.

    path: a text file separated by tabs, commas or semicolons (UTF-8, plain or gzipped), or .parquet.
    users: the rows to make; see `Ratings.from_frame`.
    """
    name = str(path)
    file = Path(path)
    table = _parquet(file, name) if file.suffix.lower() == ".parquet" else _text(_bytes_of(file, name), name)
    if not table.num_rows:
        raise InputError(f"{name}: no ratings in this file: give a line 'user<TAB>item<TAB>rating' each")
    if not set(_NAMES[:2]) <= set(table.column_names):
        table = table.rename_columns([*_NAMES, *map(str, range(3, table.num_columns))][: table.num_columns])
    try:
        return Ratings.from_frame(table, rating="rating" if "rating" in table.column_names else None, users=users)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _bytes_of(file: Path, name: str) -> bytes:
    try:
        data = file.read_bytes()
        return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"{name}: the gzip data is damaged or ends too early: fetch it again") from None
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from None


def _parquet(file: Path, name: str) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(file)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{name}: not a sound Parquet file: {' '.join(str(error).split())[:200]}") from None
    return _at_least_two(table, name)


def _text(data: bytes, name: str) -> Any:
    """The table of a text file, ids as text."""
    import pyarrow as pa
    from pyarrow import csv

    data = data.removeprefix(b"\xef\xbb\xbf")
    first = data.split(b"\n", 1)[0].decode("utf-8", "replace").strip("\r")
    separator = next((mark for mark in "\t,;" if mark in first), None)
    if separator is None:
        raise InputError(
            f"{name}: the first line {first[:40]!r} has one column: separate user, item and rating by tabs or commas"
        )
    fields = [field.strip().strip('"') for field in first.split(separator)]
    header = {"user", "item"} <= set(fields) or (len(fields) > 2 and not _is_number(fields[2]))
    columns = fields if header else [*_NAMES, *map(str, range(3, len(fields)))][: len(fields)]
    rating = "rating" if "rating" in columns else columns[2] if len(columns) > 2 else None
    kinds = {column: pa.float64() if column == rating else pa.string() for column in columns}
    try:
        table = csv.read_csv(
            pa.BufferReader(pa.py_buffer(data)),
            read_options=csv.ReadOptions(column_names=columns, skip_rows=int(header)),
            parse_options=csv.ParseOptions(delimiter=separator),
            convert_options=csv.ConvertOptions(column_types=kinds, null_values=[], strings_can_be_null=False),
        )
    except pa.ArrowException as error:
        raise InputError(f"{name}: not a table of ratings: {' '.join(str(error).split())[:200]}") from None
    return _at_least_two(table, name)


def _at_least_two(table: Any, name: str) -> Any:
    if table.num_columns < 2:
        raise InputError(f"{name}: {table.num_columns} column: a rating needs a user and an item")
    return table


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
