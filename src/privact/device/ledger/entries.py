"""The entries of a ledger: a chain, each entry bound to the one before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from privact.errors import LedgerError
from privact.protocol.report import Report
from privact.protocol.round import Round

__all__ = ["COLUMNS", "WAY_OUT", "Entry", "StoredReport", "check_chain"]

COLUMNS: Final = (
    "number", "kind", "made", "aggregator", "user", "round_id", "epsilon", "statement", "parameters", "report", "send_at", "link",
)  # fmt: skip
"""The fields of an entry, in the order in which a ledger keeps them."""
WAY_OUT: Final = (
    "nobody knows what was spent, so nothing is answered; restore the newest copy of its folder, or begin again with "
    "`privact device join URL --token TOKEN --spent EPSILON`, EPSILON being at least what was spent before"
)
"""What a person can do when a ledger is lost or damaged."""


@dataclass(frozen=True)
class Entry:
    """One line of a ledger; nothing in it ever changes.

    number: from 1, without gaps.
    kind: "begun" (the first), "answered" (a round), "limited" (stricter rules), "lost" (a round that a lost ledger answered),
        "spent" (by a lost ledger), "merged" (another ledger was taken in), "moved" (an aggregator changed its address) or
        "series" (the rounds of a series were agreed on, once for all of them).
    made: when, by the device's clock in UTC seconds. Nothing is decided by it.
    aggregator, user: the aggregator's key and the normalised user id where the entry is about one account, else None.
    round_id: the round that was answered, else None.
    epsilon: what the entry costs, in decimal.
    statement: the rules and other facts, as JSON; else None.
    parameters: canonical bytes of the round; report: the bytes to send; send_at: when, in UTC milliseconds. Else None.
    """

    number: int
    kind: str
    made: int
    aggregator: str | None = None
    user: str | None = None
    round_id: str | None = None
    epsilon: str = "0"
    statement: str | None = None
    parameters: bytes | None = None
    report: bytes | None = None
    send_at: int | None = None

    def link(self, previous: bytes) -> bytes:
        """The digest that binds this entry to all before it."""
        return chain_link((getattr(self, name) for name in COLUMNS[:-1]), previous)


@dataclass(frozen=True)
class StoredReport:
    """The one report of a round.

    aggregator, user: for whom it was made: the aggregator's key and the normalised user id.
    parameters: canonical bytes of the round as it was when it was answered.
    report: the bytes to send, always the same.
    send_at: UTC milliseconds before which they are not sent.
    made: when it was made, UTC seconds by the device's clock.
    """

    aggregator: str
    user: str
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


def chain_link(fields: Iterable[Any], previous: bytes) -> bytes:
    """The link of an entry with these fields after the one with the given link: bytes count by their digest."""
    plain = [hashlib.blake2b(value).hexdigest() if isinstance(value, bytes) else value for value in fields]
    return hashlib.blake2b(previous + json.dumps(plain).encode(), digest_size=32).digest()


def check_chain(
    rows: Iterable[tuple[Any, ...]], first_kind: str, link_of: Callable[[Iterable[Any], bytes], bytes] = chain_link
) -> tuple[list[tuple[Any, ...]], list[bytes]]:
    """The fields of each entry and its link; refused where an entry does not follow from the one before it.

    rows: number, kind, ..., link, in the order of number.
    first_kind: the kind of the first entry, and of no other.
    link_of: from the fields of an entry and the link before it to its own.
    """
    entries: list[tuple[Any, ...]] = []
    links: list[bytes] = []
    for place, (*fields, link) in enumerate(rows, 1):
        follows = fields[0] == place and link == link_of(fields, links[-1] if links else b"")
        if not follows or (fields[1] == first_kind) != (place == 1):
            raise LedgerError(f"entry {place} does not follow from the one before it")
        entries.append(tuple(fields))
        links.append(link)
    return entries, links
