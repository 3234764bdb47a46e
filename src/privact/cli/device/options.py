"""What privact device is told: options that its commands share, and where tokens, digests and windows come from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from privact.device.ledger.home import Account, Home

__all__ = [
    "Budget",
    "Cap",
    "ContactsFormat",
    "HomeFolder",
    "MinimumUsers",
    "Url",
    "VcardField",
    "Window",
    "chosen_limits",
    "home_at",
    "read_digest",
    "read_key",
    "read_token",
    "send_reserve",
    "send_window",
]

HomeFolder = Annotated[
    Path | None,
    typer.Option("--home", metavar="DIR", help="Where the device keeps its ledger; else PRIVACT_HOME.", show_default=False),
]
Url = Annotated[str | None, typer.Option("--url", help="The aggregator, if several were joined.", show_default=False)]
ContactsFormat = Annotated[
    str | None, typer.Option("--format", help="Name of its format, such as vcard.", show_default="found out from the file")
]
VcardField = Annotated[str, typer.Option("--field", help="Which property of a vCard is the id: email, tel, impp, social, ...")]
Window = Annotated[
    float | None,
    typer.Option(
        "--within", metavar="SECONDS", help="Send at a random time within this window.", show_default="600; 2 on loopback"
    ),
]
Budget = Annotated[
    float | None, typer.Option(help="Most that all rounds together may ever spend per contact.", show_default="10")
]
Cap = Annotated[float | None, typer.Option(help="Largest epsilon of a single round.", show_default="2")]
MinimumUsers = Annotated[int | None, typer.Option(help="Fewest users of a round.", show_default="100")]


def home_at(folder: Path | None) -> Home:
    """The device's folder, or the default one."""
    from privact.device.ledger.home import Home, default_home

    return Home(default_home() if folder is None else folder)


def chosen_limits(budget: float | None, cap: float | None, minimum_users: int | None) -> dict[str, Any]:
    """The limits that the person chose."""
    limits = {"budget": budget, "cap": cap, "minimum_users": minimum_users}
    return {name: value for name, value in limits.items() if value is not None}


def read_token(token: str | None, file: Path | None) -> str:
    """The token from where the person says it is."""
    from privact.errors import InputError

    if (token is None) == (file is None):
        raise InputError("give the token with --token TOKEN, --token - (stdin) or --token-file FILE: one of them")
    if file is not None:
        try:
            token = file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read {file}: {(getattr(error, 'strerror', None) or 'not text').lower()}") from None
    elif token == "-":
        token = sys.stdin.readline()
    assert token is not None
    return token.strip()


def read_digest(text: str | None, round: str | None) -> bytes | None:
    """The digest that a person expects the one round to have."""
    from privact.errors import InputError

    if text is None:
        return None
    if round is None:
        raise InputError("--digest belongs to one round: name it with --round ID")
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise InputError(f"--digest {text} is not hexadecimal: copy it from where the round was published") from None


def read_key(text: str | None, option: str = "--key") -> bytes | None:
    """A public key or a head of a log, 32 bytes in hexadecimal, as somebody published it."""
    from privact.errors import InputError

    try:
        found = None if text is None else bytes.fromhex(text)
    except ValueError:
        found = b""
    if found is not None and len(found) != 32:
        raise InputError(f"{option} {text} is not 64 hexadecimal digits: copy it from where it was published")
    return found


def send_reserve(account: Account) -> float:
    """How many seconds before the close are kept for sending."""
    from privact.device.slots import LOOPBACK_RESERVE, RESERVE

    return LOOPBACK_RESERVE if account.address.loopback else RESERVE


def send_window(within: float | None, now: bool, account: Account) -> float:
    """Over how many seconds reports are spread."""
    from privact.device.slots import LOOPBACK_WINDOW, WINDOW
    from privact.errors import InputError

    if within is not None and now:
        raise InputError(f"--within {within:g} and --now exclude each other: drop one")
    if within is not None and not 0 <= within <= 86400:
        raise InputError(f"--within {within:g} is not from 0 to 86400 seconds: choose for example 600")
    if now or within is not None:
        return within or 0.0
    return LOOPBACK_WINDOW if account.address.loopback else WINDOW
