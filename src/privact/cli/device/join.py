"""privact device join and move: which aggregators a person takes part in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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

__all__ = ["join", "move"]


def join(
    url: Annotated[str, typer.Argument(metavar="URL", help="The aggregator.", show_default=False)],
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
    """Join an aggregator: check the token and begin a ledger.

    The ledger holds one lifetime budget for all aggregators. No time renews it, and later it can only be lowered. It counts the
    epsilon of each answered round, which is the promise per contact over both ends' reports; your own report costs half of it.
    """
    from privact.client.device_client import DeviceClient
    from privact.device.log_checks import check_expected_key
    from privact.protocol.addresses import aggregator_address

    address, expected = aggregator_address(url, allow_plain_http=allow_plain_http), read_key(key)
    secret = read_token(token, token_file)
    with DeviceClient(address, secret) as aggregator:
        me, log = aggregator.me(), aggregator.log()
    check_expected_key(log, expected, address.url)
    answered = {notice.id: notice.digest for notice in me.rounds if notice.answered}
    chosen = chosen_limits(budget, cap, minimum_users)
    account, book = home_at(home).join(address, secret, me.user, chosen=chosen, answered=answered, spent=spent)
    account.log.accept(log, address.url, expected)
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
