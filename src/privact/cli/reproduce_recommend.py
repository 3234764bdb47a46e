"""privact reproduce table3, table4, table5: the paper's recommendations (section 7 and appendix)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privact.cli.files import DataFolder
from privact.cli.reproduce import app
from privact.cli.results import Output, finish, folder_name, ready_folder
from privact.cli.text import Json
from privact.progress import progress_bar

Quick = Annotated[bool, typer.Option("--quick", help="A look at everything in a minute or two: fewer folds, seeds and users.")]


@app.command(epilog="\b\nExample:\n  privact reproduce table3 --data data -o results")
def table3(data: DataFolder = None, output: Output = Path("results"), quick: Quick = False, as_json: Json = False) -> None:
    """Table 3: recommendations for users without ratings.

    Finished parts are kept in DIR/cells, so that it goes on where it was after Ctrl-C.
    """
    from privact.experiments.table3 import table_3

    ready_folder(output)
    with progress_bar(quiet=as_json) as tell:
        found = table_3(folder_name(data), output, quick, tell)
    finish(found, output, as_json)


@app.command(epilog="\b\nExample:\n  privact reproduce table4 --data data -o results")
def table4(data: DataFolder = None, output: Output = Path("results"), quick: Quick = False, as_json: Json = False) -> None:
    """Table 4: recommendations for users with ratings.

    Finished parts are kept in DIR/cells, so that it goes on where it was after Ctrl-C.
    """
    from privact.experiments.existing import table_4

    ready_folder(output)
    with progress_bar(quiet=as_json) as tell:
        found = table_4(folder_name(data), output, quick, tell)
    finish(found, output, as_json)


@app.command(epilog="\b\nExample:\n  privact reproduce table5 --data data -o results")
def table5(data: DataFolder = None, output: Output = Path("results"), quick: Quick = False, as_json: Json = False) -> None:
    """Table 5: like ratings against distance in the network.

    Finished parts are kept in DIR/cells, so that it goes on where it was after Ctrl-C.
    """
    from privact.experiments.table5 import table_5

    ready_folder(output)
    with progress_bar(quiet=as_json) as tell:
        found = table_5(folder_name(data), output, quick, tell)
    finish(found, output, as_json)
