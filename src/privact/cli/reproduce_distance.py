"""privact reproduce distance: like ratings and NDCG against distance in the network (section 7.4 and appendix)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privact.cli.files import DataFolder
from privact.cli.reproduce import app
from privact.cli.results import Output, finish, folder_name, ready_folder
from privact.cli.text import Json
from privact.progress import progress_bar

Quick = Annotated[bool, typer.Option("--quick", help="Fewer users, one fold and one seed.")]


@app.command(epilog="\b\nExample:\n  privact reproduce distance --data data -o results")
def distance(data: DataFolder = None, output: Output = Path("results"), quick: Quick = False, as_json: Json = False) -> None:
    """Section 7.4: like ratings and NDCG against distance in the network."""
    from privact.experiments.distance import distance

    ready_folder(output)
    with progress_bar(quiet=as_json) as tell:
        found = distance(folder_name(data), output, quick, tell)
    finish(found, output, as_json)
