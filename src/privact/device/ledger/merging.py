"""Homes of the first version had a ledger for each address: they are merged into the one ledger of the home."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from privact.device.ledger.first_version import FirstLedger, read_first_ledger
from privact.device.ledger.ledger import Ledger
from privact.errors import LedgerError

__all__ = ["ACCOUNT", "LEDGER", "MARKER", "MERGED", "merge_first_ledgers", "set_files_aside"]

ACCOUNT: Final = "account.json"
"""File of an account, in the folder of its aggregator."""
LEDGER: Final = "ledger.sqlite3"
"""File of a ledger: of the home, or in the first version of each aggregator's folder."""
MARKER: Final = "ledger.marker.json"
"""File of a ledger's marker, beside it."""
MERGED: Final = ".merged"
"""What is added to the names of ledgers that were merged."""


def merge_first_ledgers(home: Path, ledger_of: Callable[[str, str], Ledger], set_aside: Path | None = None) -> None:
    """Take the ledgers of single addresses, as the first version kept them, into the one ledger of a home.

    home: the folder of the home.
    ledger_of: the home's ledger, seen from the account with an aggregator's key and a user.
    set_aside: a folder whose ledger may be damaged: the person says what was spent.
    """
    for folder, first in _first_ledgers(home, set_aside):
        ledger = ledger_of(first.aggregator, first.user)
        if not any(path.exists() for path in ledger.files()):
            ledger.create(first.rules)
        elif not ledger.marker.exists():
            ledger.mark()
        ledger.merge(first)
        for name in (MARKER, LEDGER):
            if (folder / name).exists():
                (folder / name).rename(folder / f"{name}{MERGED}")


def set_files_aside(files: Iterable[Path]) -> None:
    """Rename the files of a lost or damaged ledger, so that nothing is deleted."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    for path in files:
        if path.exists():
            path.rename(path.with_name(f"{path.name}.lost-{stamp}"))


def _first_ledgers(home: Path, set_aside: Path | None) -> Iterator[tuple[Path, FirstLedger]]:
    """Each folder with a ledger of its own, and what it says; refused if one is lost or damaged."""
    for folder in sorted({path.parent for name in (LEDGER, MARKER) for path in home.glob(f"*/{name}")}):
        path, marker = folder / LEDGER, folder / MARKER
        if (folder / f"{MARKER}{MERGED}").exists() and not marker.exists():  # killed between two renames
            path.rename(folder / f"{LEDGER}{MERGED}")
            continue
        begun = not marker.exists() and not (folder / ACCOUNT).exists()
        try:
            yield folder, read_first_ledger(path, marker, unmarked=begun)
        except LedgerError:
            if folder != set_aside:
                raise
            set_files_aside((path, marker, folder / f"{LEDGER}-journal"))
