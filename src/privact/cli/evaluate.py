"""privact evaluate: how good recommendations are on the paper's networks, always beside every control."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privact.cli.files import DataFolder
from privact.cli.results import Output, finish, folder_name, ready_folder
from privact.cli.text import Json
from privact.progress import progress_bar

app = typer.Typer(
    help="Measure recommendations, beside every control.", add_completion=False, rich_markup_mode=None, no_args_is_help=True
)

Networks = Annotated[
    list[str] | None,
    typer.Option("--network", metavar="NAME", help="lastfm, delicious or douban; may be repeated. All unless told."),
]
Quick = Annotated[bool, typer.Option("--quick", help="One fold and one seed.")]


@app.callback()
def evaluate() -> None:
    """Measure recommendations on the paper's networks, beside every control."""


@app.command("cold-start", epilog="\b\nExample:\n  privact evaluate cold-start --data data --network lastfm --epsilon 2")
def cold_start(
    data: DataFolder = None,
    output: Output = Path("results"),
    network: Networks = None,
    epsilon: Annotated[float, typer.Option(help="The privacy promise per contact.")] = 1.0,
    folds: Annotated[int, typer.Option(min=1, max=5, help="How many of the five folds over users are judged.")] = 5,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of bins, noise and trees.")] = 3,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Users without ratings: the paper's methods, ours and the controls."""
    from privact.experiments.cold_start import PAPER, Plan, measure_cold_start
    from privact.experiments.table3 import cold_start_page
    from privact.protocol.round import epsilon_per_report

    epsilon_per_report(epsilon)  # refused before anything is read
    plan = Plan(network or list(PAPER), epsilon, 1 if quick else folds, 1 if quick else seeds)
    ready_folder(output)
    with progress_bar(quiet=as_json) as tell:
        found = measure_cold_start(plan, folder_name(data), output / "cells", tell)
    finish(cold_start_page(found, "cold-start", "Recommendations for users without ratings"), output, as_json)


@app.command(epilog="\b\nExample:\n  privact evaluate existing --data data --network lastfm")
def existing(
    data: DataFolder = None,
    output: Output = Path("results"),
    network: Networks = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Users with ratings: SERec in both forms, what contacts add to a strong model, and the controls."""
    from privact.experiments.existing import evaluate_existing
    from privact.experiments.rated_network import NORMALISATION

    ready_folder(output)
    with progress_bar(quiet=as_json) as tell:
        found = evaluate_existing(network or list(NORMALISATION), folder_name(data), output, quick, tell)
    finish(found, output, as_json)
