"""Options of `privact learn` that say where reports come from and where they are learned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from privact.learn.evidence.profiles import PROFILES
from privact.learn.named_choice import describe_choices
from privact.learn.search.searches import SEARCHES

if TYPE_CHECKING:
    from privact.learn.scale.task_runner import Engine

__all__ = [
    "Balance", "Cluster", "EngineChoice", "EvidenceFile", "ProfileName", "RoundName", "Scratch", "SearchName", "Source",
    "Workers", "open_chosen_engine", "tell_balance",
]  # fmt: skip


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
ProfileName = Annotated[
    str | None,
    typer.Option(
        "--profile",
        help=f"How users are compared: {describe_choices(PROFILES)} (with --labels).",
        show_default="counts, or as the round in the database says",
    ),
]
Balance = Annotated[
    float | None,
    typer.Option(
        help="The smaller side of the first split holds at least this share of all users, smaller clusters are held to more; "
        "0 for the tree of the highest cost, which peels off users one by one.",
        metavar="SHARE",
        show_default="0.03, and 0 for searches that keep no floor",
    ),
]
SearchName = Annotated[str, typer.Option(help=f"How the tree is searched: {describe_choices(SEARCHES)}.")]
EvidenceFile = Annotated[
    Path | None,
    typer.Option(
        "--evidence",
        help="Also write what the reports say about the counts, as JSON, for privact recommend.",
        metavar="FILE",
        show_default=False,
    ),
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
        help="Folder for temporary files; for a cluster, one that all machines see.",
        metavar="DIR",
        show_default="the system's",
    ),
]


class EngineChoice(NamedTuple):
    """Where parts are learned. workers, cluster, scratch: see `open_engine`."""

    workers: int | None
    cluster: str | None
    scratch: Path | None


def tell_balance(parameters: Mapping[str, Any]) -> str:
    """How lopsided the clusters of a tree may split, in words."""
    return f"balance {parameters['balance']:g}" if "balance" in parameters else "no balance floor"


@contextmanager
def open_chosen_engine(choice: EngineChoice, n_users: int) -> Iterator[Engine]:
    """Open the engine that was asked for; by default one process per core for very many users."""
    from privact.learn.scale.engines import open_engine, workers_for

    workers = choice.workers
    if workers is None and choice.cluster is None:
        workers = workers_for(n_users)
    with open_engine(workers, choice.cluster, choice.scratch) as engine:
        yield engine
