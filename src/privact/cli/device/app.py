"""privact device: take part in rounds without showing one's contacts."""

from __future__ import annotations

import typer

from privact.cli.device.answer import answer
from privact.cli.device.join import join, move
from privact.cli.device.ledger import limit, show, status
from privact.cli.device.page import EPILOG, page
from privact.cli.device.verify import verify

__all__ = ["app"]

app = typer.Typer(
    help="Take part in rounds without showing your contacts.",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.callback()
def device() -> None:
    """Take part in rounds without showing your contacts."""


app.command(
    epilog="\b\nExample:\n  privact device join https://clusters.example --token-file token.txt\n"
    "  privact device join https://clusters.example --token - --budget 4 < token.txt"
)(join)
app.command(epilog="\b\nExample:\n  privact device move https://old.example https://new.example")(move)
app.command(
    epilog="\b\nExample:\n  privact device answer --contacts following_accounts.csv\n"
    "  privact device answer --contacts contacts.vcf --field email --round spring --yes"
)(answer)
app.command(epilog="\b\nExample:\n  privact device status\n  privact device status --json")(status)
app.command(epilog="\b\nExample:\n  privact device show --round spring")(show)
app.command(epilog="\b\nExample:\n  privact device limit --budget 4 --minimum-users 1000")(limit)
app.command(epilog="\b\nExample:\n  privact device verify\n  privact device verify --head 3f5e... --json")(verify)
app.command(epilog=EPILOG)(page)
