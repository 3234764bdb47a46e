"""Where a device keeps what it must remember: one ledger for all aggregators, and a private folder with an account for each."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from privact.device.ledger.book import Book
from privact.device.ledger.entries import WAY_OUT
from privact.device.ledger.kept_log import KeptLog
from privact.device.ledger.ledger import Ledger
from privact.device.ledger.merging import ACCOUNT, LEDGER, MARKER, MERGED, merge_first_ledgers, set_files_aside
from privact.device.ledger.rules import Rules
from privact.errors import InputError, LedgerError
from privact.protocol.addresses import Address, aggregator_address
from privact.protocol.users import normalise_user_id, user_digest
from privact.storage import clear_drafts, make_private_folder, write_privately

__all__ = ["Account", "Home", "default_home"]

_LOG: Final = "round_log.json"


def default_home() -> Path:
    """PRIVACT_HOME, or else the folder where programs of this platform keep a user's data."""
    from platformdirs import user_data_path

    if os.environ.get("PRIVACT_HOME"):
        return Path(os.environ["PRIVACT_HOME"])
    found = user_data_path("privact", appauthor=False)
    earlier = {  # where the first version looked; a home that is there stays in use
        "darwin": Path.home() / "Library" / "Application Support" / "privact",
        "win32": Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "privact",
    }.get(sys.platform, found)
    return earlier if earlier.exists() and not found.exists() else found


@dataclass(frozen=True)
class Account:
    """A user at one aggregator.

    address: where the aggregator is.
    user: the normalised user id.
    token: the secret that the operator gave; never shown.
    ledger: what was spent and answered, seen from this account.
    log: what is remembered of the aggregator's log of rounds.
    """

    address: Address
    user: str
    token: str
    ledger: Ledger
    log: KeptLog

    def __repr__(self) -> str:
        return f"Account({self.address.url!r}, {self.user!r})"


