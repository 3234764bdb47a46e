"""Time, memory and utility of trees as users grow, ours beside other methods; keys as in `privact.experiments.scale.sizes`."""

from __future__ import annotations

from typing import Any

from privact.bench.benchmark import Speed, Table, Task
from privact.experiments.scale.sizes import measure_sizes

__all__ = ["list_speeds", "make_tables", "measure"]


def measure(task: Task) -> dict[str, Any]:
    """Every method at every size."""
    options = task.options
    return measure_sizes(task.show, options["users"], options["patience"], not options["no_peers"])


def make_tables(result: dict[str, Any]) -> list[Table]:
    """One row for each method and size."""
    rows = []
    for row in result["rows"]:
        if row["status"] == "ok":
            cells = [f"{row['seconds']:,.1f}", f"{row['peak_mb']:,.0f}", f"{row['relative_utility']:.4f}", "ok"]
        else:
            cells = ["", "", "", row["status"]]
        rows.append([f"{row['n']:,}", str(row["n_bins"]), row["method"], str(row["workers"]), *cells])
    return [
        Table(
            f"From reports (epsilon {result['epsilon']:g}) to a tree; relative utility on the exact counts, higher is better",
            ["users", "bins", "method", "workers", "seconds", "MB", "utility", "status"],
            rows,
            (0, 1, 3, 4, 5, 6),
        )
    ]


def list_speeds(result: dict[str, Any]) -> list[Speed]:
    """Seconds and memory of our own trees."""
    found = []
    for row in result["rows"]:
        if row["status"] == "ok" and row["method"].startswith("privact"):
            name = f"{row['n']:,} users, {row['method']}, {row['workers']} workers"
            found += [Speed(name, row["seconds"], "s"), Speed(f"{name}, memory", row["peak_mb"], "MB")]
    return found
