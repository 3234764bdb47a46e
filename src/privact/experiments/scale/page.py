"""The experiment on scale as a page."""

from __future__ import annotations

from typing import Any

from privact.experiments.report.findings import Claim, Page, Verdict, markdown_table
from privact.experiments.scale.measure import LARGEST, PEER_SIZE

__all__ = ["check_scale", "write_page"]

WORSE = 0.01
"""How much of the best peer's utility ours may lack."""


def write_page(document: dict[str, Any]) -> Page:
    """The table, the verdict and the picture."""
    rows = document["rows"]
    return Page(_format_text(document), [check_scale(rows)], lambda figure: _draw(figure, rows))


def check_scale(rows: list[dict[str, Any]]) -> Claim:
    """Whether a tree over 100,000 users is learned at all, and as good a one as peers find where they can."""
    ours = [row for row in rows if row["method"] == "privact" and row["workers"] == 1]
    largest = max(ours, key=lambda row: row["n"])
    peers = [row for row in rows if not row["method"].startswith("privact") and row["status"] == "ok"]
    beside = next((row for row in ours if row["n"] == PEER_SIZE and row["status"] == "ok"), None)
    best = max((row["relative_utility"] for row in peers), default=None)
    verdict: Verdict = "does not hold"
    if largest["status"] == "ok":
        enough = largest["n"] >= LARGEST and best is not None and beside is not None
        verdict = "holds" if enough and beside["relative_utility"] >= (1 - WORSE) * best else "holds with a caveat"  # type: ignore[index, operator]
    said = f"{largest['n']:,} users: " + (
        f"{largest['seconds']:,.1f} s in one process." if largest["status"] == "ok" else f"{largest['status']}."
    )
    if beside is not None and best is not None:
        said += f" At {PEER_SIZE:,} users ours has {beside['relative_utility'] / best:.4f} times the utility of the best peer."
    return Claim(
        statement=f"Not the paper's, ours: a tree over {LARGEST:,} users, where the paper's authors stop, is learned on one "
        "machine, as good as the trees of other methods.",
        rule=f"holds if {LARGEST:,} users get a tree in one process, and at {PEER_SIZE:,} users its relative utility is at most "
        f"{100 * WORSE:g} % below that of the best peer; with a caveat if the largest size that was run gets a tree and the rest "
        "was not run or is not so; else it does not hold.",
        verdict=verdict,
        evidence=said,
    )


def _format_text(found: dict[str, Any]) -> str:
    rows = []
    for row in found["rows"]:
        told = ["", "", "", row["status"]]
        if row["status"] == "ok":
            told = [f"{row['seconds']:,.1f}", f"{row['peak_mb']:,.0f}", f"{row['relative_utility']:.4f}", "ok"]
        rows.append([f"{row['n']:,}", row["n_bins"], row["method"], row["workers"], *told])
    return (
        f"From the file of reports (epsilon {found['epsilon']:g}) to the tree, on made-up heavy-tailed networks, starting "
        f"workers included; {found['cores']} cores. *Utility*: {found['measure']}. Peers are given the same posterior.\n\n"
        + markdown_table(["users", "bins", "method", "workers", "seconds", "MB", "utility", "status"], rows)
    )


def _draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    shown = [row for row in rows if row["status"] == "ok"][::-1]
    names = [f"{row['n']:,}: {row['method']}" + (f", {row['workers']} workers" if row["workers"] > 1 else "") for row in shown]
    colours = ["#2f6f9f" if row["method"].startswith("privact") else "#c98a3d" for row in shown]
    panels = figure.subplots(1, 2, sharey=True)
    for panel, key, unit in zip(panels, ("seconds", "peak_mb"), ("seconds", "MB at the peak"), strict=True):
        bars = panel.barh(range(len(shown)), [row[key] for row in shown], color=colours)
        panel.bar_label(
            bars, [f"{row[key]:,.1f}" if key == "seconds" else f"{row[key]:,.0f}" for row in shown], padding=3, fontsize=7
        )
        panel.margins(x=0.12)
        panel.set_yticks(range(len(shown)), names, fontsize=7)
        panel.set_xlabel(unit)
        panel.spines[["top", "right"]].set_visible(False)
