"""privact device join and move: which aggregators a person takes part in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privact.cli.device.options import (
    Budget,
    Cap,
    HomeFolder,
    MinimumUsers,
    chosen_limits,
    home_at,
    read_key,
    read_token,
)
from privact.cli.device.spelling import spell_command
from privact.cli.device.words import (
    budget_of,
    budget_rows,
)
from privact.cli.text import Json, facts, paragraph, print_json

if TYPE_CHECKING:
    from privact.device.ledger.home import Home
    from privact.protocol.addresses import Address

__all__ = ["join", "move"]


def join(
    url: Annotated[
        str, typer.Argument(metavar="LINK", help="Your invitation's link, in quotes; or an address.", show_default=False)
    ],
    token: Annotated[str | None, typer.Option(help="What the operator gave; - reads it from stdin.", show_default=False)] = None,
    token_file: Annotated[Path | None, typer.Option(metavar="FILE", help="A file with the token.", show_default=False)] = None,
    budget: Budget = None,
    cap: Cap = None,
    minimum_users: MinimumUsers = None,
    spent: Annotated[
        float | None, typer.Option(help="After a ledger was lost: at least what it had spent.", show_default=False)
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="HEX", help="The operator's key, as published; replaces a kept one.", show_default=False),
    ] = None,
    allow_plain_http: Annotated[
        bool, typer.Option("--allow-plain-http", help="Take http:// to another machine, which everyone can read.")
    ] = False,
    home: HomeFolder = None,
    json: Json = False,
) -> None:
    """Join an aggregator with an invitation, and begin a ledger.

    An invitation works once: this device draws a token of its own, and the link is worthless afterwards. Who was given a token
    joins the address of the aggregator with --token-file FILE. LINK - reads the link from stdin.

    The ledger holds one lifetime budget for all aggregators. No time renews it, and later it can only be lowered. It counts the
    epsilon of each answered round, which is the promise per contact over both ends' reports; your own report costs half of it.
    """
    from privact.client.device_client import DeviceClient
    from privact.device.ledger.kept_token import forget_token
    from privact.device.log_checks import check_expected_key

    kept, expected = home_at(home), read_key(key)
    address, secret = _find_token(url, token, token_file, kept, allow_plain_http)
    with DeviceClient(address, secret) as aggregator:
        me, log = aggregator.me(), aggregator.log()
    check_expected_key(log, expected, address.url)
    answered = {notice.id: notice.digest for notice in me.rounds if notice.answered}
    chosen = chosen_limits(budget, cap, minimum_users)
    account, book = kept.join(address, secret, me.user, chosen=chosen, answered=answered, spent=spent)
    account.log.accept(log, address.url, expected)
    forget_token(kept.path)
    signed = None if log is None else log.public_key.hex()
    if json:
        ledger = str(account.ledger.path)
        print_json({"url": address.url, "user": account.user, **budget_of(book), "ledger": ledger, "log_key": signed})
        return
    facts(
        [
            ("joined", f"{address.url} as {account.user}"),
            *budget_rows(book),
            ("ledger", account.ledger.path),
            ("log key", signed or "none: this aggregator keeps no signed log of its rounds"),
        ]
    )
    print()
    next_command = spell_command("privact device answer --contacts FILE")
    paragraph(f"Keep the ledger: without it nobody knows what was spent, and this device answers no more. Next: {next_command}")


def _find_token(link: str, token: str | None, file: Path | None, home: Home, allow_plain_http: bool) -> tuple[Address, str]:
    """Where to join, and the token: the one that was given, or one that an invitation is exchanged for."""
    from privact.client.joining import accept_invitation
    from privact.device.ledger.kept_token import keep_token
    from privact.errors import InputError
    from privact.protocol.addresses import aggregator_address
    from privact.protocol.invitation_links import is_invitation_code, read_invitation

    if link == "-":
        link = sys.stdin.readline().strip()
    if "#" not in link:
        if token is None and file is None:
            raise InputError(
                "this is no invitation, whose link has a # in it: copy it whole and in quotes, or add --token-file FILE"
            )
        return aggregator_address(link, allow_plain_http=allow_plain_http), read_token(token, file)
    if token is not None or file is not None:
        raise InputError("an invitation needs no token: leave --token and --token-file out")
    address, secret = read_invitation(link, allow_plain_http=allow_plain_http)
    if is_invitation_code(secret):
        code, secret = secret, keep_token(home.path, secret)
        accept_invitation(address, code, secret)
    return address, secret


def move(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The address that was joined.", show_default=False)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Where the aggregator is now.", show_default=False)],
    allow_plain_http: Annotated[
        bool, typer.Option("--allow-plain-http", help="Take http:// to another machine, which everyone can read.")
    ] = False,
    home: HomeFolder = None,
    json: Json = False,
) -> None:
    """Follow an aggregator to a new address, and keep the ledger.

    The new address must know your token and continue the log of rounds that this device saw.
    """
    from privact.client.device_client import DeviceClient
    from privact.device.log_checks import check_same_aggregator
    from privact.protocol.addresses import aggregator_address

    kept = home_at(home)
    account, address = kept.account(old), aggregator_address(new, allow_plain_http=allow_plain_http)
    with DeviceClient(address, account.token) as aggregator:
        check_same_aggregator(account, aggregator)
    moved = kept.move(account, address)
    book = moved.ledger.read()
    if json:
        print_json({"url": address.url, "user": moved.user, **budget_of(book)})
    else:
        facts([("moved", f"{account.address.url} to {address.url}"), ("user", moved.user), *budget_rows(book)])
