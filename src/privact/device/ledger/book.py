"""What a ledger says: checked entries -> what was allowed, spent and answered, seen from one account."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from privact.device.ledger.entries import Entry, StoredReport, check_chain
from privact.device.ledger.rules import Rules, amount, format_epsilon
from privact.errors import LedgerError, PrivaCTError, RefusedError
from privact.protocol.report import Report, report_length
from privact.protocol.round import Round
from privact.protocol.round_series import Series
from privact.protocol.users import user_digest

__all__ = ["MOST_ANSWERS", "MOST_BYTES", "Book", "read_book"]

MOST_ANSWERS: Final = 10_000
"""Rounds that one ledger answers at most: whatever rounds an aggregator makes up, the ledger stays quick to read."""
MOST_BYTES: Final = 2**24
"""Bytes of all stored reports together at most."""


@dataclass(frozen=True)
class Book:
    """Everything that a ledger says, seen from one account.

    id: 32 hexadecimal digits drawn when the ledger was made.
    aggregator, user: the account: the aggregator's key and the normalised user id.
    rules: the limits that hold now, over all aggregators.
    spent: the sum of all epsilons, exactly, over all aggregators.
    everywhere: every stored report, in the order they were made.
    lost_everywhere: (aggregator, round id) of rounds that earlier, lost ledgers answered.
    merged: ids of the ledgers that were taken in.
    agreed_everywhere: by (aggregator, name), the series that were agreed on, once for all their rounds.
    n_entries, head: how many entries there are, and the link of the last.
    """

    id: str
    aggregator: str
    user: str
    rules: Rules
    spent: Fraction
    everywhere: tuple[StoredReport, ...]
    lost_everywhere: frozenset[tuple[str, str]]
    merged: frozenset[str]
    agreed_everywhere: Mapping[tuple[str, str], Series]
    n_entries: int
    head: bytes

    @cached_property
    def answers(self) -> dict[str, StoredReport]:
        """The stored report of each round at this account's aggregator, by round id, in the order they were made."""
        return {stored.round.id: stored for stored in self.everywhere if stored.aggregator == self.aggregator}

    @property
    def lost(self) -> frozenset[str]:
        """Rounds of this account's aggregator that an earlier, lost ledger answered."""
        return frozenset(round_id for aggregator, round_id in self.lost_everywhere if aggregator == self.aggregator)

    @property
    def agreed(self) -> dict[str, Series]:
        """The series at this account's aggregator that were agreed on, by name."""
        return {name: series for (aggregator, name), series in self.agreed_everywhere.items() if aggregator == self.aggregator}

    @property
    def left(self) -> Fraction:
        """What may still be spent; 0 if the budget was lowered below what was spent before."""
        return max(Fraction(0), amount(self.rules.budget) - self.spent)

    def knows(self, round_id: str, digest: bytes) -> bool:
        """Whether a round was answered from this ledger, at any address, or from one that was lost since."""
        return round_id in self.lost or round_id in self.answers or digest in self._digests

    @cached_property
    def _digests(self) -> frozenset[bytes]:
        return frozenset(stored.round.digest() for stored in self.everywhere)

    def stored(self, round: Round) -> StoredReport | None:
        """The report of this round if there is one; refused if another draw of noise would tell more than the budget allows.

        The same round at another address gets the same bytes. Refused are: a round of the same name that was another one when it
        was answered; the same round asked of another user; another round over the same seed and bins.
        """
        if round.id in self.lost:
            raise RefusedError(f"round {round.id} was answered from a ledger that was lost since: it is not answered again")
        parameters, source = round.to_bytes(), round.seed or round.labels_digest
        same = [stored for stored in self.everywhere if stored.parameters == parameters]
        for stored in sorted(same, key=lambda each: each.aggregator != self.aggregator):
            if Report.from_bytes(stored.report).user == user_digest(self.user):
                return stored
        if same:
            raise RefusedError(
                f"round {round.id} was answered as {same[0].user} at {same[0].aggregator}: not answered as {self.user}"
            )
        for stored in self.everywhere:
            if stored.aggregator == self.aggregator and (before := stored.round).id == round.id:
                raise RefusedError(
                    f"round {round.id} was changed after it was answered: its digest was {before.digest().hex()[:16]}... and is "
                    f"{round.digest().hex()[:16]}... now: it is not answered again, tell the operator"
                )
            if source in stored.parameters and _bins_of(stored.round) == _bins_of(round):
                raise RefusedError(
                    f"round {round.id} has the seed and bins of round {stored.round.id}, answered at {stored.aggregator}: "
                    "it is not answered with other noise, tell the operator"
                )
        return None

    def check_budget(self, round: Round) -> None:
        """Refuse a round that costs more than is left, or whose report the ledger has no room for."""
        if amount(round.epsilon) > self.left:
            raise RefusedError(
                f"round {round.id} costs epsilon {format_epsilon(round.epsilon)} but only {format_epsilon(self.left)} of the "
                f"lifetime budget {format_epsilon(self.rules.budget)} is left, which no time renews: not answered"
            )
        kept = sum(len(stored.report) for stored in self.everywhere)
        if len(self.everywhere) >= MOST_ANSWERS or kept + report_length(round.n_bins) > MOST_BYTES:
            raise RefusedError(
                f"round {round.id} has {round.n_bins:,} bins, but the ledger holds {len(self.everywhere):,} reports of {kept:,} "
                f"bytes and takes at most {MOST_ANSWERS:,} of {MOST_BYTES:,} bytes together: not answered"
            )

    def check_series(self, round: Round) -> None:
        """Refuse a round of a series that is not as agreed on, or a series whose remaining rounds cost more than is left."""
        if round.series is None:
            return
        agreed = self.agreed.get(round.series.name)
        if agreed is not None and agreed != round.series:
            raise RefusedError(
                f"series {agreed.name} was agreed on with {_in_words(agreed)}, and round {round.id} says "
                f"{_in_words(round.series)}: not answered, tell the operator"
            )
        most = round.series.most_from(round.series_number)
        if agreed is None and most > self.left:
            raise RefusedError(
                f"series {round.series.name} costs up to epsilon {format_epsilon(most)} from round {round.id} on, but only "
                f"{format_epsilon(self.left)} of the lifetime budget {format_epsilon(self.rules.budget)} is left: not answered"
            )


