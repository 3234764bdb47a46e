"""Where a device keeps what it must remember: one private folder per aggregator, with an account and a ledger."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from privact.device.ledger.entries import Book
from privact.device.ledger.ledger import Ledger
from privact.device.ledger.rules import Rules, amount, in_words
from privact.errors import InputError, LedgerError
from privact.protocol.addresses import Address, aggregator_address
from privact.protocol.users import normalise_user_id, user_digest
from privact.storage import clear_drafts, make_private_folder, write_privately

__all__ = ["Account", "Home", "default_home"]

_ACCOUNT: Final = "account.json"
_LEDGER: Final = "ledger.sqlite3"
_MARKER: Final = "ledger.marker.json"


def default_home(environment: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """PRIVACT_HOME, or else the folder where programs of this platform keep a user's data."""
    known = os.environ if environment is None else environment
    if known.get("PRIVACT_HOME"):
        return Path(known["PRIVACT_HOME"])
    if platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "privact"
    if platform == "win32":
        return Path(known.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "privact"
    return Path(known.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "privact"


@dataclass(frozen=True)
class Account:
    """A user at one aggregator.

    address: where the aggregator is.
    user: the normalised user id.
    token: the secret that the operator gave; never shown.
    ledger: what was spent and answered there.
    """

    address: Address
    user: str
    token: str
    ledger: Ledger

    def __repr__(self) -> str:
        return f"Account({self.address.url!r}, {self.user!r})"


class Home:
    """The folder of one person's device.

    path: the folder; made when an aggregator is joined.
    ledger: the class of its ledgers; tests put one in that fails.
    """

    def __init__(self, path: str | Path, ledger: type[Ledger] = Ledger) -> None:
        self.path = Path(path)
        self._ledger = ledger

    def accounts(self) -> list[Account]:
        """Every joined aggregator's account."""
        return [self._read(file) for file in sorted(self.path.glob(f"*/{_ACCOUNT}"))]

    def account(self, url: str | None = None) -> Account:
        """The account at one aggregator.

        url: the aggregator; may be left out where only one was joined.
        """
        if url is not None:
            file = self._folder(aggregator_address(url, allow_plain_http=True)) / _ACCOUNT
            if not file.is_file():
                raise InputError(f"{url} was not joined from {self.path}: run `privact device join {url} --token TOKEN`")
            return self._read(file)
        accounts = self.accounts()
        if not accounts:
            raise InputError(f"no aggregator was joined from {self.path}: run `privact device join URL --token TOKEN`")
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
        answered: Iterable[str] = (),
        spent: float | None = None,
    ) -> tuple[Account, Book]:
        """Keep an account; its ledger is begun unless there is one.

        address, token, user: as the aggregator confirmed them.
        chosen: limits by their name in Rules; the others have their defaults. A ledger that is there only takes stricter ones.
        answered: rounds that the aggregator has answers to from this user.
        spent: what was spent from a ledger that was lost; a damaged or outdated one is set aside and a new one begun.
        """
        folder = self._folder(address)
        ledger = self._ledger(folder / _LEDGER, folder / _MARKER)
        known = any(path.exists() for path in (*ledger.files(), folder / _ACCOUNT))
        lost = set(answered)
        if spent is not None and not 0 <= spent < math.inf:
            raise InputError(f"--spent is {spent!r}; it must be a finite number of at least 0: say what was spent before")
        if not known and spent is None and lost:
            raise LedgerError(
                f"{address.url} has answers of {user} to {len(lost)} rounds, such as {min(lost)}, not given from {self.path}: "
                "use the folder they were given from (--home), or say what was spent there with --spent EPSILON"
            )
        make_private_folder(self.path)
        make_private_folder(folder)
        clear_drafts(ledger.path)
        if known and spent is None:
            book = self._complete(ledger, folder)
            if (book.aggregator, book.user) != (address.key, normalise_user_id(user)):
                raise InputError(
                    f"{folder} belongs to {book.user} at {book.aggregator}, not to {user}: choose another folder with --home"
                )
            wanted = replace(book.rules, **(chosen or {}))
            book.rules.must_tighten(wanted)
            book = ledger.restrict(wanted)
        else:
            rules = Rules(**(chosen or {}))
            if known:
                lost |= self._set_aside(ledger, lost, spent or 0.0)
            book = ledger.create(address.key, normalise_user_id(user), rules, spent=spent or 0.0, lost=lost)
        account = {"version": 1, "url": address.url, "user": book.user, "token": token}
        write_privately(folder / _ACCOUNT, json.dumps(account).encode(), ledger.reached)
        return Account(address, book.user, token, ledger), book

    def _complete(self, ledger: Ledger, folder: Path) -> Book:
        """A ledger that is there; if joining was cut short right after it was begun, its marker is still to be written."""
        begun = ledger.path.exists() and not ledger.marker.exists() and not (folder / _ACCOUNT).exists()
        return ledger.mark() if begun else ledger.read()

    def _set_aside(self, ledger: Ledger, answered: set[str], spent: float) -> set[str]:
        """Move a damaged or outdated ledger away, and tell the rounds that it knew; one that is sound stays.

        answered: the rounds that the aggregator has answers to. A ledger that does not know them all is outdated.
        spent: what the person says was spent, which must be at least what the outdated ledger knows of.
        """
        rounds: set[str] = set()
        with suppress(LedgerError):
            book = ledger.read()
            rounds = {*book.answers, *book.lost}
            if answered <= rounds:
                raise InputError(f"the ledger of {book.user} is sound and knows what was spent: join without --spent")
            if amount(spent) < book.spent:
                raise InputError(f"--spent {in_words(spent)} is less than the {in_words(book.spent)} in the ledger: say more")
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        for path in ledger.files():
            if path.exists():
                path.rename(path.with_name(f"{path.name}.lost-{stamp}"))
        return rounds

    def _folder(self, address: Address) -> Path:
        return self.path / address.folder_name

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
        return Account(address, user, token, self._ledger(file.with_name(_LEDGER), file.with_name(_MARKER)))
