"""privact device answer: answer open rounds, each once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privact.cli.device.options import (
    ContactsFormat,
    HomeFolder,
    Url,
    VcardField,
    Window,
    home_at,
    read_digest,
    send_reserve,
    send_window,
)
from privact.cli.device.words import (
    choose_rounds,
    finish,
    patient_sleep,
    require_terminal,
    say_contacts,
    say_plan,
)
from privact.cli.text import Json

__all__ = ["answer"]


def answer(
    contacts: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="Your contacts: ids, a Mastodon export, vCards, or Matrix account data.", show_default=False
        ),
    ],
    round: Annotated[str | None, typer.Option(metavar="ID", help="Only this round.", show_default="all that are open")] = None,
    digest: Annotated[
        str | None, typer.Option(metavar="HEX", help="Refuse --round unless it has this digest.", show_default=False)
    ] = None,
    format: ContactsFormat = None,
    field: VcardField = "email",
    within: Window = None,
    now: Annotated[bool, typer.Option("--now", help="Send at once: for tests, since the time then tells something.")] = False,
    later: Annotated[bool, typer.Option("--later", help="Only store the reports; the next call sends them.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be answered and what it costs.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed where no person sits at a terminal.")] = False,
    url: Url = None,
    home: HomeFolder = None,
    json: Json = False,
) -> None:
    """Answer the rounds that may be answered, each once and for ever.

    Counts of contacts per bin get exact noise here, are charged to the ledger and stored, and only then sent. Asking again, or
    after a crash, sends the same bytes. Nothing else about a contact leaves this device.
    """
    import time

    asked = time.time()  # before anything is read: slots count from here

    from privact.client.device_client import DeviceClient
    from privact.device.answer import Outcome, draw_slots, make_reports, propose, send_reports
    from privact.device.contacts.contact_list import check_contacts_file, read_contacts
    from privact.errors import InputError, RefusedError

    account = home_at(home).account(url)
    if not (yes or dry_run or account.ledger.read().agreed):  # a series that was agreed on needs no further question
        require_terminal()
    window, reserve = send_window(within, now, account), send_reserve(account)
    check_contacts_file(contacts, format)
    with DeviceClient(account.address, account.token) as aggregator:
        expected = read_digest(digest, round)
        proposals = propose(account, aggregator, only=round, digest=expected, reserve=reserve, clock=time.time)
        if round is not None and proposals[0].refusal:
            raise RefusedError(proposals[0].refusal)
        proposals = draw_slots(proposals, asked=asked, window=window, reserve=reserve)
        # Everything that the network can see is decided: only now are contacts read.
        found = read_contacts(contacts, account.user, format=format, field=field)
        if not json:
            say_plan(account, proposals)
            say_contacts(found, named=not yes)
        if found.skipped and not found.ids and not (yes or dry_run):  # with --yes it must not depend on contacts what is sent
            raise InputError(f"{contacts} is not a contact list: {found.skipped[0].place}: {found.skipped[0].reason}")
        outcomes: list[Outcome] = []
        if not dry_run:
            chosen = proposals if yes else choose_rounds(proposals)
            made, outcomes = make_reports(account, chosen, found.ids, reserve=reserve, clock=time.time)
            if later:
                outcomes += [
                    Outcome(stored.round.id, "waiting", "stored; the next `privact device answer` sends it", proposal.cost)
                    for proposal, stored in made
                ]
            else:
                outcomes += send_reports(account, aggregator, made, window=window, clock=time.time, sleep=patient_sleep)
    finish(account, found, proposals, outcomes, json)
