"""privact learn --reports: the reports of a round, from a file or the aggregator's database -> a tree file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from privact.cli.text import facts, number, paragraph, print_json
from privact.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from privact.learn.reports.table import Reports
    from privact.learn.scale.engines import Engine
    from privact.progress import Tell

__all__ = ["Cluster", "RoundName", "Scratch", "Source", "Where", "Workers", "learn_from_reports", "where"]

Source = Annotated[
    str | None,
    typer.Option(
        "--reports",
        help="Instead of a graph, the noisy reports of a round: a .parquet, .arrow or .npy file, or the aggregator's database.",
        metavar="FILE or URL",
        show_default=False,
    ),
]
RoundName = Annotated[
    str | None, typer.Option("--round", help="With a database, the id of the round.", metavar="ID", show_default=False)
]
Workers = Annotated[
    int | None, typer.Option(help="Processes of this machine to learn with.", show_default="one per core for very many users")
]
Cluster = Annotated[
    str | None,
    typer.Option(help="A Dask cluster to learn on: tcp://HOST:PORT of its scheduler, or local:N.", show_default=False),
]
Scratch = Annotated[
    Path | None,
    typer.Option(
        help="Folder for what spills to disk; for a cluster, one that all machines see.",
        metavar="DIR",
        show_default="the system's",
    ),
]

_MANY = 50_000  # users; below this starting processes takes longer than they save


class Where(NamedTuple):
    """Where parts are learned. workers, cluster, scratch: see `open_engine`."""

    workers: int | None
    cluster: str | None
    scratch: Path | None


class _Round(NamedTuple):
    """What is known about a round besides its reports: its public parameters, and the seed of the search."""

    epsilon_report: float | None
    equal_bins: bool
    parameters: dict[str, Any]
    seed: int | None


@contextmanager
def where(choice: Where, n_users: int) -> Iterator[Engine]:
    """The engine that was asked for, or one process per core where users are very many."""
    from privact.learn.scale.engines import open_engine

    workers = choice.workers
    if workers is None and choice.cluster is None and n_users > _MANY:
        workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with open_engine(workers, choice.cluster, choice.scratch) as engine:
        yield engine


def learn_from_reports(
    source: str,
    round_id: str | None,
    output: Path,
    choice: Where,
    *,
    epsilon: float | None,
    denoise: bool,
    label_bins: bool,
    search: str,
    sweeps: int | None,
    seed: int | None,
    json: bool,
) -> None:
    """Read the reports, learn their tree, write it and say so. Arguments as for the command."""
    from privact.learn.pipeline import learn_reports
    from privact.progress import progress_bar

    database = "://" in source
    if database and round_id is None:
        raise InputError(f"--reports {source} is a database and holds many rounds: name one with --round")
    if not database and round_id is not None:
        raise InputError(f"--round {round_id} goes with a database, but --reports {source} is a file: drop it, or give a URL")
    if not database and epsilon is None:
        raise InputError(f"--reports {source} needs --epsilon, the promise per contact that the reports carry noise for")
    begin = perf_counter()
    try:
        scratch = tempfile.TemporaryDirectory(prefix="privact-", dir=choice.scratch)
    except OSError as error:
        raise InputError(f"cannot make a folder in {choice.scratch}: {(error.strerror or str(error)).lower()}") from None
    with scratch as folder, progress_bar() as tell:
        if database:
            assert round_id is not None
            known = _stored_round(source, round_id, epsilon, label_bins)
            reports = _stored_reports(source, round_id, Path(folder), tell)
        else:
            from privact.learn.reports.files import read_reports

            tell("reading reports", 0, 0)
            reports = read_reports(source, Path(folder))
            known = _of_file(epsilon, label_bins, reports.matrix.shape[1])
        with where(choice, len(reports.matrix)) as engine:
            tree = learn_reports(
                reports,
                known.epsilon_report if denoise else None,
                equal_bins=known.equal_bins,
                search=search,  # type: ignore[arg-type]  # checked by learn_tree
                sweeps=sweeps,
                random_state=known.seed if seed is None else seed,
                progress=tell,
                engine=engine,
            )
            workers = engine.workers
        parameters = {**known.parameters, "denoise": denoise, "search": search}
        if seed is not None and "search_seed" in parameters:
            parameters["search_seed"] = seed
        tree.with_parameters(parameters).save(output)
    summary = {
        "output": str(output),
        "users": tree.n_users,
        "parameters": parameters,
        "workers": workers,
        "seconds": round(perf_counter() - begin, 3),
    }
    _report(summary, json)


def _of_file(epsilon: float | None, label_bins: bool, n_bins: int) -> _Round:
    from privact.protocol.round import epsilon_per_report

    assert epsilon is not None
    per_report = epsilon_per_report(epsilon)
    known = {
        "epsilon": epsilon,
        "epsilon_report": per_report,
        "n_bins": n_bins,
        "bins": "labels" if label_bins else "random",
    }
    return _Round(per_report, not label_bins, known, None)


def _stored_round(url: str, round_id: str, epsilon: float | None, label_bins: bool) -> _Round:
    """What the database knows about a round."""
    try:
        from privact.aggregator.domain.release import public_parameters
        from privact.aggregator.storage.stored_reports import read_round
    except ImportError as error:
        raise MissingExtraError(error.name or "sqlalchemy", "server", "reading reports from a database") from None
    stored = read_round(url, round_id)
    announced = stored.round
    if epsilon is not None and epsilon != announced.epsilon:
        raise InputError(
            f"--epsilon {epsilon:g} is not the {announced.epsilon:g} of round {round_id!r}: drop it, the database knows"
        )
    if label_bins and announced.bins == "random":
        raise InputError(f"--label-bins, but the bins of round {round_id!r} are random: drop it, the database knows")
    if stored.profile != "counts":
        raise InputError(f"round {round_id!r} compares users by {stored.profile}: only rounds of counts are learned here")
    return _Round(announced.epsilon_report, announced.bins == "random", public_parameters(stored), stored.search_seed)


def _stored_reports(url: str, round_id: str, folder: Path, tell: Tell) -> Reports:
    """The reports of a round from the database, in batches, clamped to what honest devices send."""
    from privact.aggregator.storage.stored_reports import read_reports, read_round
    from privact.learn.evidence.plausible import plausible_counts
    from privact.learn.reports.table import gathered

    stored = read_round(url, round_id)
    n_users, epsilon = stored.round.n_users, stored.round.epsilon_report
    read = 0

    def batches() -> Iterator[Any]:
        nonlocal read
        for users, vectors in read_reports(url, round_id):
            yield users, plausible_counts(vectors, n_users, epsilon)
            read += len(users)
            tell("reading reports", read, stored.n_reports)

    return gathered(batches(), folder / "reports")


def _report(summary: dict[str, Any], json: bool) -> None:
    from privact.cli.privacy import promise

    parameters = summary["parameters"]
    privacy = promise(parameters) or ""
    if json:
        print_json(summary | {"privacy": privacy})
        return
    workers = summary["workers"]
    facts(
        [
            ("users", number(summary["users"])),
            ("bins", f"{parameters['n_bins']} {'random' if parameters['bins'] == 'random' else 'public labels'}"),
            ("noise", f"epsilon {parameters['epsilon']:g} per contact{', denoised' if parameters['denoise'] else ''}"),
            ("search", f"{parameters['search']}, {summary['seconds']:.1f} s in all, {workers} worker{'s'[: workers > 1]}"),
            ("written", summary["output"]),
        ]
    )
    print()
    paragraph(f"Privacy. {privacy}")
