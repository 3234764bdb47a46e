"""privact operators: who operates an aggregator, and what they did."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from privact.cli.program import make_group
from privact.cli.service.operator import LOCAL_URL, PlainHttp, TokenFile, Url, call, in_path
from privact.cli.text import Json, print_json, shown, table

__all__ = ["app"]

app = make_group("Give operators tokens, and see what they did.")

_AT_ONCE = 1000
_Name = Annotated[str, typer.Argument(metavar="NAME", help="The operator.", show_default=False)]


@app.callback()
def operators() -> None:
    """Give operators tokens, and see what they did."""


@app.command(epilog="\b\nExample:\n  privact operators add night-shift --scope read --scope rounds --expires +90d")
def add(
    name: _Name,
    scope: Annotated[list[str], typer.Option(help="read, rounds, users or operators; may be repeated.", show_default=False)],
    expires: Annotated[str | None, typer.Option(metavar="TIME", help="When it ends, as +90d.", show_default="never")] = None,
    url: Url = LOCAL_URL,
    token_file: TokenFile = None,
    allow_plain_http: PlainHttp = False,
    json: Json = False,
) -> None:
    """Give somebody a token, shown this once."""
    from privact.cli.times import moment

    document = {"name": name, "scopes": scope, "expires_at": moment(expires, "--expires")}
    response = call("POST", url, "/v1/operators", document=document, token_file=token_file, allow_plain_http=allow_plain_http)
    if json:
        print_json(response)
    else:
        print(response["token"])


@app.command("list", epilog="\b\nExample:\n  privact operators list")
def list_(url: Url = LOCAL_URL, token_file: TokenFile = None, allow_plain_http: PlainHttp = False, json: Json = False) -> None:
    """Show who operates, with which scopes and until when."""
    from privact.cli.times import write_time

    response = call("GET", url, "/v1/operators", token_file=token_file, allow_plain_http=allow_plain_http)
    if json:
        print_json(response)
        return
    rows = [
        (shown(one["name"]), ", ".join(one["scopes"]), "never" if one["expires_at"] is None else write_time(one["expires_at"]))
        for one in response["operators"]
    ]
    table(("operator", "scopes", "expires"), rows)


@app.command(epilog="\b\nExample:\n  privact operators remove night-shift")
def remove(
    name: _Name, url: Url = LOCAL_URL, token_file: TokenFile = None, allow_plain_http: PlainHttp = False, json: Json = False
) -> None:
    """Make an operator's token worthless."""
    call("DELETE", url, f"/v1/operators/{in_path(name)}", token_file=token_file, allow_plain_http=allow_plain_http)
    if json:
        print_json({"removed": name})
    else:
        print(f"{shown(name)} is removed.")


@app.command(epilog="\b\nExample:\n  privact operators log")
def log(
    limit: Annotated[int, typer.Option(help="Maximum number of actions.")] = 100,
    url: Url = LOCAL_URL,
    token_file: TokenFile = None,
    allow_plain_http: PlainHttp = False,
    json: Json = False,
) -> None:
    """Show what operators did, newest first."""
    from privact.cli.times import write_time

    actions: list[dict[str, Any]] = []
    path = f"/v1/operators/actions?limit={min(limit, _AT_ONCE)}"
    after: int | None = -1
    while after is not None and len(actions) < limit:
        page = call("GET", url, path, token_file=token_file, allow_plain_http=allow_plain_http)
        actions += page["actions"]
        after = page["next"]
        path = f"/v1/operators/actions?limit={_AT_ONCE}&before={after}"
    actions = actions[:limit]
    if json:
        print_json({"actions": actions})
        return
    rows = [
        (write_time(one["at"]), shown(one["operator"]), one["action"], shown(one["subject"]), str(one["status"]))
        for one in actions
    ]
    table(("time", "operator", "action", "about", "status"), rows)
