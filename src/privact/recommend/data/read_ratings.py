"""read_ratings: CSV, TSV or Parquet file -> Ratings."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

from privact.errors import InputError
from privact.recommend.data.rating_columns import choose_columns, detect_rating_layout
from privact.recommend.data.ratings import Ratings, Repeats

__all__ = ["read_ratings"]

_LOOKED_AT = 1 << 16  # bytes


def read_ratings(
    path: str | os.PathLike[str],
    users: Sequence[Hashable] | None = None,
    repeats: Repeats = "error",
    header: bool | None = None,
) -> Ratings:
    """Read ratings from a file with one rating a line: user, item and, unless every line counts 1, rating.

    Columns are found by name in the first line, whatever their order: user, item and rating, and what they are called
    elsewhere (userId, movie_id, score, plays and so on). A file without such names gives its first two or three columns. The
    first line is a header if it has these names or if its third field is not a number; where nothing tells, the error asks.

    path: a text file separated by tabs, ::, commas, semicolons or blanks (UTF-8, plain or gzipped), or .parquet.
    users: the rows to make; see `Ratings.from_frame`.
    repeats: what to do where a user rates an item again: "error", the "last" one, or the "mean".
    header: whether the first line is a header; None looks at it.
    """
    name = str(path)
    file = Path(path)
    parquet = file.suffix.lower() == ".parquet"
    table, named = (_parquet(file, name), True) if parquet else _text(_bytes_of(file, name), name, header)
    if not table.num_rows:
        raise InputError(f"{name}: no ratings in this file: give a line 'user<TAB>item<TAB>rating' each")
    user, item, rating = choose_columns(table.column_names, name, named)
    columns = {"user": table.column(user), "item": table.column(item)}
    if rating is not None:
        columns["rating"] = table.column(rating)
    try:
        return Ratings.from_frame(columns, rating=None if rating is None else "rating", users=users, repeats=repeats)
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
    return table


def _text(data: bytes, name: str, header: bool | None) -> tuple[Any, bool]:
    """The table of a text file, ids as text, and whether it has a header."""
    import pyarrow as pa
    from pyarrow import csv

    data = data.removeprefix(b"\xef\xbb\xbf")
    layout = detect_rating_layout(data[:_LOOKED_AT].decode("utf-8", "replace"), name, header)
    separator = layout.separator
    if separator == "::":
        data, separator = data.replace(b"::", b"\t"), "\t"
    elif separator == " ":  # columns may be lined up by several
        data = re.sub(rb"(?m)^ +| +$", b"", re.sub(rb" +", b" ", data.replace(b"\r\n", b"\n")))
    names = [f"{place} {column}" for place, column in enumerate(layout.names)]  # names may occur twice
    rating = choose_columns(layout.names, name, layout.header)[2]
    kinds = {column: pa.float64() if place == rating else pa.string() for place, column in enumerate(names)}
    try:
        table = csv.read_csv(
            pa.BufferReader(pa.py_buffer(data)),
            read_options=csv.ReadOptions(column_names=names, skip_rows=int(layout.header)),
            parse_options=csv.ParseOptions(delimiter=separator),
            convert_options=csv.ConvertOptions(column_types=kinds, null_values=[], strings_can_be_null=False),
        )
    except pa.ArrowException as error:
        raise InputError(f"{name}: not a table of ratings: {' '.join(str(error).split())[:200]}") from None
    return table.rename_columns(layout.names), layout.header
