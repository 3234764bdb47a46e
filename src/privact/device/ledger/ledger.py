"""The ledger: what this device may still spend at one aggregator, and the one stored report of each round.

One SQLite file. Charging a round and storing its report are one transaction, on disk (synchronous=EXTRA: file, journal and
folder) before the report is given to whoever sends it. Beside the file lies a marker with the number of entries and the link of
the last. It is written after each transaction and before anything is sent, so a ledger that is missing, cut, changed, or replaced
by an older copy is noticed: its chain no longer contains the marker's link. A kill between the two leaves a ledger one entry
ahead, which is fine.

This protects from accidents and from other programs, not from a person who changes both files on purpose, or who restores both
from an old backup; in the last case an honest aggregator still tells that it has answers that the ledger does not know.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from privact.device.ledger.entries import COLUMNS, Book, Entry, StoredReport, read_book
from privact.device.ledger.rules import Rules, check_round
from privact.errors import InputError, LedgerError
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.storage import write_once, write_privately

__all__ = ["Ledger"]

_APPLICATION: Final = 0x50434C47  # "PCLG"
_VERSION: Final = 1
_WAIT: Final = 60.0  # seconds for which one process waits for another
_SCHEMA: Final = (
    "CREATE TABLE deliveries (round_id TEXT PRIMARY KEY, outcome TEXT NOT NULL, told INTEGER NOT NULL)",
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, made INTEGER NOT NULL, round_id TEXT UNIQUE, "
    "epsilon TEXT NOT NULL, statement TEXT, parameters BLOB, report BLOB, send_at INTEGER, link BLOB NOT NULL)",
)
_SELECT: Final = f"SELECT {', '.join(COLUMNS)} FROM entries ORDER BY number"
_INSERT: Final = f"INSERT INTO entries VALUES ({', '.join('?' * len(COLUMNS))})"


class Ledger:
    """A device's memory of what it sent to one aggregator.

    path: the SQLite file.
    marker: the file beside it that knows how far the ledger had come.
    """

    def __init__(self, path: Path, marker: Path) -> None:
        self.path, self.marker = path, marker

    def reached(self, point: str) -> None:
        """Called at each point between two writes; does nothing. Tests pull the plug here."""

    def files(self) -> tuple[Path, Path, Path]:
        """The files of a ledger: itself, its marker, and the journal that a kill may leave for the next one to roll back."""
        return self.path, self.marker, self.path.with_name(f"{self.path.name}-journal")

    def create(self, aggregator: str, user: str, rules: Rules, *, spent: float = 0.0, lost: Iterable[str] = ()) -> Book:
        """Begin a ledger; a file that is there is never overwritten.

        aggregator, user: whose ledger it is.
        rules: its limits.
        spent: what an earlier, lost ledger had spent; lost: the rounds that it had answered.
        """
        if any(path.exists() for path in self.files()):
            raise LedgerError(f"cannot begin a ledger: {self.path} or its marker is already there")
        said = {"id": secrets.token_hex(16), "aggregator": aggregator, "user": user, "rules": vars(rules)}
        epsilon = "0" if spent == 0 else repr(float(spent))
        now = int(time.time())
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as file:
            for statement in (f"PRAGMA application_id = {_APPLICATION}", f"PRAGMA user_version = {_VERSION}", *_SCHEMA):
                file.execute(statement)
            link = _append(file, Entry(1, "joined", now, None, epsilon, json.dumps(said, sort_keys=True)), b"")
            for number, round_id in enumerate(sorted(set(lost)), 2):
                link = _append(file, Entry(number, "lost", now, round_id), link)
            write_once(self.path, file.serialize(), self.reached)
        self.reached("created")
        return self.mark()

    def read(self) -> Book:
        """Everything the ledger says; a ledger that is lost, damaged, or older than its marker is refused."""
        with self._open("BEGIN") as (_, book):
            return book

    def mark(self) -> Book:
        """Bring the marker up to the ledger's last entry, and say what the ledger says; the marker may still be missing."""
        with self._open("BEGIN IMMEDIATE", unmarked=True) as (_, book):
            told = {"ledger": book.id, "entries": book.n_entries, "head": book.head.hex()}
            write_privately(self.marker, json.dumps(told).encode(), self.reached)
        self.reached("marked")
        return book

    def answer_once(
        self,
        round: Round,
        *,
        now: float,
        draw_slot: Callable[[], int],
        randomize: Callable[[], Report],
        late: bool = False,
    ) -> StoredReport:
        """The one answer to a round: the stored one, or else a new one, charged and stored before it is returned.

        round: the round's public parameters.
        now: the device's clock, UTC seconds.
        draw_slot: chooses when to send, in UTC milliseconds. It is called before any noise is drawn, so that the time of sending
            cannot depend on it.
        randomize: makes the report; called at most once in the life of a ledger for each round.
        late: whether the aggregator says that this user may join late.
        """
        book = self.read()
        found = book.stored(round)
        if found is None:
            _check(round, book, now, late)  # without keeping others from writing
        elif self._marked() == (book.id, book.n_entries, book.head.hex()):
            return found
        with self._open("BEGIN IMMEDIATE") as (file, book):
            found = book.stored(round)  # another process may have been faster
            if found is None:
                self.reached("begun")
                _check(round, book, now, late)
                send_at = draw_slot()
                self.reached("slot drawn")
                report = randomize()
                report.require(round)
                self.reached("randomized")
                found = StoredReport(round.to_bytes(), report.to_bytes(), send_at, int(now))
                entry = Entry(
                    book.n_entries + 1, "answered", found.made, round.id, repr(round.epsilon), None,
                    found.parameters, found.report, send_at,
                )  # fmt: skip
                _append(file, entry, book.head)
                self.reached("inserted")
                file.execute("COMMIT")
                self.reached("committed")
        self.mark()
        return found

    def restrict(self, rules: Rules) -> Book:
        """Make the limits stricter for ever; a limit that is looser than the present one changes nothing."""
        with self._open("BEGIN IMMEDIATE") as (file, book):
            stricter = book.rules.tightened(rules)
            if stricter == book.rules:
                return book
            said = json.dumps({"rules": vars(stricter)}, sort_keys=True)
            _append(file, Entry(book.n_entries + 1, "limited", int(time.time()), statement=said), book.head)
            file.execute("COMMIT")
        return self.mark()

    def tell_delivery(self, round_id: str, outcome: str) -> None:
        """Remember what the aggregator said to a report; nothing depends on it but what people are shown.

        outcome: "accepted", "closed", "conflict", "early" or "refused".
        """
        with self._open("BEGIN IMMEDIATE") as (file, _):
            row = (round_id, outcome, int(time.time()))
            file.execute("INSERT INTO deliveries VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET outcome = ?2, told = ?3", row)
            file.execute("COMMIT")

    def deliveries(self) -> dict[str, tuple[str, int]]:
        """What the aggregator said last to each report, and when in UTC seconds."""
        with self._open("BEGIN") as (file, _):
            return {round_id: (outcome, told) for round_id, outcome, told in file.execute("SELECT * FROM deliveries")}

    @contextmanager
    def _open(self, begin: str, *, unmarked: bool = False) -> Iterator[tuple[sqlite3.Connection, Book]]:
        """The file in a transaction, and what it says; what was not committed in the block is rolled back."""
        if not self.path.is_file():
            raise LedgerError(f"{self.path} is gone: {self._way_out()}")
        try:
            with closing(_connect(self.path)) as file:
                file.execute(begin)
                book = self._checked(file, unmarked)
                yield file, book
                if file.in_transaction:
                    file.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            raise InputError(f"cannot use {self.path}: {error}: free it or make room, then run this again") from None
        except sqlite3.DatabaseError as error:
            raise LedgerError(f"{self.path} is damaged ({error}): {self._way_out()}") from None

    def _checked(self, file: sqlite3.Connection, unmarked: bool) -> Book:
        """What the ledger says, once everything about it has been checked. A lock is held, so nobody can write meanwhile."""
        version = _one(file, "PRAGMA user_version")
        if _one(file, "PRAGMA application_id") == _APPLICATION and version > _VERSION:
            raise LedgerError(f"{self.path} is of version {version}, newer than {_VERSION}: update privact on this device")
        problem = None
        schema = tuple(row[0] for row in file.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"))
        if _one(file, "PRAGMA application_id") != _APPLICATION or schema != _SCHEMA:
            problem = "it is not a ledger of privact"
        elif _one(file, "PRAGMA integrity_check") != "ok":
            problem = "its pages do not fit together"
        else:
            try:
                book, links = read_book(file.execute(_SELECT))
            except LedgerError as error:
                problem = str(error)
        if problem is not None:
            raise LedgerError(f"{self.path} is damaged ({problem}): {self._way_out()}")
        marked = self._marked()
        if marked is None and not unmarked:
            raise LedgerError(f"{self.marker}, which tells how far the ledger had come, is gone or damaged: {self._way_out()}")
        if marked is not None:
            name, entries, head = marked
            if name != book.id or entries > len(links) or links[entries - 1].hex() != head:
                raise LedgerError(f"{self.path} is older than what this device wrote, or another's: {self._way_out()}")
        return book

    def _marked(self) -> tuple[str, int, str] | None:
        """The id, number of entries and last link that the marker tells; None if it cannot tell."""
        try:
            told = json.loads(self.marker.read_text(encoding="utf-8"))
            name, entries, head = told["ledger"], told["entries"], told["head"]
        except (OSError, ValueError, LookupError, TypeError):
            return None
        return (str(name), entries, str(head)) if type(entries) is int and entries >= 1 else None

    def _way_out(self) -> str:
        return (
            "nobody knows what was spent, so nothing is answered; restore the newest copy of its folder, or begin again with "
            "`privact device join URL --token TOKEN --spent EPSILON`, EPSILON being at least what was spent before"
        )


def _check(round: Round, book: Book, now: float, late: bool) -> None:
    """Refuse a round that breaks a rule or costs more than is left."""
    check_round(round, book.rules, now, late=late)
    book.check_budget(round)


def _connect(path: Path) -> sqlite3.Connection:
    """A connection to a file that is there, whose commits are on disk, folder included, when they return."""
    file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=_WAIT, isolation_level=None)
    file.execute("PRAGMA journal_mode = DELETE")
    file.execute("PRAGMA synchronous = EXTRA")
    file.execute("PRAGMA fullfsync = ON")
    file.execute("PRAGMA trusted_schema = OFF")
    return file


def _append(file: sqlite3.Connection, entry: Entry, previous: bytes) -> bytes:
    """Add an entry after the one with the given link; returns its own."""
    link = entry.link(previous)
    file.execute(_INSERT, (*(getattr(entry, name) for name in COLUMNS[:-1]), link))
    return link


def _one(file: sqlite3.Connection, query: str) -> Any:
    return file.execute(query).fetchone()[0]
