"""privact series: several rounds that share one promise, opened one after the other by the aggregator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from privact.cli.program import make_group
from privact.cli.service.confirm import Yes, asks, confirm, describe_series, describe_stopping
from privact.cli.service.operator import LOCAL_URL, PlainHttp, TokenFile, Url, call, in_path
from privact.cli.text import Json, facts, number, print_json, shown, table

__all__ = ["app"]

app = make_group("Make, watch and stop series, which find communities.")

_Name = Annotated[str, typer.Argument(metavar="NAME", help="The series.", show_default=False)]


@app.callback()
def series() -> None:
    """Make, watch and stop series, which find communities."""


@app.command(epilog="\b\nExample:\n  privact series create autumn --epsilon 4 --rounds 4 --every 7d")
def create(
    name: _Name,
    epsilon: Annotated[
        float, typer.Option(help="The privacy promise per contact over all rounds; smaller is more private.", show_default=False)
    ],
    rounds: Annotated[
        int | None, typer.Option(help="How many rounds share epsilon equally.", show_default="4; 5 from epsilon 4 on")
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Public labels, lines 'user,label', as bins of the first round.", show_default="random bins"
        ),
    ] = None,
    every: Annotated[str, typer.Option(metavar="DURATION", help="How long each round is open.")] = "7d",
    bins: Annotated[int | None, typer.Option(help="How many random bins the first round has.", show_default="8 to 32")] = None,
    joiners: Annotated[str, typer.Option(metavar="DURATION", help="How long after the last round later users may report.")] = "0",
    search_seed: Annotated[int, typer.Option(help="Seed of groups and tree.")] = 0,
    visibility: Annotated[str, typer.Option(help="Who may read the release: public, users or operator.")] = "public",
    yes: Yes = False,
    url: Url = LOCAL_URL,
    token_file: TokenFile = None,
    allow_plain_http: PlainHttp = False,
    json: Json = False,
) -> None:
    """Make a series and open its first round. Everything after that the aggregator does by itself.

    It closes each round in time, infers groups from all reports so far, opens the next round with the groups as bins,
    and releases the tree after the last. At a terminal it says what users are about to spend, and asks.
    """
    from privact.cli.times import seconds
    from privact.errors import AggregatorError, InputError
    from privact.learn.evidence.series.series_length import choose_rounds

    n_rounds = choose_rounds(epsilon) if rounds is None else rounds
    try:
        text = None if labels is None else labels.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {labels}: {(error.strerror or str(error)).lower()}") from None
    wish = {
        "name": name,
        "epsilon": epsilon,
        "rounds": n_rounds,
        "every_seconds": seconds(every, "--every"),
        "n_bins": bins,
        "bins": "random" if labels is None else "labels",
        "joiner_seconds": seconds(joiners, "--joiners"),
        "search_seed": search_seed,
        "visibility": visibility,
    }
    if asks(yes):
        users = call("GET", url, "/v1/users?limit=1", token_file=token_file, allow_plain_http=allow_plain_http)["total"]
        confirm(describe_series(name, epsilon, n_rounds, users))
    call("POST", url, "/v1/series", document=wish, token_file=token_file, allow_plain_http=allow_plain_http)
    try:
        if text is not None:
            call("PUT", url, f"{_path(name)}/labels", text=text, token_file=token_file, allow_plain_http=allow_plain_http)
        opened = call("POST", url, f"{_path(name)}/open", token_file=token_file, allow_plain_http=allow_plain_http)
    except AggregatorError as error:
        labelled = "" if labels is None else f"privact round labels {name}.1 FILE, then "
        raise AggregatorError(f"{error}; the series is a draft, begin it with {labelled}privact round open {name}.1") from None
    _show(opened, json)


@app.command(epilog="\b\nExample:\n  privact series show autumn")
def show(
    name: _Name, url: Url = LOCAL_URL, token_file: TokenFile = None, allow_plain_http: PlainHttp = False, json: Json = False
) -> None:
    """Show one series: its rounds, and the evidence for communities so far."""
    _show(call("GET", url, _path(name), token_file=token_file, allow_plain_http=allow_plain_http), json)


@app.command("list", epilog="\b\nExample:\n  privact series list")
def list_(url: Url = LOCAL_URL, token_file: TokenFile = None, allow_plain_http: PlainHttp = False, json: Json = False) -> None:
    """Show all series, newest first."""
    response = call("GET", url, "/v1/series", token_file=token_file, allow_plain_http=allow_plain_http)
    if json:
        print_json(response)
        return
    rows = [
        [one["name"], one["state"], f"{one['epsilon']:g}", f"{len(one['members'])} of {one['rounds']}", _figure(one["evidence"])]
        for one in response["series"]
    ]
    table(["series", "state", "epsilon", "rounds", "evidence"], rows, right=range(2, 5))


@app.command(epilog="\b\nExample:\n  privact series stop autumn")
def stop(
    name: _Name,
    yes: Yes = False,
    force: Annotated[
        bool, typer.Option("--force", help="Stop it even with too few reports to learn from: the series then fails.")
    ] = False,
    url: Url = LOCAL_URL,
    token_file: TokenFile = None,
    allow_plain_http: PlainHttp = False,
    json: Json = False,
) -> None:
    """Stop a series early. No further round is opened, and the tree is learned from what was reported.

    At a terminal it says what is decided by it, and asks. If no round has enough reports it refuses, unless forced.
    """
    if asks(yes):
        confirm(describe_stopping(call("GET", url, _path(name), token_file=token_file, allow_plain_http=allow_plain_http), force))
    path = f"{_path(name)}/stop" + ("?force=true" if force else "")
    _show(call("POST", url, path, token_file=token_file, allow_plain_http=allow_plain_http), json)


@app.command(epilog="\b\nExample:\n  privact series delete autmun")
def delete(
    name: _Name, url: Url = LOCAL_URL, token_file: TokenFile = None, allow_plain_http: PlainHttp = False, json: Json = False
) -> None:
    """Delete a series that is still a draft. One that was ever open stays."""
    draft = f"/v1/rounds/{in_path(f'{name}.1')}"
    call("DELETE", url, draft, token_file=token_file, allow_plain_http=allow_plain_http)
    if json:
        print_json({"deleted": name})
    else:
        print(f"The draft {shown(name)} is deleted.")


def _path(name: str) -> str:
    return f"/v1/series/{in_path(name)}"


def _show(response: dict[str, Any], json: bool) -> None:
    """Print a series."""
    from privact.cli.times import write_time

    if json:
        print_json(response)
        return
    rows = [
        ("series", response["name"]),
        ("state", response["state"]),
        ("epsilon", f"{response['epsilon']:g} per contact in all, {response['epsilon_per_round']:g} in each round"),
        ("rounds", f"{len(response['members'])} of {response['rounds']}, epsilon {response['asked']:g} asked so far"),
    ]
    if response["evidence"] is not None:
        rows += [
            ("evidence", f"{_figure(response['evidence'])}, threshold {response['evidence']['threshold']:g}"),
            ("finding", response["finding"]),
        ]
    if response["release"] is not None:
        rows.append(("tree", f"released as round {response['release']}"))
    facts((name, shown(value)) for name, value in [*rows, ("privacy", response["privacy"])])
    print()
    lines = [
        [
            one["id"],
            one["state"],
            number(one["reports"]),
            str(one["n_bins"] or "-"),
            write_time(one["closes"]),
            _figure(one["evidence"]),
        ]
        for one in response["members"]
    ]
    table(["round", "state", "reports", "bins", "closes", "evidence"], lines, right=(2, 3, 5))


def _figure(evidence: dict[str, Any] | None) -> str:
    return "-" if evidence is None else f"{evidence['figure']:.1f}"
