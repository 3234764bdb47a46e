"""The command `privact`: what it does, and which commands it has. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

from typing import Annotated

import typer

from privact.cli import demo
from privact.cli.group import Commands
from privact.cli.trees import convert, learn, quality, query

__all__ = ["app", "main"]

app = typer.Typer(
    name="privact",
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nExample:\n  privact demo\n  privact learn contacts.tsv --epsilon 1 -o tree.hct\n"
    "  privact nearest tree.hct ada -m 10",
)


@app.callback(invoke_without_command=True)
def privact(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False
) -> None:
    """Communities of a social network, learned without its contacts.

    Every device sends one noisy report; a hierarchical cluster tree comes out.
    """
    if version:
        from privact import __version__

        print(f"privact {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())
    else:
        return
    raise typer.Exit


for group in (learn, query, quality, convert, demo):
    app.add_typer(group.app)


def main() -> None:
    """Run the command line."""
    app()
