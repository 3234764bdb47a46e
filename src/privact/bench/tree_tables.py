"""What `privact bench tree` measured, as tables for a person."""

from __future__ import annotations

from typing import Any

from privact.bench.benchmark import Table

__all__ = ["make_tables"]


def make_tables(result: dict[str, Any]) -> list[Table]:
    """The result as tables."""
    return [*_show_quality(result), _show_peers(result), _show_bins(result), _show_joiners(result), *_show_speed(result)]


def _show_quality(result: dict[str, Any]) -> list[Table]:
    reported = result["paper_reported"]
    utility, losses = [], []
    for name, found in result["datasets"].items():
        ours = [found[way]["relative_utility"] for way in ("unrestricted", "default")]
        paper = found["paper"]["relative_utility"]
        utility.append(
            [
                name,
                f"{reported[name]['relative_utility']:.2f}",
                f"{paper['mean']:.2f} ± {paper['sd']:.2f}",
                f"{found['average_linkage']['relative_utility']:.2f}",
                *(f"{each['mean']:.2f} ± {each['sd']:.2f}" for each in ours),
            ]
        )
        for epsilon, stated in reported[name]["loss"].items():
            cells = [f"{stated:.2f}", f"{found['paper']['loss'][epsilon]:.2f}"]
            for way in ("unrestricted", "default"):
                lost, spread = found[way]["loss"][epsilon], found[way]["loss_sd"][epsilon]
                cells += [f"{lost:.2f} ± {spread:.2f}", f"{lost / stated:.2f}"]
            losses.append([name, epsilon, *cells])
    return [
        Table(
            f"Relative utility, cost / rho (mean of {result['seeds']} seeds; higher is better)",
            ["network", "paper", "paper's method", "average linkage", "unrestricted", "default"],
            utility,
            range(1, 6),
        ),
        Table(
            "Utility loss in percent of the noise-free GenTree tree (lower is better)",
            ["network", "epsilon", "paper", "paper's method", "unrestricted", "/ paper", "default", "/ paper"],
            losses,
            range(1, 8),
        ),
    ]


def _show_peers(result: dict[str, Any]) -> Table:
    rows = [
        [
            name,
            row["method"] + ("" if row["sees"] == "counts" else " (not private)"),
            f"{row['relative_utility']:.3f}",
            f"{row['share_of_contacts']:.3f}",
            f"{row['seconds']:.2f}",
        ]
        for name, found in result["peers"].items()
        for row in found
    ]
    title = "Ways to learn a tree from the same exact counts: relative utility, true contacts among the nearest users, seconds"
    return Table(title, ["network", "method", "utility", "contacts", "seconds"], rows, range(2, 5))


def _show_bins(result: dict[str, Any]) -> Table:
    rows = []
    for name, found in result["bins"].items():
        for bins in dict.fromkeys(row["n_bins"] for row in found):
            cells = [row for row in found if row["n_bins"] == bins]
            rows.append([name, str(bins), *(f"{cell['loss']:.1f} / {cell['share_of_contacts']:.3f}" for cell in cells)])
    title = "Number of bins: loss in percent, and share of true contacts among the nearest users"
    return Table(title, ["network", "bins", "epsilon 0.5", "epsilon 1", "epsilon 2", "no noise"], rows, range(1, 6))


def _show_joiners(result: dict[str, Any]) -> Table:
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
    title = "Late joiners at epsilon 1: dissimilarity to their community of 50, and what it shares with the relearned one"
    heading = ["network", "held out", "placed", "relearned", "anybody", "shared (chance)", "cost ratio"]
    return Table(title, heading, rows, range(1, 7))


def _show_speed(result: dict[str, Any]) -> list[Table]:
    kernel = result["speed"]["kernel"]
    sizes = []
    for size, found in result["speed"].items():
        if size != "kernel":
            cells = {way: f"{found['seconds'][way]:.2f} / {found['extra_mb'][way]:.0f}" for way in found["seconds"]}
            ratio = f"{found['default_over_fastcluster']:.2f}"
            sizes.append([size, *(cells.get(way, "") for way in ("default", "fastcluster", "scipy")), ratio])
    names = {"posterior": "posterior of all reports", "cost": "exact cost of a tree", "load": "loading a tree file"}
    million = [
        [names[key], f"{row['seconds']:.1f}", f"{row['extra_mb']:.0f}" if "extra_mb" in row else ""]
        for key, row in result["million"].items()
    ]
    growth = [
        [f"{row['n']:,}", str(row["n_bins"]), f"{row['seconds']:.1f}", f"{row['extra_mb']:.0f}"] for row in result["growth"]
    ]
    return [
        Table(
            f"Local swaps a second on lastfm: {kernel['steps_per_second']:,.0f} compiled, "
            f"{kernel['plain_steps_per_second']:,.0f} by the plain twin: {kernel['ratio']:,.0f} times as many"
        ),
        Table(
            "Default search and average linkage on the same vectors: processor seconds / extra memory in MB",
            ["users", "default", "fastcluster", "scipy", "default / fastcluster"],
            sizes,
            range(1, 5),
        ),
        Table(
            "Growth: a whole round at epsilon 1, posterior and search", ["users", "bins", "seconds", "extra MB"], growth, range(4)
        ),
        Table("A million users", ["", "seconds", "extra MB"], million, (1, 2)),
    ]
