"""privact device status, show and limit: what the ledger says and allows."""

from __future__ import annotations

from typing import Annotated

import typer

from privact.cli.device.options import (
    HomeFolder,
    Url,
    chosen_limits,
    home_at,
)
from privact.cli.device.words import (
    budget_of,
    budget_rows,
    print_answers,
)
from privact.cli.text import Json, facts, number, paragraph, print_json

__all__ = ["limit", "show", "status"]


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


def show(
    round: Annotated[str, typer.Option(metavar="ID", help="The answered round.", show_default=False)],
    url: Url = None,
    home: HomeFolder = None,
    json: Json = False,
) -> None:
    """Show the very numbers that were sent for a round.

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
            ("round", f"{round}, {stored.round.n_bins} counts, {number(stored.round.n_users)} users"),
            ("digest", stored.round.digest().hex()),
            ("sent", f"{len(stored.report)} bytes with these noisy counts:"),
            ("", " ".join(map(str, vector))),
        ]
    )
    print()
    paragraph(f"Privacy. {stored.round.privacy_sentence()}")


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
