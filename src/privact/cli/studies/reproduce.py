"""privact reproduce: one command for each experiment of the registry, and one for all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from privact.cli.files import DataFolder
from privact.cli.program import make_group
from privact.cli.studies.declared_options import declare_option, make_command
from privact.cli.studies.reproduce_all import all_experiments
from privact.cli.studies.results import Output, finish, folder_name, ready_folder
from privact.cli.text import Json
from privact.experiments.experiment import Experiment
from privact.experiments.registry import EXPERIMENTS
from privact.progress import progress_bar

app = make_group("Reproduce the paper: its numbers beside ours.")


@app.callback()
def reproduce() -> None:
    """Reproduce the paper: its numbers beside ours, as JSON, Markdown and a picture."""


def add_command(experiment: Experiment) -> None:
    """Add `privact reproduce NAME`."""

    def run(data: Path | None, output: Path, as_json: bool, quick: bool = False, **options: Any) -> None:
        from privact.experiments.running.networks import PaperNetworks

        networks, parts = PaperNetworks(folder_name(data)), ready_folder(output) / "cells"
        with progress_bar(quiet=as_json) as show:
            found = experiment.run(networks, quick=quick, options=options, parts=parts, progress=show)
        finish(found, output, as_json)

    parameters: dict[str, tuple[Any, Any]] = {"data": (DataFolder, None), "output": (Output, Path("results"))}
    parameters |= {option.name: declare_option(option) for option in experiment.options}
    if experiment.quick:
        parameters["quick"] = (Annotated[bool, typer.Option("--quick", help=experiment.quick)], False)
    parameters["as_json"] = (Json, False)
    resumes = "\n\nFinished parts are kept in DIR/cells, so that it resumes after an interruption."
    doc = experiment.summary + (resumes if experiment.resumes else "")
    example = f"\b\nExample:\n  privact reproduce {experiment.name} --data data -o results"
    app.command(experiment.name, epilog=example)(make_command(run, parameters, doc))


for each in EXPERIMENTS:
    add_command(each)
app.command("all", epilog="\b\nExample:\n  privact reproduce all --data data -o results --quick")(all_experiments)
