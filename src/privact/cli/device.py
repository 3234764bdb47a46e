"""privact device: take part in rounds without showing one's contacts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privact.cli import device_page
from privact.cli.device_options import (
    Budget,
    Cap,
    HomeFolder,
    MinimumUsers,
    Url,
    chosen_limits,
    home_at,
    read_digest,
    read_key,
    read_token,
    send_reserve,
    send_window,
)
from privact.cli.device_words import (
    budget_of,
    budget_rows,
    choose_rounds,
    finish,
    patient_sleep,
    print_answers,
    require_terminal,
    say_contacts,
    say_plan,
)
from privact.cli.text import Json, facts, number, paragraph, print_json

__all__ = ["app"]

app = typer.Typer(
    help="Take part in rounds without showing your contacts.",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.callback()
def device() -> None:
    """Take part in rounds without showing your contacts."""


@app.command(
    epilog="\b\nExample:\n  privact device join https://clusters.example --token-file token.txt\n"
    "  privact device join https://clusters.example --token - --budget 4 < token.txt"
)
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
    paragraph(
        "Keep the ledger: without it nobody knows what was spent, and this device answers no more. "
        "Next: privact device answer --contacts FILE"
    )


@app.command(epilog="\b\nExample:\n  privact device move https://old.example https://new.example")
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


@app.command(epilog="\b\nExample:\n  privact device verify\n  privact device verify --head 3f5e... --json")
def verify(
    head: Annotated[
        str | None, typer.Option(metavar="HEX", help="A head that someone else saw, to compare.", show_default=False)
    ] = None,
    url: Url = None,
    home: HomeFolder = None,
    json: Json = False,
) -> None:
    """Check that everybody is shown the same rounds.

    Fetches the aggregator's log of rounds, checks its signatures, that it continues from what this device saw before, and that
    every round answered from here is in it. Compare the head with others: equal heads mean equal rounds.
    """
    from privact.client.device_client import DeviceClient
    from privact.device.log_checks import verify_log

    account = home_at(home).account(url)
    with DeviceClient(account.address, account.token) as aggregator:
        found = verify_log(account, aggregator, read_key(head, "--head"))
    if json:
        print_json({"url": account.address.url, **found.as_dict()})
        return
    facts(
        [
            ("aggregator", account.address.url),
            ("key", found.key.hex()),
            ("log", f"{number(found.rounds)} rounds, each signed, continuing what this device saw before"),
            ("answered", f"{number(found.answered)} rounds from here, each in the log"),
            ("head", found.head.hex()),
        ]
    )


@app.command(
    epilog="\b\nExample:\n  privact device answer --contacts following_accounts.csv\n"
    "  privact device answer --contacts contacts.vcf --field email --round spring --yes"
)
def answer(
    contacts: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Your contacts: ids, a Mastodon export, or vCards.", show_default=False),
    ],
    round: Annotated[str | None, typer.Option(metavar="ID", help="Only this round.", show_default="all that are open")] = None,
    digest: Annotated[
        str | None, typer.Option(metavar="HEX", help="Refuse --round unless it has this digest.", show_default=False)
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Name of its format, such as vcard.", show_default="found out from the file")
    ] = None,
    field: Annotated[str, typer.Option(help="Which property of a vCard is the id: email, tel, impp, social, ...")] = "email",
    within: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Send at a random time within so many seconds.", show_default="600; 2 on loopback"),
    ] = None,
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
    from privact.errors import RefusedError

    if not (yes or dry_run):
        require_terminal()
    account = home_at(home).account(url)
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
            say_contacts(found)
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


@app.command(epilog="\b\nExample:\n  privact device status\n  privact device status --json")
def status(url: Url = None, home: HomeFolder = None, json: Json = False) -> None:
    """Say what was spent, what is left, and what was answered.

    Reads the ledger and asks nobody.
    """
    kept = home_at(home)
    accounts = kept.accounts() if url is None else [kept.account(url)]
    documents = []
    for place, account in enumerate(accounts or [kept.account()]):
        book, deliveries = account.ledger.read(), account.ledger.deliveries()
        rows = [
            {"round": name, "epsilon": stored.round.epsilon, "made": stored.made,
             "outcome": deliveries.get(name, ("stored, not sent yet", 0))[0]}
            for name, stored in book.answers.items()
        ]  # fmt: skip
        documents.append({"url": account.address.url, "user": account.user, **budget_of(book), "answers": rows})
        if not json:
            if place:
                print()
            facts([("aggregator", account.address.url), ("user", account.user), *budget_rows(book)])
            print_answers(book, rows)
    if json:
        print_json({"accounts": documents})


@app.command(epilog="\b\nExample:\n  privact device show --round spring")
def show(
    round: Annotated[str, typer.Option(metavar="ID", help="The answered round.", show_default=False)],
    url: Url = None,
    home: HomeFolder = None,
    json: Json = False,
) -> None:
    """Show the very vector that was sent for a round.

    It is all that ever left this device about your contacts in that round.
    """
    from privact.errors import InputError

    account = home_at(home).account(url)
    book = account.ledger.read()
    stored = book.answers.get(round)
    if stored is None:
        known = f"answered were {', '.join(list(book.answers)[-5:])}" if book.answers else "none was answered yet"
        raise InputError(f"round {round!r} was not answered from this device: {known}")
    vector = list(stored.vector)
    if json:
        print_json({
            "round": round, "digest": stored.round.digest().hex(), "vector": vector, "bytes": stored.report.hex(),
            "epsilon": stored.round.epsilon, "privacy": stored.round.privacy_sentence(),
        })  # fmt: skip
        return
    facts(
        [
            ("round", f"{round}, {stored.round.n_bins} bins, {number(stored.round.n_users)} users"),
            ("digest", stored.round.digest().hex()),
            ("sent", f"{len(stored.report)} bytes with these noisy counts:"),
            ("", " ".join(map(str, vector))),
        ]
    )
    print()
    paragraph(f"Privacy. {stored.round.privacy_sentence()}")


@app.command(epilog="\b\nExample:\n  privact device limit --budget 4 --minimum-users 1000")
def limit(
    budget: Annotated[float | None, typer.Option(help="A lower lifetime budget.", show_default=False)] = None,
    cap: Annotated[float | None, typer.Option(help="A smaller largest epsilon of a round.", show_default=False)] = None,
    minimum_users: Annotated[int | None, typer.Option(help="More users of a round.", show_default=False)] = None,
    url: Url = None,
    home: HomeFolder = None,
    json: Json = False,
) -> None:
    """Make the limits stricter, for ever."""
    from dataclasses import replace

    from privact.errors import InputError

    chosen = chosen_limits(budget, cap, minimum_users)
    if not chosen:
        raise InputError("nothing to limit: give --budget, --cap or --minimum-users")
    account = home_at(home).account(url)
    rules = account.ledger.read().rules
    wanted = replace(rules, **chosen)
    rules.must_tighten(wanted)
    book = account.ledger.restrict(wanted)
    if json:
        print_json({"url": account.address.url, "user": account.user, **budget_of(book)})
    else:
        facts([("aggregator", account.address.url), ("user", account.user), *budget_rows(book)])


app.command(epilog=device_page.EPILOG)(device_page.page)