def _in_words(series: Series) -> str:
    return f"{series.rounds} rounds and epsilon {format_epsilon(series.epsilon)} in all"


def _bins_of(round: Round) -> tuple[bytes, int]:
    return round.seed or round.labels_digest, round.n_bins


@dataclass
class _Reading:
    """A ledger as far as it was read."""

    rules: Rules = field(default_factory=Rules)
    spent: Fraction = Fraction(0)
    answers: list[StoredReport] = field(default_factory=list)
    lost: set[tuple[str, str]] = field(default_factory=set)
    merged: set[str] = field(default_factory=set)
    agreed: dict[tuple[str, str], Series] = field(default_factory=dict)

    def take(self, entry: Entry, facts: dict[str, Any]) -> None:
        """Read one entry more."""
        self.spent += Fraction(entry.epsilon)
        if "rules" in facts:
            limits = Rules(**facts["rules"])
            self.rules = limits if entry.kind == "begun" else self.rules.tightened(limits)
        if entry.kind == "answered":
            key, user = str(entry.aggregator), str(entry.user)
            stored = (entry.parameters or b"", entry.report or b"", int(entry.send_at or 0), entry.made)
            self.answers.append(StoredReport(key, user, *stored))
        elif entry.kind == "lost":
            self.lost.add((str(entry.aggregator), str(entry.round_id)))
        elif entry.kind == "merged":
            self.merged.add(facts["ledger"])
        elif entry.kind == "series":
            agreed = Series(facts["series"], facts["rounds"], facts["epsilon"])
            self.agreed.setdefault((str(entry.aggregator), agreed.name), agreed)
        elif entry.kind == "moved":
            old, new = facts["from"], facts["to"]
            self.answers = [replace(each, aggregator=new) if each.aggregator == old else each for each in self.answers]
            self.lost = {(new if key == old else key, round_id) for key, round_id in self.lost}
            self.agreed = {(new if key == old else key, name): series for (key, name), series in self.agreed.items()}


def read_book(rows: Iterable[tuple[Any, ...]], aggregator: str, user: str) -> tuple[Book, list[bytes]]:
    """Check a chain of entries from the first to the last; any that does not follow from the one before it is refused.

    rows: the columns of COLUMNS, in the order of number.
    aggregator, user: the account from which the ledger is looked at.

    Returns what the entries say, and the link of each.
    """
    reading = _Reading()
    try:
        entries, links = check_chain(rows, "begun")
        statements = [json.loads(fields[7]) if fields[7] is not None else {} for fields in entries]
        for fields, facts in zip(entries, statements, strict=True):
            reading.take(Entry(*fields), facts)
        book = Book(
            statements[0]["id"], aggregator, user, reading.rules, reading.spent, tuple(reading.answers),
            frozenset(reading.lost), frozenset(reading.merged), reading.agreed, len(links), links[-1],
        )  # fmt: skip
    except (LookupError, TypeError, ValueError, PrivaCTError) as error:
        reason = str(error) if isinstance(error, LedgerError) else "an entry cannot be read"
        raise LedgerError(reason) from None
    return book, links
