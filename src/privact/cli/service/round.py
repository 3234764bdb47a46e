"""privact round: the rounds of an aggregator, from draft to released tree."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from privact.cli.program import make_group
from privact.cli.service.confirm import Yes, asks, confirm, describe_closing, describe_opening
from privact.cli.service.operator import LOCAL_URL, PlainHttp, TokenFile, Url, call, in_path
from privact.cli.text import Json, facts, number, print_json, shown, table
from privact.learn.evidence.profiles import DEFAULT_PROFILE, ONE_ROUND_PROFILES
from privact.learn.named_choice import describe_choices
from privact.protocol.moments import write_moment

__all__ = ["app"]

app = make_group("Make, open, close and watch the rounds of an aggregator.")

_Id = Annotated[str, typer.Argument(metavar="ID", help="The round.", show_default=False)]


@app.callback()
def round() -> None:
    """Make, open, close and watch the rounds of an aggregator."""


@app.command(epilog="\b\nExample:\n  privact round create spring --epsilon 1 --closes +14d --joiners 30d")
def create(
    id: _Id,
    epsilon: Annotated[float, typer.Option(help="The privacy promise per contact; smaller is more private.", show_default=False)],
    bins: Annotated[int | None, typer.Option(help="How many random bins.", show_default="floor(ln users)")] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Bins are public labels; give them with privact round labels.")
    ] = False,
    opens: Annotated[str | None, typer.Option(metavar="TIME", help="First reports.", show_default="when it is opened")] = None,
    closes: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="No more reports, as 2026-01-31T12:00Z or +14d.", show_default="when it is closed"),
    ] = None,
    joiners: Annotated[str, typer.Option(metavar="DURATION", help="How long after it later users may still report.")] = "0",
    search_seed: Annotated[int, typer.Option(help="Seed of the tree search.")] = 0,
    profile: Annotated[
        str, typer.Option(help=f"How users are compared: {describe_choices(ONE_ROUND_PROFILES)}.")
    ] = DEFAULT_PROFILE,
    visibility: Annotated[str, typer.Option(help="Who may read the release: public, users or operator.")] = "public",
    url: Url = LOCAL_URL,
    token_file: TokenFile = None,
    allow_plain_http: PlainHttp = False,
    json: Json = False,
) -> None:
    """Make a draft of a round. Nobody sees it until privact round open."""
    from privact.cli.times import moment, seconds

    wish = {
        "id": id,
        "epsilon": epsilon,
        "n_bins": bins,
        "bins": "labels" if labels else "random",
        "opens": moment(opens, "--opens"),
        "closes": moment(closes, "--closes"),
        "joiner_seconds": seconds(joiners, "--joiners"),
        "search_seed": search_seed,
        "profile": profile,
        "visibility": visibility,
    }
    _show(call("POST", url, "/v1/rounds", document=wish, token_file=token_file, allow_plain_http=allow_plain_http), json)


@app.command(epilog="\b\nExample:\n  privact round labels spring servers.csv")
def labels(
    id: _Id,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Lines 'user,label'.", show_default=False)],
    url: Url = LOCAL_URL,
    token_file: TokenFile = None,
    allow_plain_http: PlainHttp = False,
    json: Json = False,
) -> None:
    """Give a draft its public labels, which must not come from anyone's contacts."""
    from privact.errors import InputError

    try:
        text = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {file}: {(error.strerror or str(error)).lower()}") from None
    path = f"/v1/rounds/{in_path(id)}/labels"
    _show(call("PUT", url, path, text=text, token_file=token_file, allow_plain_http=allow_plain_http), json)


@app.command(epilog="\b\nExample:\n  privact round delete sprnig")
def delete(
    id: _Id, url: Url = LOCAL_URL, token_file: TokenFile = None, allow_plain_http: PlainHttp = False, json: Json = False
) -> None:
    """Delete a draft with its labels. A round that was ever open stays."""
    call("DELETE", url, f"/v1/rounds/{in_path(id)}", token_file=token_file, allow_plain_http=allow_plain_http)
    if json:
        print_json({"deleted": id})
    else:
        print(f"The draft {shown(id)} is deleted.")


@app.command(name="open", epilog="\b\nExample:\n  privact round open spring")
def open_(
    id: _Id,
    yes: Yes = False,
    url: Url = LOCAL_URL,
    token_file: TokenFile = None,
    allow_plain_http: PlainHttp = False,
    json: Json = False,
) -> None:
    """Open a draft for everyone who is enrolled now. Its parameters are fixed from then on.

    At a terminal it says what users are about to spend, and asks.
    """
    path = f"/v1/rounds/{in_path(id)}"
    if asks(yes):
        draft = call("GET", url, path, token_file=token_file, allow_plain_http=allow_plain_http)
        users = call("GET", url, "/v1/users?limit=1", token_file=token_file, allow_plain_http=allow_plain_http)["total"]
        confirm(describe_opening(draft, users))
    path = f"{path}/open"
    _show(call("POST", url, path, token_file=token_file, allow_plain_http=allow_plain_http), json)


