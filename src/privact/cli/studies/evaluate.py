"""privact evaluate: an experiment of the registry on the paper's networks or on one's own, beside every control."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privact.cli.files import DataFolder, RepeatsChoice, read_repeats
from privact.cli.program import make_group
from privact.cli.studies.declared_options import declare_option, make_command
from privact.cli.studies.results import Output, finish, folder_name, ready_folder
from privact.cli.text import Json
from privact.errors import InputError
from privact.experiments.experiment import Experiment
from privact.experiments.registry import EXPERIMENTS
from privact.progress import progress_bar

if TYPE_CHECKING:
    from privact.experiments.running.networks import Networks

app = make_group("Measure recommendations and communities, beside every control.")

ChosenNetworks = Annotated[
    list[str] | None,
    typer.Option("--network", metavar="NAME", help="lastfm, delicious or douban; may be repeated. All unless told."),
]
Contacts = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Your own contacts, an edge list; needs --ratings.", show_default=False),
]
RatingsFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Your own ratings: user, item and rating in each line.", show_default=False),
]


@app.callback()
def evaluate() -> None:
    """Measure recommendations and communities, on the paper's networks or your own, beside every control."""


def choose_networks(
    data: Path | None, network: list[str] | None, contacts: Path | None, ratings: Path | None, repeats: str = "error"
) -> Networks:
    """The networks that the options name."""
    from privact.experiments.running.networks import NORMALISATION, OwnNetwork, PaperNetworks

    if (contacts is None) != (ratings is None):
        missing = "--ratings" if ratings is None else "--contacts"
        raise InputError(f"{missing} is missing: your own data is both --contacts FILE and --ratings FILE")
    if contacts is None or ratings is None:
        return PaperNetworks(folder_name(data), network or list(NORMALISATION))
    if network:
        raise InputError(f"--network {network[0]} and --contacts {contacts}: give one or the other")
    return OwnNetwork(contacts, ratings, read_repeats(repeats))


def add_command(experiment: Experiment) -> None:
    """Add `privact evaluate NAME`."""
    name = experiment.evaluates
    about = experiment.summary.partition(": ")[2]
    title = experiment.title.partition(": ")[2]

    def run(
        data: Path | None,
        network: list[str] | None,
        contacts: Path | None,
        ratings: Path | None,
        repeats: str,
        output: Path,
        as_json: bool,
        quick: bool,
        **options: Any,
    ) -> None:
        networks = choose_networks(data, network, contacts, ratings, repeats)
        parts = ready_folder(output) / "cells"
        with progress_bar(quiet=as_json) as show:
            found = experiment.run(
                networks,
                quick=quick,
                options=options,
                parts=parts,
                progress=show,
                name=name,
                title=title[:1].upper() + title[1:],
            )
        finish(found, output, as_json)

    parameters: dict[str, tuple[Any, Any]] = {
        "data": (DataFolder, None),
        "network": (ChosenNetworks, None),
        "contacts": (Contacts, None),
        "ratings": (RatingsFile, None),
        "repeats": (RepeatsChoice, "error"),
        "output": (Output, Path("results")),
    }
    parameters |= {option.name: declare_option(option) for option in experiment.options}
    parameters["quick"] = (Annotated[bool, typer.Option("--quick", help=experiment.quick)], False)
    parameters["as_json"] = (Json, False)
    doc = (
        f"{about[:1].upper()}{about[1:]}\n\nThe same as privact reproduce {experiment.name}, on networks that you choose or "
        "on your own data.\nFinished parts are kept in DIR/cells, so that it resumes after an interruption."
    )
    example = (
        f"\b\nExample:\n  privact evaluate {name} --data data --network lastfm\n"
        f"  privact evaluate {name} --contacts contacts.tsv --ratings ratings.tsv"
    )
    app.command(name, epilog=example)(make_command(run, parameters, doc))


for each in EXPERIMENTS:
    if each.evaluates:
        add_command(each)
