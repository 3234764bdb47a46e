"""privact device verify: whether everybody is shown the same rounds."""

from __future__ import annotations

from typing import Annotated

import typer

from privact.cli.device.options import (
    HomeFolder,
    Url,
    home_at,
    read_key,
)
from privact.cli.text import Json, facts, number, print_json

__all__ = ["verify"]


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
            ("log", f"{_several(found.rounds)}, each signed, continuing what this device saw before"),
            ("answered", f"{_several(found.answered)} from here, each in the log"),
            ("head", found.head.hex()),
        ]
    )


def _several(rounds: int) -> str:
    return "1 round" if rounds == 1 else f"{number(rounds)} rounds"
