"""privact simulate: many devices against one aggregator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privact.cli.service.operator import LOCAL_URL, TokenFile, read_operator_token
from privact.cli.service.rehearse import rehearse_own_network
from privact.cli.text import Json, facts, number, paragraph, print_json
from privact.errors import MissingExtraError, PrivaCTError
from privact.progress import progress_bar

if TYPE_CHECKING:
    from privact.bench.serving.device_load import Simulation

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(
    epilog="\b\nExample:\n  privact simulate --users 2000 --url http://127.0.0.1:8420 --close\n"
    "  privact simulate --users 50000 --concurrency 64 --rate 2000\n"
    "  privact simulate --contacts contacts.tsv --ratings ratings.tsv --labels servers.csv\n"
    "  privact simulate --contacts contacts.tsv --rounds 4 --epsilon 4"
)
def simulate(
    users: Annotated[int | None, typer.Option(help="How many made-up devices.", show_default=False)] = None,
    contacts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own network instead: an edge list.", show_default=False)
    ] = None,
    ratings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --contacts: recommend from these ratings.", show_default=False)
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --contacts: public labels as bins.", show_default=False)
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, max=100, help="With --contacts: rounds that share epsilon.")] = 1,
    url: Annotated[
        str | None,
        typer.Option(
            envvar="PRIVACT_URL", metavar="URL", help="The aggregator.", show_default="none with --contacts, else port 8420 here"
        ),
    ] = None,
    round: Annotated[
        str | None, typer.Option(metavar="ID", help="A draft to open, or a released round to join.", show_default="a new one")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="The promise per contact of a new round.")] = 1.0,
    bins: Annotated[int | None, typer.Option(help="How many random bins.", show_default="floor(ln users)")] = None,
    by_server: Annotated[bool, typer.Option("--by-server", help="Home servers as bins instead of random ones.")] = False,
    close: Annotated[bool, typer.Option("--close", help="Close the round afterwards and wait for its tree.")] = False,
    concurrency: Annotated[int, typer.Option(min=1, max=4096, help="Reports under way at a time.")] = 32,
    rate: Annotated[float | None, typer.Option(help="Most reports a second.", show_default="as fast as it goes")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides the contacts. Names and noise are new each time.")] = 0,
    allow_remote: Annotated[bool, typer.Option("--allow-remote", help="Also load another machine than this one.")] = False,
    token_file: TokenFile = None,
    json: Json = False,
) -> None:
    """Play many devices, or rehearse with your own network.

    With --users a network is made up, its users are enrolled, and each device counts its contacts, draws real noise and sends
    its report. Devices live in memory, without a ledger: this is for measuring an aggregator. Users and round stay there.

    With --contacts your own network is played, in this process or with --url against an aggregator that you try out, and you are
    told what would come out before a single person is asked: how many true contacts are near, communities, and recommendations
    against the most popular items.
    """
    if contacts is not None:
        if users is not None:
            raise PrivaCTError(f"--users {users} and --contacts {contacts}: give one or the other")
        rehearse_own_network(contacts, ratings, labels, rounds, epsilon, seed, url, token_file, allow_remote, json)
        return
    for option, value in (("--ratings", ratings), ("--labels", labels)):
        if value is not None:
            raise PrivaCTError(f"{option} {value} goes with --contacts FILE: made-up networks have their own")
    if rounds > 1:
        raise PrivaCTError(f"--rounds {rounds} goes with --contacts FILE: made-up devices answer one round")
    if users is None:
        raise PrivaCTError("nobody to play: give --users N for made-up devices, or --contacts FILE for your own network")
    url = url or LOCAL_URL
    try:
        from privact.bench.serving.device_load import simulate_round
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "httpx", "device", "a simulation over HTTP") from None
    if rate is not None and not rate > 0:
        raise PrivaCTError(f"--rate {rate:g} is not above 0: give reports a second")
    token = read_operator_token(token_file)
    with progress_bar(quiet=json) as show:
        played = simulate_round(
            url,
            users,
            token,
            epsilon=epsilon,
            n_bins=bins,
            by_server=by_server,
            round_id=round,
            concurrency=concurrency,
            rate=rate,
            close=close,
            seed=seed,
            allow_remote=allow_remote,
            progress=show,
        )
    _report(played, json)
    if played.accepted < played.users:
        missing = played.users - played.accepted
        why = played.load.failure or f"statuses {dict(sorted(played.load.statuses.items()))}"
        raise PrivaCTError(f"{missing} of {played.users} reports were not accepted: {why}")


def _report(played: Simulation, json: bool) -> None:
    """Say what happened."""
    load = played.load
    speed = played.accepted / load.seconds if load.seconds else 0.0
    refused = sum(count for status, count in load.statuses.items() if 400 <= status < 500)
    summary = {
        "round": played.round.id,
        "users": played.users,
        "joined_late": played.late,
        "accepted": played.accepted,
        "refused": refused,
        "failed": played.users - played.accepted - refused,
        "retried": load.retries,
        "statuses": {str(status): count for status, count in sorted(load.statuses.items())},
        "seconds_making": played.making,
        "seconds_sending": load.seconds,
        "reports_per_second": speed,
        "p50_ms": load.percentile(0.50),
        "p99_ms": load.percentile(0.99),
        "seconds_learning": played.learning if played.released else None,
        "state": played.released["state"] if played.released else None,
    }
    if json:
        print_json(summary)
        return
    rows: list[tuple[str, object]] = [
        ("round", f"{played.round.id}, {played.round.n_bins} bins, epsilon {played.round.epsilon:g} per contact"),
        ("devices", f"{number(played.users)}{', which joined late' if played.late else ''}; no ledger, in memory"),
        ("made", f"in {played.making:.1f} s, noise from OpenDP"),
        ("accepted", number(played.accepted)),
        ("retried", f"{number(load.retries)}; refused {number(refused)}"),
        ("speed", f"{number(speed)} reports/s for {load.seconds:.1f} s"),
        ("answer time", f"p50 {summary['p50_ms']:.1f} ms, p99 {summary['p99_ms']:.1f} ms"),
    ]
    if played.released:
        rows.append(("tree", f"released after {played.learning:.1f} s"))
    facts(rows)
    if not played.released and not played.late:
        print()
        paragraph(f"The round is still open. Next: privact round close {played.round.id}")
