"""privact bench scale: time, memory and cost as users grow, ours beside its peers."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from privact.cli.files import JsonFile, checked_output, keep_json
from privact.cli.text import table
from privact.progress import progress_bar

__all__ = ["scale"]


def scale(
    users: Annotated[
        list[int] | None, typer.Option(min=100, help="A number of users; may be repeated.", show_default="10k, 20k, 100k, 1M")
    ] = None,
    patience: Annotated[float, typer.Option(min=1.0, help="Seconds that a peer is given.")] = 1800.0,
    no_peers: Annotated[bool, typer.Option("--no-peers", help="Only our own.")] = False,
    to_json: JsonFile = None,
) -> None:
    """Trees of many users: time, memory and cost, in one process, in several, on a Dask cluster, and by other methods."""
    from privact.bench.scale import SIZES, bench_scale

    target = None if to_json is None else checked_output(to_json)
    with progress_bar() as show:
        result = bench_scale(lambda stage: show(stage, 0, 0), users or SIZES, patience, not no_peers)
    print_rows(result)
    keep_json(result, target)


def print_rows(result: dict[str, Any]) -> None:
    """The measurements as a table for a person."""
    print(f"From reports (epsilon {result['epsilon']:g}) to a tree; relative utility on the exact counts, higher is better")
    rows = []
    for row in result["rows"]:
        if row["status"] == "ok":
            cells = [f"{row['seconds']:,.1f}", f"{row['peak_mb']:,.0f}", f"{row['relative_utility']:.4f}", "ok"]
        else:
            cells = ["", "", "", row["status"]]
        rows.append([f"{row['n']:,}", str(row["n_bins"]), row["method"], str(row["workers"]), *cells])
    table(["users", "bins", "method", "workers", "seconds", "MB", "utility", "status"], rows, right=(0, 1, 3, 4, 5, 6))
