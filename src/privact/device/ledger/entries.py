"""What a ledger says: a chain of entries, each bound to the one before it -> what was allowed, spent and answered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from privact.device.ledger.rules import Rules, amount, in_words
from privact.errors import LedgerError, PrivaCTError, RefusedError
from privact.protocol.report import Report
from privact.protocol.round import Round

__all__ = ["COLUMNS", "Book", "Entry", "StoredReport", "read_book"]

COLUMNS: Final = ("number", "kind", "made", "round_id", "epsilon", "statement", "parameters", "report", "send_at", "link")
"""The fields of an entry, in the order in which a ledger keeps them."""


@dataclass(frozen=True)
class Entry:
    """One line of a ledger; nothing in it ever changes.

    number: from 1, without gaps.
    kind: "joined" (the first), "answered" (a round), "limited" (stricter rules) or "lost" (a round that a lost ledger answered).
    made: when, by the device's clock in UTC seconds. Nothing is decided by it.
    round_id: the round that was answered, else None.
    epsilon: what the entry costs, in decimal.
    statement: the rules, and at the beginning whose ledger this is, as JSON; else None.
    parameters: canonical bytes of the round; report: the bytes to send; send_at: when, in UTC milliseconds. Else None.
    """

    number: int
    kind: str
    made: int
    round_id: str | None = None
    epsilon: str = "0"
    statement: str | None = None
    parameters: bytes | None = None
    report: bytes | None = None
    send_at: int | None = None

    def link(self, previous: bytes) -> bytes:
        """The digest that binds this entry to all before it."""
        fields = (getattr(self, name) for name in COLUMNS[:-1])
        plain = [value.hex() if isinstance(value, bytes) else value for value in fields]
        return hashlib.blake2b(previous + json.dumps(plain).encode(), digest_size=32).digest()


@dataclass(frozen=True)
class StoredReport:
    """The one answer to a round.

    parameters: canonical bytes of the round as it was when it was answered.
    report: the bytes to send, always the same.
    send_at: UTC milliseconds before which they are not sent.
    made: when it was made, UTC seconds by the device's clock.
    """

    parameters: bytes
    report: bytes
    send_at: int
    made: int

    @property
    def round(self) -> Round:
        """The round as it was when it was answered."""
        return Round.from_bytes(self.parameters)

    @property
    def vector(self) -> tuple[int, ...]:
        """The noisy counts that the report holds."""
        return Report.from_bytes(self.report).vector


@dataclass(frozen=True)
class Book:
    """Everything that a ledger says.

    id: 32 hexadecimal digits drawn when the ledger was made.
    aggregator, user: whose ledger this is: the aggregator's key and the normalised user id.
    rules: the limits that hold now.
    spent: the sum of all epsilons, exactly.
    answers: the stored report of each round, by round id, in the order they were made.
    lost: rounds that an earlier, lost ledger answered.
    n_entries, head: how many entries there are, and the link of the last.
    """

    id: str
    aggregator: str
    user: str
    rules: Rules
    spent: Fraction
    answers: dict[str, StoredReport]
    lost: frozenset[str]
    n_entries: int
    head: bytes

    @property
    def left(self) -> Fraction:
        """What may still be spent; 0 if the budget was lowered below what was spent before."""
        return max(Fraction(0), amount(self.rules.budget) - self.spent)

    def stored(self, round: Round) -> StoredReport | None:
        """The answer to this round if there is one; refused if the round of this name was another one when it was answered."""
        if round.id in self.lost:
            raise RefusedError(f"round {round.id} was answered from a ledger that was lost since: it is not answered again")
        found = self.answers.get(round.id)
        if found is not None and found.parameters != round.to_bytes():
            raise RefusedError(
                f"round {round.id} was changed after it was answered: its digest was {found.round.digest().hex()[:16]}... and is "
                f"{round.digest().hex()[:16]}... now: it is not answered again, tell the operator"
            )
        return found

    def check_budget(self, round: Round) -> None:
        """Refuse a round that costs more than is left."""
        if amount(round.epsilon) > self.left:
            raise RefusedError(
                f"round {round.id} costs epsilon {in_words(round.epsilon)} but only {in_words(self.left)} of the lifetime budget "
                f"{in_words(self.rules.budget)} is left, which no time renews: not answered"
            )


def read_book(rows: Iterable[tuple[Any, ...]]) -> tuple[Book, list[bytes]]:
    """Check a chain of entries from the first to the last; any that does not follow from the one before it is refused.

    rows: the columns of COLUMNS, in the order of number.

    Returns what the entries say, and the link of each.
    """
    links: list[bytes] = []
    begin: dict[str, Any] = {}
    rules, spent, answers, lost = Rules(), Fraction(0), dict[str, StoredReport](), set[str]()
    try:
        for place, (*fields, link) in enumerate(rows, 1):
            entry = Entry(*fields)
            follows = entry.number == place and link == entry.link(links[-1] if links else b"")
            if not follows or (entry.kind == "joined") != (place == 1):
                raise LedgerError(f"entry {place} does not follow from the one before it")
            links.append(link)
            spent += Fraction(entry.epsilon)
            if entry.statement is not None:
                said = json.loads(entry.statement)
                limits = Rules(**said.pop("rules"))
                begin, rules = (said, limits) if place == 1 else (begin, rules.tightened(limits))
            if entry.kind == "answered":
                stored = StoredReport(entry.parameters or b"", entry.report or b"", int(entry.send_at or 0), entry.made)
                answers[str(entry.round_id)] = stored
            elif entry.kind == "lost":
                lost.add(str(entry.round_id))
        book = Book(
            begin["id"], begin["aggregator"], begin["user"], rules, spent, answers, frozenset(lost), len(links), links[-1]
        )
    except (LookupError, TypeError, ValueError, PrivaCTError) as error:
        reason = str(error) if isinstance(error, LedgerError) else "an entry cannot be read"
        raise LedgerError(reason) from None
    return book, links
