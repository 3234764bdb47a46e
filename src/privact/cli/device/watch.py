"""privact device watch: a small daemon that answers the rounds of series that were agreed to."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privact.cli.device.options import ContactsFormat, HomeFolder, Url, VcardField, Window, home_at, send_reserve, send_window
from privact.cli.device.spelling import spell_command

if TYPE_CHECKING:
    from privact.device.ledger.home import Account
    from privact.device.watch import Look

__all__ = ["watch"]

_UNIT = """[Unit]
Description=Answer the rounds that {user} agreed to at {url}
After=network-online.target

[Service]
ExecStart={command}
Restart=on-failure
RestartSec=60
NoNewPrivileges=yes
PrivateTmp=yes

[Install]
WantedBy=default.target
"""


def watch(
    contacts: Annotated[Path, typer.Option(metavar="FILE", help="Your contacts, read anew for each round.", show_default=False)],
    every: Annotated[str, typer.Option(metavar="TIME", help="How often to look: 30m, 1h, 1d.")] = "1h",
    format: ContactsFormat = None,
    field: VcardField = "email",
    within: Window = None,
    once: Annotated[bool, typer.Option("--once", help="Look once and end, as for a timer.")] = False,
    unit: Annotated[bool, typer.Option("--unit", help="Print a unit for systemd --user, and do nothing else.")] = False,
    url: Url = None,
    home: HomeFolder = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON for each look instead of text.")] = False,
) -> None:
    """Answer the rounds of a series that you agreed to.

    Looks for rounds for ever and answers those whose series you agreed to with privact device answer; any other round waits for
    you. Prints one line for each thing that happens, never a contact. It can be stopped and killed at any time.
    """
    from privact.cli.times import seconds
    from privact.client.device_client import DeviceClient
    from privact.device import watch as watching
    from privact.device.contacts.contact_list import check_contacts_file, read_contacts
    from privact.errors import InputError

    account, pause = home_at(home).account(url), seconds(every, "--every")
    if pause < 1:
        raise InputError(f"--every {every} is too often: look at most once a second")
    check_contacts_file(contacts, format)
    if unit:
        print(_write_unit(account), end="")
        return
    window, reserve = send_window(within, False, account), send_reserve(account)

    def look() -> Look:
        with DeviceClient(account.address, account.token) as aggregator:
            read = lambda: read_contacts(contacts, account.user, format=format, field=field).ids  # noqa: E731
            return watching.answer_agreed(account, aggregator, read, window=window, reserve=reserve, clock=time.time)

    told: set[str] = set()
    for seen in watching.watch(look, every=pause):
        if as_json:
            print(json.dumps(asdict(seen)), flush=True)
        else:
            _say(account, seen, told)
        if once:
            raise typer.Exit(1 if seen.problem else 0)


def _say(account: Account, seen: Look, told: set[str]) -> None:
    """Print a line for each thing that happened; told: lines about rounds that wait or are refused, which are said once."""
    from privact.cli.text import shown
    from privact.device.ledger.rules import format_epsilon

    lines = [f"cannot look: {seen.problem}"] if seen.problem else []
    for outcome in seen.outcomes:
        reason = f": {outcome.reason}" if outcome.reason else ""
        left = format_epsilon(account.ledger.read().left)
        lines.append(f"round {outcome.round_id}: {outcome.outcome}, epsilon {format_epsilon(outcome.cost)}, {left} left{reason}")
    waiting = [f"round {round_id} waits for you: run `privact device answer`" for round_id in seen.waiting]
    refused = [f"round {round_id} is refused: {reason}" for round_id, reason in seen.refused]
    lines += [line for line in (*waiting, *refused) if line not in told]
    told.update(waiting, refused)
    for line in lines:
        print(shown(spell_command(line)), flush=True)


def _write_unit(account: Account) -> str:
    """A unit of systemd --user that runs this very command, without --unit, from the same home."""
    paths = {"--contacts", "--home"}
    given: list[str] = []
    for argument in sys.argv[1:]:
        name, equals, value = argument.partition("=")
        given += [name, value] if equals and name in paths else [argument] if argument != "--unit" else []
    if "--home" not in given and os.environ.get("PRIVACT_HOME"):  # the unit has other variables than this shell
        given += ["--home", os.environ["PRIVACT_HOME"]]
    absolute = [
        str(Path(argument).resolve()) if before in paths else argument
        for before, argument in zip(["", *given], given, strict=False)
    ]
    command = shlex.join([str(Path(sys.argv[0]).resolve()), *absolute]).replace("%", "%%")
    return _UNIT.format(user=account.user, url=account.address.url, command=command)
