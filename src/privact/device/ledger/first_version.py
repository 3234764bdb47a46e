"""Ledgers of the first version, one for each address, read so that the one ledger of a home can take them in."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from privact.device.ledger.entries import WAY_OUT, StoredReport, check_chain
from privact.device.ledger.rules import Rules
from privact.errors import LedgerError, PrivaCTError

__all__ = ["FirstLedger", "read_first_ledger"]

_APPLICATION: Final = 0x50434C47  # "PCLG"
_SELECT: Final = (
    "SELECT number, kind, made, round_id, epsilon, statement, parameters, report, send_at, link FROM entries ORDER BY number"
)


@dataclass(frozen=True)
class FirstLedger:
    """What a ledger of the first version says.

    id, aggregator, user: which ledger it is, and whose.
    rules: its limits.
    spent_before: what a ledger that was lost before it had spent, in decimal.
    answers: every stored report. lost: rounds that the lost ledger had answered.
    """

    id: str
    aggregator: str
    user: str
    rules: Rules
    spent_before: str
    answers: tuple[StoredReport, ...]
    lost: tuple[str, ...]


def read_first_ledger(path: Path, marker: Path, *, unmarked: bool = False) -> FirstLedger:
    """Read a ledger of the first version; one that is lost, damaged, or older than its marker is refused.

    path, marker: its two files.
    unmarked: take it without its marker, as a kill leaves it right after it was begun.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as file:
            version = file.execute("PRAGMA user_version").fetchone()[0]
            application = file.execute("PRAGMA application_id").fetchone()[0]
            if (application, version) != (_APPLICATION, 1) or file.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
                raise LedgerError("it is not a ledger of privact")
            entries, links = check_chain(file.execute(_SELECT), "joined", _link)
        if not unmarked:
            told = json.loads(marker.read_text(encoding="utf-8"))
            if links[told["entries"] - 1].hex() != told["head"]:
                raise LedgerError("it is older than what this device wrote")
        return _first_ledger(entries)
    except (sqlite3.Error, OSError, ValueError, LookupError, TypeError, PrivaCTError) as error:
        reason = str(error) if isinstance(error, (LedgerError, sqlite3.Error)) else "it cannot be read"
        raise LedgerError(f"{path} is lost or damaged ({reason}): {WAY_OUT}") from None


def _link(fields: Iterable[Any], previous: bytes) -> bytes:
    """The link of an entry as the first version computed it."""
    plain = [value.hex() if isinstance(value, bytes) else value for value in fields]
    return hashlib.blake2b(previous + json.dumps(plain).encode(), digest_size=32).digest()


def _first_ledger(entries: list[tuple[Any, ...]]) -> FirstLedger:
    """What checked entries say."""
    begin = json.loads(entries[0][5])
    key, user, rules = begin["aggregator"], begin["user"], Rules(**begin["rules"])
    answers, lost = [], []
    for _, kind, made, round_id, _, statement, parameters, report, send_at in entries[1:]:
        if kind == "limited":
            rules = rules.tightened(Rules(**json.loads(statement)["rules"]))
        elif kind == "answered":
            answers.append(StoredReport(key, user, parameters, report, send_at, made))
        elif kind == "lost":
            lost.append(round_id)
    return FirstLedger(begin["id"], key, user, rules, entries[0][4], tuple(answers), tuple(lost))
