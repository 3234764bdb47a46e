"""The ledger: what this device may still spend, over all aggregators, and the one stored report of each round.

One SQLite file for the whole home, because all aggregators of a home are told about the same contacts. Charging a round and
storing its report are one transaction, on disk (synchronous=EXTRA: file, journal and folder) before the report is given to
whoever sends it. Beside the file lies a marker with the number of entries and the link of the last. It is written after each
transaction and before anything is sent, so a ledger that is missing, cut, changed, or replaced by an older copy is noticed: its
chain no longer contains the marker's link. A kill between the two leaves a ledger one entry ahead, which is fine.

This protects from accidents and from other programs, not from a person who changes both files on purpose, or who restores both
from an old backup; in the last case an honest aggregator still tells that it has reports that the ledger does not know.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from privact.device.ledger.book import Book, read_book
from privact.device.ledger.entries import WAY_OUT, Entry, StoredReport
from privact.device.ledger.first_version import FirstLedger
from privact.device.ledger.ledger_file import (
    VERSION,
    append_entries,
    connect,
    find_problem,
    make_ledger_file,
    read_rows,
    version_of,
)
from privact.device.ledger.rules import Rules, check_round
from privact.errors import InputError, LedgerError
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.storage import write_once, write_privately

__all__ = ["Ledger"]


class Ledger:
    """A device's memory of what it sent, seen from one account.

    path: the SQLite file, the same for all accounts of a home.
    marker: the file beside it that knows how far the ledger had come.
    aggregator, user: the account: the aggregator's key and the normalised user id.
    """

    def __init__(self, path: Path, marker: Path, aggregator: str, user: str) -> None:
        self.path, self.marker, self.aggregator, self.user = path, marker, aggregator, user

    def reached(self, point: str) -> None:
        """Called at each point between two writes; does nothing. Tests pull the plug here."""

    def files(self) -> tuple[Path, Path, Path]:
        """The files of a ledger: itself, its marker, and the journal that a kill may leave for the next one to roll back."""
        return self.path, self.marker, self.path.with_name(f"{self.path.name}-journal")

    def create(self, rules: Rules, *, spent: float = 0.0, lost: Iterable[str] = ()) -> Book:
        """Begin a ledger; a file that is there is never overwritten.

        rules: its limits.
        spent: what an earlier, lost ledger had spent; lost: the rounds that it had answered at this account's aggregator.
        """
        if any(path.exists() for path in self.files()):
            raise LedgerError(f"cannot begin a ledger: {self.path} or its marker is already there")
        facts = {"id": secrets.token_hex(16), "rules": vars(rules)}
        begun = Entry(0, "begun", int(time.time()), epsilon=_decimal(spent), statement=_json(facts))
        write_once(self.path, make_ledger_file([begun, *self._lost_entries(lost)]), self.reached)
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
        reserve: float = 0.0,
    ) -> StoredReport:
        """The one report of a round: the stored one, or else a new one, charged and stored before it is returned.

        round: the round's public parameters.
        now: the device's clock, UTC seconds.
        draw_slot: chooses when to send, in UTC milliseconds. It is called before any noise is drawn, so that the time of sending
            cannot depend on it.
        randomize: makes the report; called at most once in the life of a ledger for each round.
        late: whether the aggregator says that this user may join late.
        reserve: seconds before the close in which nothing is charged any more, since the report might come too late.
        """
        book = self.read()
        found = book.stored(round)
        if found is None:
            _check_round(round, book, now, late, reserve)  # without keeping others from writing
        elif self._marked() == (book.id, book.n_entries, book.head.hex()):
            return found
        with self._open("BEGIN IMMEDIATE") as (file, book):
            found = book.stored(round)  # another process may have been faster
            if found is None:
                self.reached("begun")
                _check_round(round, book, now, late, reserve)
                send_at = draw_slot()
                self.reached("slot drawn")
                report = randomize()
                report.require(round)
                self.reached("randomized")
                found = StoredReport(
                    self.aggregator, self.user, round.to_bytes(), report.to_bytes(), send_at, int(now)
                )  # fmt: skip
                append_entries(file, [*self._note_agreement(book, round, now), _note_answer(found)])
                self.reached("inserted")
                file.execute("COMMIT")
                self.reached("committed")
        self.mark()
        return found

    def restrict(self, rules: Rules) -> Book:
        """Make the limits stricter for ever; a limit that is looser than the present one changes nothing."""
        return self._write(lambda book: _note_limits(book, rules))

    def add_lost(self, spent: float, lost: Iterable[str]) -> Book:
        """Charge what was spent elsewhere, and remember the rounds that were answered there at this account's aggregator."""
        now = int(time.time())
        charge = Entry(0, "spent", now, self.aggregator, self.user, epsilon=_decimal(spent))
        return self._write(lambda book: [charge, *self._lost_entries(set(lost) - book.lost)])

    def move(self, old: str) -> Book:
        """Count everything that was answered at the aggregator with the old key as answered at this account's."""
        facts = _json({"from": old, "to": self.aggregator})
        return self._write(lambda book: [Entry(0, "moved", int(time.time()), self.aggregator, self.user, statement=facts)])

    def merge(self, first: FirstLedger) -> Book:
        """Take in a ledger of one address, as earlier versions kept them; nothing changes if it was taken in before.

        Everything that it spent is spent here too, and the stricter of each pair of limits holds.
        """

        def entries(book: Book) -> list[Entry]:
            if first.id in book.merged:
                return []
            facts = _json({"ledger": first.id})
            taken = Entry(
                0, "merged", int(time.time()), first.aggregator, first.user, epsilon=first.spent_before, statement=facts
            )
            lost = [Entry(0, "lost", taken.made, first.aggregator, first.user, round_id) for round_id in first.lost]
            return [taken, *_note_limits(book, first.rules), *map(_note_answer, first.answers), *lost]

        return self._write(entries)

    def tell_delivery(self, round_id: str, outcome: str) -> None:
        """Remember what the aggregator said to a report; nothing depends on it but what people are shown.

        outcome: "accepted", "closed", "conflict", "early" or "refused".
        """
        with self._open("BEGIN IMMEDIATE") as (file, _):
            row = (self.aggregator, round_id, outcome, int(time.time()))
            file.execute("INSERT INTO deliveries VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET outcome = ?3, told = ?4", row)
            file.execute("COMMIT")

    def deliveries(self) -> dict[str, tuple[str, int]]:
        """What the aggregator said last to each report, and when in UTC seconds."""
        query = "SELECT round_id, outcome, told FROM deliveries WHERE aggregator = ?"
        with self._open("BEGIN") as (file, _):
            return {round_id: (outcome, told) for round_id, outcome, told in file.execute(query, (self.aggregator,))}

    def _write(self, entries: Callable[[Book], list[Entry]]) -> Book:
        """Append what the function gives for the ledger as it is, and mark it."""
        with self._open("BEGIN IMMEDIATE") as (file, book):
            added = entries(book)
            if not added:
                return book
            append_entries(file, added)
            file.execute("COMMIT")
        return self.mark()

    def _note_agreement(self, book: Book, round: Round, now: float) -> list[Entry]:
        """The entry that keeps what was agreed on with the first answer to a series; costs nothing by itself."""
        if round.series is None or round.series.name in book.agreed:
            return []
        facts = {"series": round.series.name, "rounds": round.series.rounds, "epsilon": round.series.epsilon}
        return [Entry(0, "series", int(now), self.aggregator, self.user, statement=_json(facts))]

    def _lost_entries(self, lost: Iterable[str]) -> list[Entry]:
        now = int(time.time())
        return [Entry(0, "lost", now, self.aggregator, self.user, round_id) for round_id in sorted(set(lost))]

    @contextmanager
    def _open(self, begin: str, *, unmarked: bool = False) -> Iterator[tuple[sqlite3.Connection, Book]]:
        """The file in a transaction, and what it says; what was not committed in the block is rolled back."""
        if not self.path.is_file():
            raise LedgerError(f"{self.path} is gone: {WAY_OUT}")
        try:
            with closing(connect(self.path)) as file:
                file.execute(begin)
                book = self._check(file, unmarked)
                yield file, book
                if file.in_transaction:
                    file.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            raise InputError(f"cannot use {self.path}: {error}: free it or make room, then run this again") from None
        except sqlite3.DatabaseError as error:
            raise LedgerError(f"{self.path} is damaged ({error}): {WAY_OUT}") from None

    def _check(self, file: sqlite3.Connection, unmarked: bool) -> Book:
        """What the ledger says, once everything about it has been checked. A lock is held, so nobody can write meanwhile."""
        version = version_of(file)
        if version is not None and version > VERSION:
            raise LedgerError(f"{self.path} is of version {version}, newer than {VERSION}: update privact on this device")
        problem = find_problem(file)
        if problem is None:
            try:
                book, links = read_book(read_rows(file), self.aggregator, self.user)
            except LedgerError as error:
                problem = str(error)
        if problem is not None:
            raise LedgerError(f"{self.path} is damaged ({problem}): {WAY_OUT}")
        marked = self._marked()
        if marked is None and not unmarked:
            raise LedgerError(f"{self.marker}, which tells how far the ledger had come, is gone or damaged: {WAY_OUT}")
        if marked is not None:
            name, entries, head = marked
            if name != book.id or entries > len(links) or links[entries - 1].hex() != head:
                raise LedgerError(f"{self.path} is older than what this device wrote, or another's: {WAY_OUT}")
        return book

    def _marked(self) -> tuple[str, int, str] | None:
        """The id, number of entries and last link that the marker tells; None if it cannot tell."""
        try:
            told = json.loads(self.marker.read_text(encoding="utf-8"))
            name, entries, head = told["ledger"], told["entries"], told["head"]
        except (OSError, ValueError, LookupError, TypeError):
            return None
        return (str(name), entries, str(head)) if type(entries) is int and entries >= 1 else None


def _check_round(round: Round, book: Book, now: float, late: bool, reserve: float) -> None:
    """Refuse a round that breaks a rule or costs more than is left."""
    check_round(round, book.rules, now, late=late, reserve=reserve)
    book.check_series(round)
    book.check_budget(round)


def _note_answer(stored: StoredReport) -> Entry:
    """The entry that keeps a report and charges its round."""
    round = stored.round
    return Entry(
        0, "answered", stored.made, stored.aggregator, stored.user, round.id, repr(round.epsilon), None,
        stored.parameters, stored.report, stored.send_at,
    )  # fmt: skip


def _note_limits(book: Book, rules: Rules) -> list[Entry]:
    """The entry that makes limits stricter, if they become so."""
    stricter = book.rules.tightened(rules)
    if stricter == book.rules:
        return []
    return [Entry(0, "limited", int(time.time()), statement=_json({"rules": vars(stricter)}))]


def _json(facts: dict[str, Any]) -> str:
    return json.dumps(facts, sort_keys=True)


def _decimal(epsilon: float) -> str:
    return "0" if epsilon == 0 else repr(float(epsilon))
