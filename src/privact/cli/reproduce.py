"""privact reproduce: tables and figures of the paper, paper beside ours, with a verdict per claim."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privact.cli.files import DataFolder
from privact.cli.results import Output, finish, folder_name, ready_folder
from privact.cli.text import Json
from privact.progress import progress_bar

app = typer.Typer(
    help="Reproduce the paper: its numbers beside ours.", add_completion=False, rich_markup_mode=None, no_args_is_help=True
)

Seeds = Annotated[int, typer.Option(min=1, help="Runs of each cell.")]


@app.callback()
def reproduce() -> None:
    """Reproduce the paper: its numbers beside ours, as JSON, Markdown and a picture."""


@app.command(epilog="\b\nExample:\n  privact reproduce table1 --data data -o results")
def table1(data: DataFolder = None, output: Output = Path("results"), as_json: Json = False) -> None:
    """Table 1: the sizes of the three networks."""
    from privact.experiments.table1 import table_1

    with progress_bar(quiet=as_json) as show:
        found = table_1(folder_name(data), lambda text: show(text, 0, 0))
    finish(found, output, as_json)


@app.command(epilog="\b\nExample:\n  privact reproduce table2 --data data -o results")
def table2(data: DataFolder = None, output: Output = Path("results"), seeds: Seeds = 5, as_json: Json = False) -> None:
    """Table 2: relative utility of the trees, and what noise costs."""
    from privact.experiments.table2 import reproduce_table_2

    with progress_bar(quiet=as_json) as show:
        found = reproduce_table_2(folder_name(data), seeds, lambda text: show(text, 0, 0))
    finish(found, output, as_json)


@app.command(epilog="\b\nExample:\n  privact reproduce figure5 --data data -o results")
def figure5(
    data: DataFolder = None,
    output: Output = Path("results"),
    seeds: Seeds = 3,
    sweeps: Annotated[int, typer.Option(min=1, help="Length of the chains; a sweep is n proposed swaps.")] = 400,
    as_json: Json = False,
) -> None:
    """The MCMC figure: log C_M along the chains of PrivaCT and of the centralized CMN-DP."""
    from privact.experiments.figure5 import as_csv, figure_5
    from privact.storage import write_whole

    with progress_bar(quiet=as_json) as show:
        found = figure_5(folder_name(data), seeds, sweeps, lambda text: show(text, 0, 0))
    curves = ready_folder(output) / "figure5.csv"
    with write_whole(curves) as file:
        file.write(as_csv(found.document["rows"]).encode())
    finish(found, output, as_json, [curves])


from privact.cli import reproduce_all, reproduce_communities, reproduce_distance, reproduce_recommend  # noqa: E402, F401  # add their commands
