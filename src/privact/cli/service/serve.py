"""privact serve: an aggregator in this process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from privact.cli.text import Json

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(
    epilog="\b\nExample:\n  privact serve --data-folder /var/lib/privact\n  privact serve --config privact.toml --port 8420"
)
def serve(
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings in TOML; the environment wins.", envvar="PRIVACT_CONFIG")
    ] = None,
    data_folder: Annotated[Path | None, typer.Option(help="Database and released trees.", show_default="privact-data")] = None,
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="sqlite:///FILE or postgresql://USER@HOST/NAME.", show_default="in the folder"),
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 for any free one.", show_default="8420")] = None,
    minimum_users: Annotated[int | None, typer.Option(help="Fewest users of a round.", show_default="100")] = None,
    allow_plain_http: Annotated[
        bool, typer.Option("--allow-plain-http", help="Listen beyond loopback without TLS: only in a network you trust.")
    ] = False,
    new_operator_token: Annotated[
        bool, typer.Option("--new-operator-token", help="Replace the operator's token; the new one is in the data folder.")
    ] = False,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error.", show_default="info")] = None,
    json: Json = False,
) -> None:
    """Run an aggregator.

    Devices send their reports to it, the operator runs rounds with privact round and privact users. Everything can also be set in
    the environment (PRIVACT_PORT=8420) or in a TOML file (port = 8420). The first start writes the operator's token to
    the file operator-token in the data folder. Ctrl-C or SIGTERM ends it gracefully.
    """
    from privact.errors import MissingExtraError

    try:
        from privact.aggregator.settings import read_settings
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "pydantic", "server", "an aggregator") from None

    settings = read_settings(
        config,
        data_folder=data_folder,
        database=database,
        host=host,
        port=port,
        minimum_users=minimum_users,
        allow_plain_http=allow_plain_http or None,
        log_level=log_level,
    )

    def show_ready(address: str) -> None:
        from privact.cli.text import print_json

        if json:
            print_json({"url": address})
            sys.stdout.flush()
        else:
            print(f"privact: listening on {address} (Ctrl-C stops)", file=sys.stderr, flush=True)

    def show_token(path: Path) -> None:
        print(
            f"privact: the operator's token is in {path}, which only you can read: use --token-file", file=sys.stderr, flush=True
        )

    try:
        from privact.aggregator.server import serve as run
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "fastapi", "server", "an aggregator") from None

    run(settings, new_token=new_operator_token, on_token=show_token, on_ready=show_ready)
