"""privact device community, people, discoverable and recommend: what comes back from a round that is over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from privact.cli.device.options import ContactsFormat, HomeFolder, Url, VcardField, home_at
from privact.cli.text import Json, columns, number, paragraph, print_json, table
from privact.errors import PrivaCTError

if TYPE_CHECKING:
    from privact.client.device_client import DeviceClient
    from privact.device.ledger.home import Account

__all__ = ["community", "discoverable", "people", "recommend"]

_MOST = 100  # people whom an aggregator names at once

_R = TypeVar("_R")
_RoundId = Annotated[str | None, typer.Option("--round", metavar="ID", help="The round.", show_default="the newest that is over")]


def community(
    size: Annotated[int, typer.Option(help="About how many people: a small circle, or a large one.")] = 20,
    round: _RoundId = None,
    url: Url = None,
    home: HomeFolder = None,
    json: Json = False,
) -> None:
    """Show the people closest to you.

    Found from everybody's noisy numbers in a round that you answered; nobody's contacts were seen.
    """
    from privact.client.results import read_community

    account, _, (found, sees_whom) = _read(
        home,
        url,
        round,
        lambda aggregator, account, name: (read_community(aggregator, account.user, name, size), _sees_whom(aggregator, name)),
    )
    if json:
        print_json({"round": found.round_id, "user": account.user, "size": found.size, "others": list(found.others)})
        return
    shown = "you among them" if len(found.others) + 1 >= found.size else f"{number(len(found.others))} of them shown"
    paragraph(
        f"Round {found.round_id} is over. These {number(found.size)} people, {shown}, are closest to you, as far as everybody's "
        "noisy numbers can tell. Nobody's contacts were seen."
    )
    if not sees_whom:
        paragraph(
            "One round like this sees how many people everybody knows, not whom: the circle holds people who know about as many "
            "as you."
        )
    if found.others:
        print()
        columns(found.others)


def people(
    k: Annotated[int, typer.Option("-k", min=1, max=_MOST, help="How many people at most.")] = 20,
    contacts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your contacts: they are left out here, and not sent anywhere.", show_default=False),
    ] = None,
    format: ContactsFormat = None,
    field: VcardField = "email",
    round: _RoundId = None,
    url: Url = None,
    home: HomeFolder = None,
    json: Json = False,
) -> None:
    """Show people whom you may know, with reasons.

    Found from everybody's noisy numbers in a round that you answered; only people who want to be found are named. With your
    contacts the same question is asked, and this device leaves them out of the response.
    """
    from privact.client.results import read_people
    from privact.device.contacts.contact_list import check_contacts_file, read_contacts

    if contacts is not None:
        check_contacts_file(contacts, format)
    asked = k if contacts is None else _MOST  # what is asked must not depend on who the contacts are
    account, name, found = _read(home, url, round, lambda aggregator, account, name: read_people(aggregator, name, asked))
    if contacts is not None:
        known = set(read_contacts(contacts, account.user, format=format, field=field).ids)
        found = [person for person in found if person.user not in known][:k]
    if json:
        print_json({"round": name, "user": account.user, "people": [vars(person) for person in found]})
    elif not found:
        print("Nobody can be named yet: nobody whom you may know wants to be found.")
    else:
        table(["you may know", "why"], [[person.user, person.reason] for person in found])


def discoverable(
    yes: Annotated[bool, typer.Option("--yes/--no", help="Whether others may be told about you.", show_default=False)],
    url: Url = None,
    home: HomeFolder = None,
    json: Json = False,
) -> None:
    """Say whether others are told about you as somebody whom they may know.

    It holds for all rounds of the aggregator, from the next list on. You get lists either way.
    """
    from privact.client.device_client import DeviceClient

    account = home_at(home).account(url)
    with DeviceClient(account.address, account.token) as aggregator:
        aggregator.set_discoverable(yes)
    if json:
        print_json({"user": account.user, "discoverable": yes})
    else:
        print("Others may be told about you." if yes else "Nobody is told about you any more.")


def recommend(
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="How many items at most.")] = 10,
    round: _RoundId = None,
    url: Url = None,
    home: HomeFolder = None,
    json: Json = False,
) -> None:
    """Show what suits you, with reasons.

    From ratings that the service has, weighed by the communities of a round that you answered.
    """
    from privact.client.results import read_recommendations

    account, name, items = _read(home, url, round, lambda aggregator, account, name: read_recommendations(aggregator, name, k))
    if json:
        print_json({"round": name, "user": account.user, "items": [vars(item) for item in items]})
    elif not items:
        print("Nothing suits you yet: the service knows too little about what people like.")
    else:
        table(["for you", "why"], [[item.item, item.reason] for item in items])


def _sees_whom(aggregator: DeviceClient, name: str) -> bool:
    """Whether a round tells whom people know: one of a series does, or one over labels. Taken as so where it cannot be asked."""
    try:
        notice = next(notice for notice in aggregator.me().rounds if notice.id == name)
        round = aggregator.round(notice)
    except (PrivaCTError, StopIteration):
        return True
    return round.series is not None or round.bins == "labels"


def _read(
    home: Path | None, url: str | None, round: str | None, read: Callable[[DeviceClient, Account, str], _R]
) -> tuple[Account, str, _R]:
    """Ask the aggregator about a round that is over: whose device this is, which round it was, and what was read."""
    from privact.client.device_client import DeviceClient
    from privact.client.results import find_result_round

    account = home_at(home).account(url)
    with DeviceClient(account.address, account.token) as aggregator:
        name = find_result_round(aggregator, round)
        return account, name, read(aggregator, account, name)