class Home:
    """The folder of one person's device.

    path: the folder; made when an aggregator is joined.
    ledger: the class of its ledger; tests put one in that fails.
    """

    def __init__(self, path: str | Path, ledger: type[Ledger] = Ledger) -> None:
        self.path = Path(path)
        self._ledger_class = ledger

    def accounts(self) -> list[Account]:
        """Every joined aggregator's account."""
        self._merge_first_ledgers()
        return [self._read(file) for file in sorted(self.path.glob(f"*/{ACCOUNT}"))]

    def account(self, url: str | None = None) -> Account:
        """The account at one aggregator.

        url: the aggregator; may be left out where only one was joined.
        """
        if url is not None:
            file = self._folder(aggregator_address(url, allow_plain_http=True)) / ACCOUNT
            if not file.is_file():
                raise InputError(f"{url} was not joined from {self.path}: run `privact device join LINK` with your invitation")
            self._merge_first_ledgers()
            return self._read(file)
        accounts = self.accounts()
        if not accounts:
            raise InputError(f"no aggregator was joined from {self.path}: run `privact device join LINK` with your invitation")
        if len(accounts) > 1:
            raise InputError(f"{len(accounts)} aggregators were joined: choose one with --url {accounts[0].address.url}")
        return accounts[0]

    def join(
        self,
        address: Address,
        token: str,
        user: str,
        *,
        chosen: Mapping[str, Any] | None = None,
        answered: Mapping[str, bytes] | None = None,
        spent: float | None = None,
    ) -> tuple[Account, Book]:
        """Keep an account; the home's ledger is begun unless there is one.

        address, token, user: as the aggregator confirmed them.
        chosen: limits by their name in Rules; the others have their defaults. A ledger that is there only takes stricter ones.
        answered: digest by id of the rounds that the aggregator has reports to from this user.
        spent: what was spent elsewhere, by a ledger that was lost or on another device; a damaged ledger is set aside.
        """
        if spent is not None and not 0 <= spent < math.inf:
            raise InputError(f"--spent is {spent!r}; it must be a finite number of at least 0: say what was spent before")
        folder, user = self._folder(address), normalise_user_id(user)
        ledger = self._ledger(address.key, user)
        self._merge_first_ledgers(set_aside=None if spent is None else folder)
        known = any(path.exists() for path in ledger.files()) or any(self.path.glob(f"*/{ACCOUNT}"))
        elsewhere = dict(answered or {})
        if known and spent is not None and not self._is_sound(ledger):
            set_files_aside(ledger.files())
            known = False
        if known:
            self._refuse_other_user(folder, user)
            book = self._complete(ledger)
            elsewhere = {round_id: digest for round_id, digest in elsewhere.items() if not book.knows(round_id, digest)}
            if not elsewhere and spent is not None:
                raise InputError(f"the ledger of {user} is sound and knows what was spent: join without --spent")
        if elsewhere and spent is None and not (folder / ACCOUNT).exists():
            raise LedgerError(
                f"{address.url} has answers of {user} to {len(elsewhere)} rounds, such as {min(elsewhere)}, not given from "
                f"{self.path}: use the folder they were given from (--home), or say what was spent there with --spent EPSILON"
            )
        make_private_folder(self.path)
        make_private_folder(folder)
        clear_drafts(ledger.path)
        if known:
            wanted = replace(book.rules, **(chosen or {}))
            book.rules.must_tighten(wanted)
            book = ledger.restrict(wanted)
            if spent is not None:
                book = ledger.add_lost(spent, elsewhere)
        else:
            book = ledger.create(Rules(**(chosen or {})), spent=spent or 0.0, lost=elsewhere)
        self._write_account(folder, address, user, token, ledger)
        return Account(address, user, token, ledger, KeptLog(folder / _LOG)), book

    def move(self, account: Account, address: Address) -> Account:
        """The account of an aggregator that changed its address; the ledger and the kept head of its log stay.

        account: at the old address.
        address: the new one, not joined yet.
        """
        folder, old_folder = self._folder(address), self._folder(account.address)
        if (folder / ACCOUNT).exists():
            raise InputError(
                f"{address.url} was joined already: its rounds are charged to the same ledger, nothing is to be moved"
            )
        make_private_folder(folder)
        log, moved = KeptLog(folder / _LOG), self._ledger(address.key, account.user)
        if (head := account.log.read()) is not None:
            log.keep(head)
        moved.move(account.address.key)
        self._write_account(folder, address, account.user, account.token, moved)
        for name in (ACCOUNT, _LOG):
            (old_folder / name).unlink(missing_ok=True)
        return Account(address, account.user, account.token, moved, log)

    def _complete(self, ledger: Ledger) -> Book:
        """A ledger that is there; if joining was cut short right after it was begun, its marker is still to be written."""
        begun = ledger.path.exists() and not ledger.marker.exists() and not any(self.path.glob(f"*/{ACCOUNT}"))
        return ledger.mark() if begun else ledger.read()

    def _is_sound(self, ledger: Ledger) -> bool:
        try:
            self._complete(ledger)
        except LedgerError:
            return False
        return True

    def _refuse_other_user(self, folder: Path, user: str) -> None:
        """A folder belongs to one user for ever."""
        try:
            other = self._read(folder / ACCOUNT)
        except (InputError, LedgerError):  # missing, or damaged and about to be mended
            return
        if other.user != user:
            raise InputError(
                f"{folder} belongs to {other.user} at {other.address.key}, not to {user}: choose another folder with --home"
            )

    def _merge_first_ledgers(self, set_aside: Path | None = None) -> None:
        """Take ledgers of single addresses into the one of this home; set_aside names a folder whose ledger may be damaged."""
        merge_first_ledgers(self.path, self._ledger, set_aside)

    def _folder(self, address: Address) -> Path:
        return self.path / address.folder_name

    def _ledger(self, key: str, user: str) -> Ledger:
        """The one ledger, seen from the account of a user at the aggregator with a key."""
        return self._ledger_class(self.path / LEDGER, self.path / MARKER, key, user)

    def _write_account(self, folder: Path, address: Address, user: str, token: str, ledger: Ledger) -> None:
        account = {"version": 2, "url": address.url, "user": user, "token": token}
        write_privately(folder / ACCOUNT, json.dumps(account).encode(), ledger.reached)

    def _read(self, file: Path) -> Account:
        try:
            kept = json.loads(file.read_text(encoding="utf-8"))
            address = aggregator_address(kept["url"], allow_plain_http=True)
            user, token = normalise_user_id(kept["user"]), str(kept["token"])
            if not token.startswith(user_digest(user).hex()):
                raise ValueError
        except OSError as error:
            raise InputError(f"cannot read {file}: {(error.strerror or str(error)).lower()}") from None
        except (ValueError, LookupError, TypeError):
            raise InputError(f"{file} is damaged: run `privact device join URL --token TOKEN` again; the ledger stays") from None
        if kept.get("version") == 1 and not file.with_name(f"{LEDGER}{MERGED}").exists():
            raise LedgerError(f"{file.with_name(LEDGER)} is gone: {WAY_OUT}")
        return Account(address, user, token, self._ledger(address.key, user), KeptLog(file.with_name(_LOG)))
