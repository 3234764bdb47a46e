"""Time, memory and utility of trees as users grow, ours beside other methods; keys as in `privact.experiments.scale.sizes`."""

from __future__ import annotations

from typing import Any

from privact.bench.benchmark import Speed, Table, Task
from privact.experiments.scale.sizes import measure_sizes

__all__ = ["list_speeds", "make_tables", "measure"]


def measure(task: Task) -> dict[str, Any]:
    """Every method at every size."""
    options = task.options
    return measure_sizes(task.show, options["users"], options["patience"], not options["no_peers"], options["balance"])


def make_tables(result: dict[str, Any]) -> list[Table]:
    """One row for each method and size; samples and predictions where there are any."""
    rows = []
    for row in result["rows"]:
        if row["status"] == "ok":
            times = [f"{row['seconds']:,.1f}", f"{row['processor_seconds']:,.1f}"]
            cells = [*times, f"{row['peak_mb']:,.0f}", f"{row['relative_utility']:.4f}", "ok"]
        else:
            cells = ["", "", "", "", row["status"]]
        rows.append([f"{row['n']:,}", str(row["n_bins"]), row["method"], str(row["workers"]), *cells])
    tables = [
        Table(
            f"From reports (epsilon {result['epsilon']:g}) to a tree; relative utility on the exact counts, higher is better",
            ["users", "bins", "method", "workers", "seconds", "processor s", "MB", "utility", "status"],
            rows,
            (0, 1, 3, 4, 5, 6, 7),
        )
    ]
    if result["samples"]:
        tables.append(_show_samples(result["samples"]))
    if result["predictions"]:
        tables.append(_show_predictions(result))
    return tables


def _show_samples(samples: list[dict[str, Any]]) -> Table:
    rows = []
    for row in samples:
        rivals = [
            r["relative_utility"] for r in samples if r["n"] == row["n"] and r["status"] == "ok" and r["method"] != "privact"
        ]
        utility = "" if row["status"] != "ok" else f"{row['relative_utility']:.4f}"
        share = f"{row['relative_utility'] / max(rivals):.4f}" if utility and rivals else ""
        rows.append([f"{row['n']:,}", f"{row['sampled']:,}", row["method"], utility, share, row["status"]])
    title = "The tree of all users, restricted to a sample of them, beside peers that learn the sample alone"
    return Table(title, ["users", "sampled", "method", "utility", "of the best peer", "status"], rows, (0, 1, 3, 4))


def _show_predictions(result: dict[str, Any]) -> Table:
    measured = {(row["n"], row["method"], row["workers"]): row["processor_seconds"] for row in result["rows"]}
    rows = []
    for each in result["predictions"]:
        found = measured.get((each["n"], "privact", 2))
        told = ["", ""] if found is None else [f"{found:,.0f}", f"{100 * (each['processor_seconds'] / found - 1):+.0f} %"]
        sizes = " and ".join(f"{n:,}" for n in each["from"])
        rows.append([f"{each['n']:,}", sizes, f"{each['processor_seconds']:,.0f}", *told])
    title = "Processor seconds of two processes, predicted from smaller trees before they were measured"
    return Table(title, ["users", "predicted from", "predicted", "measured", "off by"], rows, (0, 2, 3, 4))


def list_speeds(result: dict[str, Any]) -> list[Speed]:
    """Seconds and memory of our own trees."""
    found = []
    for row in result["rows"]:
        if row["status"] == "ok" and row["method"].startswith("privact"):
            name = f"{row['n']:,} users, {row['method']}, {row['workers']} workers"
            found += [
                Speed(name, row["seconds"], "s"),
                Speed(f"{name}, processor", row["processor_seconds"], "s"),
                Speed(f"{name}, memory", row["peak_mb"], "MB"),
            ]
    return found
