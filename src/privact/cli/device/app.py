"""privact device: take part in rounds without showing one's contacts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from privact.cli.device.answer import answer
from privact.cli.device.join import join, move
from privact.cli.device.ledger import limit, show, status
from privact.cli.device.page import page
from privact.cli.device.results import community, discoverable, people, recommend
from privact.cli.device.spelling import PROGRAM, spell_command
from privact.cli.device.verify import verify
from privact.cli.device.watch import watch
from privact.cli.program import Program

__all__ = ["app"]

app = typer.Typer(
    cls=Program,
    help="Take part in rounds without showing your contacts.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
)


@app.callback(invoke_without_command=True)
def device(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False
) -> None:
    """Take part in rounds without showing your contacts."""
    if version:
        from privact import __version__

        print(f"{PROGRAM} {__version__}")
        raise typer.Exit


def _add(command: Callable[..., None], examples: str) -> None:
    """Add a command with examples of its use, one a line."""
    app.command(epilog="\b\nExample:" + "".join(f"\n  {spell_command(line)}" for line in examples.splitlines()))(command)


_add(
    join,
    "privact device join 'https://clusters.example/join#invite-...'\n"
    "privact device join https://clusters.example --token-file token.txt\n"
    "privact device join https://clusters.example --token - --budget 4 < token.txt",
)
_add(move, "privact device move https://old.example https://new.example")
_add(
    answer,
    "privact device answer --contacts following_accounts.csv\n"
    "privact device answer --contacts contacts.vcf --field email --round spring --yes",
)
_add(
    watch,
    "privact device watch --contacts following_accounts.csv\n"
    "privact device watch --contacts following_accounts.csv --unit > ~/.config/systemd/user/privact-device.service",
)
_add(community, "privact device community\nprivact device community --size 50 --round spring")
_add(people, "privact device people -k 10\nprivact device people --contacts following_accounts.csv")
_add(discoverable, "privact device discoverable --no")
_add(recommend, "privact device recommend -k 5")
_add(status, "privact device status\nprivact device status --json")
_add(show, "privact device show --round spring")
_add(limit, "privact device limit --budget 4 --minimum-users 1000")
_add(verify, "privact device verify\nprivact device verify --head 3f5e... --json")
_add(page, "privact device page -o page\nprivact device page --verify https://clusters.example/join")
