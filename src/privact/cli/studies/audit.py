"""privact audit: what a device's reports, a released tree and hostile users really do, measured by anyone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from privact.cli.files import DataFolder
from privact.cli.program import make_group
from privact.cli.text import Json, paragraph, print_json, table
from privact.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from privact.audit.epsilon import EpsilonAudit
    from privact.audit.guessing import Device
    from privact.audit.series_epsilon import SeriesAudit

    Counted = Callable[[int, int], None]
    """Is told how much is done, and of how much."""

_A = TypeVar("_A")

__all__ = ["app"]

app = make_group("Check the promises: noise, released trees, hostile users.")

_BROKEN = 1


@app.callback()
def audit() -> None:
    """Check the promises: the noise of reports, what a released tree holds, and what hostile users can do."""


@app.command(
    epilog="\b\nExample:\n  privact audit epsilon\n  privact audit epsilon --epsilon-report 0.5 --scale 0.9\n"
    "  privact audit epsilon --rounds 4 --epsilon 4"
)
def epsilon(
    epsilon_report: Annotated[
        list[float] | None, typer.Option(help="Promise of one report; may be repeated.", show_default="0.25, 0.5, 1 and 2")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Attack all reports of a series with this number of rounds instead.")
    ] = None,
    promise: Annotated[
        list[float] | None,
        typer.Option("--epsilon", help="With --rounds: promise of the series per contact; may be repeated.", show_default="4"),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(min=1000, help="Least number of trials on each side.", show_default="1,000,000; 250,000 with --rounds"),
    ] = None,
    scale: Annotated[float, typer.Option(min=0.01, help="Multiply the noise scale: below 1, a device that cheats.")] = 1.0,
    json: Json = False,
) -> None:
    """Attack this device's own noise and bound the epsilon of a report from below, or that of a series.

    The bound must stay under what a report promises and comes close to it: the noise is neither too weak nor wasted. It takes
    about a minute on two cores. With --rounds both ends of an edge report it in every round, bins follow earlier reports, and
    all of them together are attacked. Exits with 1 if a promise is broken.
    """
    from privact.audit.epsilon import ALPHA, audit_epsilon
    from privact.audit.guessing import REAL, weaken_noise
    from privact.errors import InputError

    device = REAL if scale == 1.0 else weaken_noise(scale)
    if rounds is not None:
        if epsilon_report:
            raise InputError("--epsilon-report is about one report, --rounds about a series: give --epsilon with --rounds")
        _audit_series(promise or [4.0], rounds, trials or 250_000, device, json)
        return
    if promise:
        raise InputError("--epsilon is the promise of a series: give --rounds too, or --epsilon-report for one report")
    promised, trials = epsilon_report or [0.25, 0.5, 1.0, 2.0], trials or 1_000_000
    alpha = ALPHA / len(promised)
    found = _attack_each(
        promised,
        "epsilon_report",
        lambda each, progress: audit_epsilon(each, trials, device=device, alpha=alpha, progress=progress),
        quiet=json,
    )
    if json:
        _print_audits(found)
    else:
        _print_bounds(
            ["epsilon_report", "at least", "short by", "trials a side", "events", ""],
            [
                [f"{one.epsilon_report:g}", *_bounds(one, one.epsilon_report), str(len(one.events)), _verdict(one)]
                for one in found
            ],
            "The epsilon of a report, per edge, is at least what the second column says.",
        )
    _refuse_broken("report", [(one.epsilon_report, one.bound) for one in found if not one.holds])


def _audit_series(promised: list[float], rounds: int, trials: int, device: Device, json: bool) -> None:
    """Attack series of each epsilon and print what is found."""
    from privact.audit.epsilon import ALPHA
    from privact.audit.series_epsilon import audit_series

    alpha = ALPHA / len(promised)
    found = _attack_each(
        promised,
        "series of epsilon",
        lambda each, progress: audit_series(each, rounds, trials, device=device, alpha=alpha, progress=progress),
        quiet=json,
    )
    if json:
        _print_audits(found)
    else:
        _print_bounds(
            ["epsilon", "rounds", "at least", "short by", "trials a side", ""],
            [[f"{one.epsilon:g}", str(one.rounds), *_bounds(one, one.epsilon), _verdict(one)] for one in found],
            "The epsilon of a whole series, per edge, is at least what the third column says: both ends report in every round, "
            "and bins follow earlier reports.",
        )
    _refuse_broken("series", [(one.epsilon, one.bound) for one in found if not one.holds])


def _attack_each(promised: list[float], stage: str, attack: Callable[[float, Counted], _A], *, quiet: bool) -> list[_A]:
    """One audit for each promise, with a bar that names it."""
    with progress_bar(quiet=quiet) as show:
        return [attack(each, lambda done, total, name=f"{stage} {each:g}": show(name, done, total)) for each in promised]  # type: ignore[misc]


def _bounds(audit: EpsilonAudit | SeriesAudit, promised: float) -> list[str]:
    return [f"{audit.bound:.4f}", f"{promised - audit.bound:.4f}", f"{audit.trials:,}"]


def _verdict(audit: EpsilonAudit | SeriesAudit) -> str:
    return "holds" if audit.holds else "BROKEN"


def _print_audits(found: Sequence[EpsilonAudit | SeriesAudit]) -> None:
    """Everything that audits found, as JSON."""
    from dataclasses import asdict

    from privact.audit.epsilon import ALPHA

    rows = [{**asdict(one), "bound": one.bound, "trials": one.trials, "holds": one.holds} for one in found]
    print_json({"alpha": ALPHA, "audits": rows})


def _print_bounds(heads: list[str], rows: list[list[str]], meaning: str) -> None:
    """What audits found as a table, and how sure it is."""
    from privact.audit.epsilon import ALPHA

    table(heads, rows, right=range(5))
    print()
    paragraph(
        f"{meaning} The bounds are Clopper-Pearson limits of events fixed beforehand; that any of them accuses a device "
        f"that keeps its promise has probability {ALPHA:g}."
    )


def _refuse_broken(what: str, broken: list[tuple[float, float]]) -> None:
    """End with 1 if a promise is broken; the first is named. broken: what was promised, and what it is at least."""
    if broken:
        promised, bound = broken[0]
        _say(f"a {what} that promises epsilon {promised:g} has at least {bound:.4f}: do not use this device")
        raise typer.Exit(_BROKEN)


@app.command(epilog="\b\nExample:\n  privact audit release tree.hct")
def release(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A released tree: .hct or JSON.", show_default=False)],
    json: Json = False,
) -> None:
    """List everything inside a released tree, and whether it may be there.

    Allowed are the tree, public parameters of the round, and ids of users. Exits with 1 if there is anything else.
    """
    from dataclasses import asdict

    from privact.audit.leakage import inspect_release

    fields = inspect_release(file)
    problems = [field for field in fields if not field.allowed]
    if json:
        print_json({"file": str(file), "fields": [{**asdict(field), "allowed": field.allowed} for field in fields]})
    else:
        table(
            ["field", "kind", "holds", ""],
            [[field.name, field.kind, field.value, field.problem or "allowed"] for field in fields],
        )
    if problems:
        _say(f"{file}: {problems[0].name} {problems[0].problem}: do not release it")
        raise typer.Exit(_BROKEN)


@app.command(epilog="\b\nExample:\n  privact audit poisoning --seeds 3\n  privact audit poisoning --data data")
def poisoning(
    data: DataFolder = None,
    users: Annotated[int, typer.Option(min=200, help="Users of the synthetic network, without --data.")] = 1000,
    promise: Annotated[float, typer.Option("--epsilon", help="The promise per contact.")] = 1.0,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each cell.")] = 10,
    json: Json = False,
) -> None:
    """What hostile reports do to the tree of honest users, with and without clamping.

    Loss is in percent of the cost of the tree without hostile reports; contacts is the share of true contacts among the nearest
    users, as a multiple of that tree's; clones is their share among the 20 users nearest to their victim. On a synthetic
    network, or with --data on the paper's three.
    """
    from privact.audit.poisoning import measure_poisoning

    with progress_bar(quiet=json) as show:
        found = measure_poisoning(None if data is None else str(data), n_users=users, epsilon=promise, seeds=seeds, progress=show)
    if json:
        print_json(found)
        return
    rows = []
    for row in found["rows"]:
        clones = "" if row["clones"] is None else f"{row['clones']['mean']:.2f}"
        rows.append(
            [
                row["network"],
                row["attack"],
                f"{row['share']:.0%}",
                row["way"],
                "clamped" if row["clamped"] else "as sent",
                f"{row['loss']['mean']:.2f} ± {row['loss']['sd']:.2f}",
                f"{row['contacts']['mean']:.2f}",
                clones,
            ]
        )
    heading = ["network", "attack", "hostile", "learned from", "", "loss in %", "contacts", "clones"]
    table(heading, rows, right=(2, 5, 6, 7))


def _say(message: str) -> None:
    print("privact:", message, file=sys.stderr)