@app.command(epilog="\b\nExample:\n  privact round close spring")
def close(
    id: _Id,
    yes: Yes = False,
    force: Annotated[
        bool, typer.Option("--force", help="Close it even with too few reports to learn from: the round then fails.")
    ] = False,
    url: Url = LOCAL_URL,
    token_file: TokenFile = None,
    allow_plain_http: PlainHttp = False,
    json: Json = False,
) -> None:
    """Close an open round now; its tree is then learned and released by itself.

    At a terminal it says what is decided by it, and asks. With fewer reports than a round needs it refuses, unless forced.
    """
    path = f"/v1/rounds/{in_path(id)}"
    if asks(yes):
        confirm(describe_closing(call("GET", url, path, token_file=token_file, allow_plain_http=allow_plain_http), force))
    path = f"{path}/close" + ("?force=true" if force else "")
    _show(call("POST", url, path, token_file=token_file, allow_plain_http=allow_plain_http), json)


@app.command(epilog="\b\nExample:\n  privact round learn spring")
def learn(
    id: _Id, url: Url = LOCAL_URL, token_file: TokenFile = None, allow_plain_http: PlainHttp = False, json: Json = False
) -> None:
    """Learn a failed round again, from the reports that were accepted."""
    path = f"/v1/rounds/{in_path(id)}/learn"
    _show(call("POST", url, path, token_file=token_file, allow_plain_http=allow_plain_http), json)


@app.command(epilog="\b\nExample:\n  privact round show spring")
def show(
    id: _Id, url: Url = LOCAL_URL, token_file: TokenFile = None, allow_plain_http: PlainHttp = False, json: Json = False
) -> None:
    """Show one round: its state, its parameters and how many have reported."""
    _show(call("GET", url, f"/v1/rounds/{in_path(id)}", token_file=token_file, allow_plain_http=allow_plain_http), json)


@app.command("list", epilog="\b\nExample:\n  privact round list")
def list_(url: Url = LOCAL_URL, token_file: TokenFile = None, allow_plain_http: PlainHttp = False, json: Json = False) -> None:
    """Show all rounds, newest first."""
    from privact.cli.times import write_time

    response = call("GET", url, "/v1/rounds", token_file=token_file, allow_plain_http=allow_plain_http)
    if json:
        print_json(response)
        return
    rows = [
        [
            one["id"],
            one["state"],
            f"{one['epsilon']:g}",
            _count(one["reports"]),
            _count(one["n_users"]),
            write_time(one["closes"]),
        ]
        for one in response["rounds"]
    ]
    table(["round", "state", "epsilon", "reports", "users", "closes"], rows, right=range(2, 5))


def _show(response: dict[str, Any], json: bool) -> None:
    """Print a round."""
    from privact.cli.times import write_time

    if json:
        print_json(response)
        return
    many = "as many as suit the number of users" if response["n_bins"] is None else response["n_bins"]
    late = f", and {response['joiners']:,} late" if response["joiners"] else ""
    rows = [
        ("round", response["id"]),
        ("state", _state(response)),
        ("epsilon", f"{response['epsilon']:g} per contact, {response['epsilon_report']:g} per report"),
        ("bins", f"{many}, {'random' if response['bins'] == 'random' else 'public labels'}"),
        ("reports", f"{response['reports']:,} of {_count(response['n_users'])} users{late}"),
        ("opens", write_time(response["opens"])),
        ("closes", write_time(response["closes"]) if response["closes"] is not None else "when it is closed by hand"),
    ]
    joiners = _tell_joiners(response)
    if joiners:
        rows.append(("late joiners", joiners))
    rows += [
        ("seen by", {"public": "everybody", "users": "enrolled users", "operator": "operators"}[response["visibility"]]),
        ("compared by", response["profile"]),
        ("search seed", response["search_seed"]),
    ]
    if response["privacy"]:
        rows.append(("privacy", response["privacy"]))
    facts((name, shown(value)) for name, value in rows)


def _tell_joiners(response: dict[str, Any]) -> str:
    """Until when users who were enrolled after the opening may report; nothing if there never is a tree that they could join."""
    place = response["series"]
    if response["state"] == "failed" or (place and place["number"] < place["rounds"]):
        return ""
    released = response["state"] == "released"
    begin = "" if released else "once it is released, "
    if response["closes"] is None:
        return f"{begin}without end"
    end = response["closes"] + response["joiner_seconds"]
    if released and end < time.time():
        return f"no more since {write_moment(end)}"
    return f"{begin}until {write_moment(end)}" if released or response["joiner_seconds"] else f"not after {write_moment(end)}"


def _state(response: dict[str, Any]) -> str:
    """The state in words."""
    if response["failure"]:
        return f"failed: {response['failure']}"
    progress = response["progress"]
    if progress:
        return f"learning: {progress['stage']}, {progress['done']:,} of {progress['total']:,}"
    return str(response["state"])


def _count(count: int | None) -> str:
    return "-" if count is None else number(count)
