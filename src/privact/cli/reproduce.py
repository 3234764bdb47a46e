"""privact reproduce: tables and figures of the paper, paper beside ours, with a verdict per claim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privact.cli.files import DataFolder
from privact.cli.progress import progress_bar
from privact.cli.text import Json, paragraph, print_json
from privact.errors import InputError

if TYPE_CHECKING:
    from privact.experiments.results import Findings

app = typer.Typer(help="Reproduce the paper: its numbers beside ours.", rich_markup_mode=None, no_args_is_help=True)

Output = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the results; made if missing.")]
Seeds = Annotated[int, typer.Option(min=1, help="Runs of each cell.")]


@app.callback()
def reproduce() -> None:
    """Reproduce the paper: its numbers beside ours, as JSON, Markdown and a picture."""


@app.command(epilog="\b\nExample:\n  privact reproduce table1 --data data -o results")
def table1(data: DataFolder = None, output: Output = Path("results"), as_json: Json = False) -> None:
    """Table 1: the sizes of the three networks."""
    from privact.experiments.table1 import table_1

    with progress_bar(quiet=as_json) as show:
        found = table_1(_folder(data), lambda text: show(text, 0, 0))
    _finish(found, output, as_json)


@app.command(epilog="\b\nExample:\n  privact reproduce table2 --data data -o results")
def table2(data: DataFolder = None, output: Output = Path("results"), seeds: Seeds = 5, as_json: Json = False) -> None:
    """Table 2: relative utility of the trees, and what noise costs."""
    from privact.experiments.table2 import reproduce_table_2

    with progress_bar(quiet=as_json) as show:
        found = reproduce_table_2(_folder(data), seeds, lambda text: show(text, 0, 0))
    _finish(found, output, as_json)


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
    from privact.tree.atomic import written_whole

    with progress_bar(quiet=as_json) as show:
        found = figure_5(_folder(data), seeds, sweeps, lambda text: show(text, 0, 0))
    curves = _ready(output) / "figure5.csv"
    with written_whole(curves) as file:
        file.write(as_csv(found.document["rows"]).encode())
    _finish(found, output, as_json, [curves])


def _folder(data: Path | None) -> str | None:
    return None if data is None else str(data)


def _ready(output: Path) -> Path:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make folder {output}: {(error.strerror or str(error)).lower()}") from None
    return output


def _finish(found: Findings, output: Path, as_json: bool, also: list[Path] | None = None) -> None:
    """Write the files and say what came out."""
    from dataclasses import asdict

    from privact.experiments.results import write_findings

    paths = [*write_findings(found, _ready(output)), *(also or [])]
    if as_json:
        print_json({"claims": [asdict(claim) for claim in found.claims], "files": [str(path) for path in paths]})
        return
    print(found.text)
    for claim in found.claims:
        print()
        paragraph(f"{claim.verdict.upper()}: {claim.statement} {claim.evidence}")
    print("\nWritten: " + ", ".join(str(path) for path in paths))
