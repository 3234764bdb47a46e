"""privact bench: what was measured, beside what the paper reports."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from privact.cli import bench_scale, bench_service
from privact.cli.files import DataFolder, JsonFile, checked_output, keep_json
from privact.cli.text import table
from privact.progress import progress_bar

app = typer.Typer(
    help="Measure quality and speed, beside the paper's numbers.",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.callback()
def bench() -> None:
    """Measure quality and speed, beside the paper's numbers."""


@app.command(epilog="\b\nExample:\n  privact bench tree --data data --json bench.json")
def tree(
    data: DataFolder = None, seeds: Annotated[int, typer.Option(min=1, help="Runs of each cell.")] = 5, to_json: JsonFile = None
) -> None:
    """Trees on the paper's three networks: quality by the paper's settings and by ours, bins, joiners, speed and growth."""
    from privact.bench.tree import bench_tree

    target = None if to_json is None else checked_output(to_json)
    with progress_bar() as show:
        result = bench_tree(None if data is None else str(data), seeds, lambda stage: show(stage, 0, 0))
    print_report(result)
    keep_json(result, target)


@app.command(epilog="\b\nExample:\n  privact bench baselines --data data --json baselines.json")
def baselines(data: DataFolder = None, to_json: JsonFile = None) -> None:
    """The chain of the hierarchical random graph (CMN, CMN-DP): proposals a second, compiled and plain."""
    from privact.bench.baselines import bench_baselines

    target = None if to_json is None else checked_output(to_json)
    with progress_bar() as show:
        result = bench_baselines(None if data is None else str(data), lambda stage: show(stage, 0, 0))
    print("Proposed swaps a second once caches are warm, and how many times its plain twin's")
    chains = {name: found for name, found in result.items() if isinstance(found, dict)}
    rows = [
        [
            name.replace("_", "-").upper(),
            found["network"],
            f"{found['proposals_per_second']:,.0f}",
            f"{found['plain_proposals_per_second']:,.0f}",
            f"{found['ratio']:,.0f}",
        ]
        for name, found in chains.items()
    ]
    table(["chain", "network", "compiled", "plain twin", "ratio"], rows, right=range(2, 5))
    keep_json(result, target)


app.command(epilog="\b\nExample:\n  privact bench service --json service.json")(bench_service.service)
app.command(epilog="\b\nExample:\n  privact bench scale --json scale.json")(bench_scale.scale)


def print_report(result: dict[str, Any]) -> None:
    """The measurements as tables for a person."""
    _print_quality(result)
    _print_bins(result)
    _print_joiners(result)
    _print_speed(result)


def _print_quality(result: dict[str, Any]) -> None:
    reported = result["paper_reported"]
    print(f"Relative utility, cost / rho (mean of {result['seeds']} seeds; higher is better)")
    rows = []
    for name, found in result["datasets"].items():
        ours = found["default"]["relative_utility"]
        paper = found["paper"]["relative_utility"]
        rows.append(
            [
                name,
                f"{reported[name]['relative_utility']:.2f}",
                f"{paper['mean']:.2f} ± {paper['sd']:.2f}",
                f"{found['average_linkage']['relative_utility']:.2f}",
                f"{ours['mean']:.2f} ± {ours['sd']:.2f}",
            ]
        )
    table(["network", "paper", "paper's method", "average linkage", "default"], rows, right=range(1, 5))
    print("\nUtility loss in percent of the noise-free GenTree tree (lower is better)")
    rows = []
    for name, found in result["datasets"].items():
        for epsilon, stated in reported[name]["loss"].items():
            paper, ours = (found[way]["loss"][epsilon] for way in ("paper", "default"))
            spread = found["default"]["loss_sd"][epsilon]
            rows.append([name, epsilon, f"{stated:.2f}", f"{paper:.2f}", f"{ours:.2f} ± {spread:.2f}", f"{ours / stated:.2f}"])
    table(["network", "epsilon", "paper", "paper's method", "default", "default / paper"], rows, right=range(1, 6))


def _print_bins(result: dict[str, Any]) -> None:
    print("\nNumber of bins: loss in percent, and share of true contacts among the nearest users")
    rows = []
    for name, found in result["bins"].items():
        for bins in dict.fromkeys(row["n_bins"] for row in found):
            cells = [row for row in found if row["n_bins"] == bins]
            rows.append([name, str(bins), *(f"{cell['loss']:.1f} / {cell['share_of_contacts']:.3f}" for cell in cells)])
    table(["network", "bins", "epsilon 0.5", "epsilon 1", "epsilon 2", "no noise"], rows, right=range(1, 6))


def _print_joiners(result: dict[str, Any]) -> None:
    print("\nLate joiners at epsilon 1: dissimilarity to their community of 50, and what it shares with the relearned one")
    rows = [
        [
            name,
            str(found["held_out"]),
            *(f"{found[key]:.1f}" for key in ("placed", "relearned", "anybody")),
            f"{found['shared']:.2f} ({found['shared_by_chance']:.2f})",
            f"{found['cost_ratio']:.4f}",
        ]
        for name, found in result["joiners"].items()
    ]
    heading = ["network", "held out", "placed", "relearned", "anybody", "shared (chance)", "cost ratio"]
    table(heading, rows, right=range(1, 7))


def _print_speed(result: dict[str, Any]) -> None:
    kernel = result["speed"]["kernel"]
    print(
        f"\nLocal swaps a second on lastfm: {kernel['steps_per_second']:,.0f} compiled, "
        f"{kernel['plain_steps_per_second']:,.0f} by the plain twin: {kernel['ratio']:,.0f} times as many"
    )
    print("\nDefault search and average linkage on the same vectors: seconds / extra memory in MB")
    rows = []
    for size, found in result["speed"].items():
        if size != "kernel":
            cells = {way: f"{found['seconds'][way]:.2f} / {found['extra_mb'][way]:.0f}" for way in found["seconds"]}
            ratio = f"{found['default_over_fastcluster']:.2f}"
            rows.append([size, *(cells.get(way, "") for way in ("default", "fastcluster", "scipy")), ratio])
    table(["users", "default", "fastcluster", "scipy", "default / fastcluster"], rows, right=range(1, 5))
    print("\nGrowth: a whole round at epsilon 1, posterior and search")
    rows = [[f"{row['n']:,}", str(row["n_bins"]), f"{row['seconds']:.1f}", f"{row['extra_mb']:.0f}"] for row in result["growth"]]
    table(["users", "bins", "seconds", "extra MB"], rows, right=range(4))
    print("\nA million users")
    names = {"posterior": "posterior of all reports", "cost": "exact cost of a tree", "load": "loading a tree file"}
    rows = []
    for key, row in result["million"].items():
        rows.append([names[key], f"{row['seconds']:.1f}", f"{row['extra_mb']:.0f}" if "extra_mb" in row else ""])
    table(["", "seconds", "extra MB"], rows, right=(1, 2))
