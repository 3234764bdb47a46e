"""privact reproduce communities: what trees know about contacts, by their bins and by what users are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privact.cli.files import DataFolder
from privact.cli.reproduce import Seeds, app
from privact.cli.results import Output, finish, folder_name, ready_folder
from privact.cli.text import Json
from privact.progress import progress_bar

Quick = Annotated[bool, typer.Option("--quick", help="Only lastfm at epsilon 1.")]


@app.command(epilog="\b\nExample:\n  privact reproduce communities --data data -o results")
def communities(
    data: DataFolder = None,
    output: Output = Path("results"),
    seeds: Seeds = 3,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Communities: what trees know about contacts, with controls."""
    from privact.experiments.communities import communities

    ready_folder(output)
    with progress_bar(quiet=as_json) as tell:
        found = communities(folder_name(data), output, seeds, quick, tell)
    finish(found, output, as_json)
