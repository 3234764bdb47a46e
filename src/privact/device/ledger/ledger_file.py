"""The SQLite file of a ledger: its tables, its durability, and what makes it not a ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from privact.device.ledger.entries import COLUMNS, Entry

__all__ = ["VERSION", "append_entries", "connect", "find_problem", "make_ledger_file", "read_rows", "version_of"]

VERSION: Final = 2
"""The version of ledgers that are written here."""

_APPLICATION: Final = 0x50434C47  # "PCLG"
_WAIT: Final = 60.0  # seconds for which one process waits for another
_SCHEMA: Final = (
    "CREATE TABLE deliveries (aggregator TEXT NOT NULL, round_id TEXT NOT NULL, outcome TEXT NOT NULL, told INTEGER NOT NULL, "
    "PRIMARY KEY (aggregator, round_id))",
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, made INTEGER NOT NULL, aggregator TEXT, user TEXT, "
    "round_id TEXT, epsilon TEXT NOT NULL, statement TEXT, parameters BLOB, report BLOB, send_at INTEGER, link BLOB NOT NULL)",
)
_SELECT: Final = f"SELECT {', '.join(COLUMNS)} FROM entries ORDER BY number"
_INSERT: Final = f"INSERT INTO entries VALUES ({', '.join('?' * len(COLUMNS))})"


def make_ledger_file(entries: Iterable[Entry]) -> bytes:
    """The bytes of a new ledger with these entries."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as file:
        for statement in (f"PRAGMA application_id = {_APPLICATION}", f"PRAGMA user_version = {VERSION}", *_SCHEMA):
            file.execute(statement)
        append_entries(file, entries)
        return file.serialize()


def connect(path: Path) -> sqlite3.Connection:
    """A connection to a file that is there, whose commits are on disk, folder included, when they return."""
    file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=_WAIT, isolation_level=None)
    file.execute("PRAGMA journal_mode = DELETE")
    file.execute("PRAGMA synchronous = EXTRA")
    file.execute("PRAGMA fullfsync = ON")
    file.execute("PRAGMA trusted_schema = OFF")
    return file


def append_entries(file: sqlite3.Connection, entries: Iterable[Entry]) -> None:
    """Add entries after the last one, numbered and linked."""
    last = file.execute("SELECT number, link FROM entries ORDER BY number DESC LIMIT 1").fetchone()
    number, link = last or (0, b"")
    for unnumbered in entries:
        number += 1
        entry = replace(unnumbered, number=number)
        link = entry.link(link)
        file.execute(_INSERT, (*(getattr(entry, name) for name in COLUMNS[:-1]), link))


def read_rows(file: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    """The columns of every entry, in the order of number."""
    return file.execute(_SELECT)


def version_of(file: sqlite3.Connection) -> int | None:
    """The version of a ledger; None for a file that is none."""
    return int(_one(file, "PRAGMA user_version")) if _one(file, "PRAGMA application_id") == _APPLICATION else None


def find_problem(file: sqlite3.Connection) -> str | None:
    """What makes a file not a ledger of this version, in a few words; None if nothing does."""
    schema = tuple(row[0] for row in file.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"))
    if version_of(file) is None or schema != _SCHEMA:
        return "it is not a ledger of privact"
    if _one(file, "PRAGMA integrity_check") != "ok":
        return "its pages do not fit together"
    return None


def _one(file: sqlite3.Connection, query: str) -> Any:
    return file.execute(query).fetchone()[0]
