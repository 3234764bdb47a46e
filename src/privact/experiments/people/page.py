"""The tables, the picture and the verdicts of the experiment on people."""

from __future__ import annotations

from typing import Any

import numpy as np

from privact.experiments.people.methods import CIRCLES, MOST_CONNECTED, OURS, SERIES, TASTE
from privact.experiments.report.findings import Claim, Page, Verdict, markdown_table

__all__ = ["SLACK", "TARGETS", "check_never_below", "check_targets", "write_page"]

TARGETS = {
    ("lastfm", CIRCLES, 1.0): 2.2,
    ("delicious", CIRCLES, 1.0): 1.6,
    ("douban", CIRCLES, 1.0): 1.0,
    ("facebook", SERIES, 1.0): 1.7,
    ("facebook", SERIES, 2.0): 3.0,
}
"""NDCG@20 over that of the most connected users: network, list, epsilon."""

SLACK = 0.02
"""By how much a list may be below the most connected users."""


def write_page(document: dict[str, Any]) -> Page:
    """A table for each network, the verdicts and the picture."""
    rows = document["rows"]
    claims = [*check_targets(rows), check_never_below(rows)]
    return Page(_format_text(document), claims, lambda figure: _draw(figure, rows), runs=document["seeds"])


def _format_text(document: dict[str, Any]) -> str:
    parts = [
        f"A fifth of all contacts is hidden from all devices before the rounds; means over users who have hidden contacts and "
        f"{document['seeds']} runs, each with other hidden contacts, noise and taste groups. *NDCG@20* (± standard deviation "
        "over runs); *recall*: share of a user's hidden contacts among the first 20 and 100; *ratio*: NDCG over that of "
        "the most connected users by as many rounds of the same epsilon, which is per contact over all rounds together. "
        f"*Taste groups*: {document['groups']} groups learned from ratings, none of the contacts, are the bins of the round. "
        "*Circles* part each group into users who rate alike, about ten; how much they count is learned from the reports. "
        "Controls have a star: *labels alone* are users of the same group in random order, *taste alone* those who rate most "
        "alike, both without any report. The last three lists see exact contacts and are not private."
    ]
    for name in dict.fromkeys(row["dataset"] for row in document["rows"]):
        parts.append(f"## {name}\n\n" + _table([row for row in document["rows"] if row["dataset"] == name]))
    return "\n\n".join(parts)


def _table(rows: list[dict[str, Any]]) -> str:
    order = sorted(rows, key=lambda row: (not row["private"], row["epsilon"] or 0.0, row["rounds"]))
    return markdown_table(
        ["list", "epsilon", "rounds", "NDCG@20", "recall@20", "recall@100", "ratio"],
        [
            [
                row["method"] + (" *" if row["control"] else "") + ("" if row["private"] else " (not private)"),
                "none" if row["epsilon"] is None else f"{row['epsilon']:g}",
                row["rounds"] or "none",
                f"{row['ndcg']:.4f} ± {row['ndcg_sd']:.4f}",
                f"{row['recall_20']:.3f}",
                f"{row['recall_100']:.3f}",
                f"{row['ratio']:.2f}",
            ]
            for row in order
        ],
    )


def check_targets(rows: list[dict[str, Any]]) -> list[Claim]:
    """Whether the targets over the most connected users are reached, network by network."""
    claims = []
    for (name, method, epsilon), target in TARGETS.items():
        found = [row for row in rows if (row["dataset"], row["method"], row["epsilon"]) == (name, method, epsilon)]
        if not found:
            continue
        [row] = found
        verdict: Verdict = "holds" if row["ratio"] >= target else "does not hold"
        claims.append(
            Claim(
                statement=f"Not the paper's, ours: at epsilon {epsilon:g} on {name}, {method} find hidden contacts at least "
                f"{target:g} times as well as the most connected users.",
                rule="holds if the ratio of the mean NDCG@20 is at least the target.",
                verdict=verdict,
                evidence=f"{row['ratio']:.2f} times, NDCG@20 {row['ndcg']:.4f}; runs from {min(row['ratio_runs']):.2f} to "
                f"{max(row['ratio_runs']):.2f}.",
                decided=_decides(row["ratio_runs"], target),
            )
        )
    return claims


def check_never_below(rows: list[dict[str, Any]]) -> Claim:
    """Whether no list of ours is below the most connected users by more than the slack."""
    mine = [row for row in rows if row["method"] in OURS]
    worst = min(mine, key=lambda row: row["ratio"])
    return Claim(
        statement=f"Ours: nowhere is a list by {', '.join(OURS[:-1])} or {OURS[-1]} below the most connected users by more than "
        f"{SLACK:.0%}.",
        rule=f"holds if every ratio is at least {1 - SLACK:g}.",
        verdict="holds" if worst["ratio"] >= 1 - SLACK else "does not hold",
        evidence=f"The smallest of {len(mine)} ratios is {worst['ratio']:.3f}: {worst['dataset']}, {worst['method']}, epsilon "
        f"{worst['epsilon']:g}.",
        decided=_decides(worst["ratio_runs"], 1 - SLACK),
    )


def _decides(runs: list[float], target: float) -> bool | None:
    """Whether the mean of some runs is further from a target than two of its standard errors; None for one run."""
    if len(runs) < 2:
        return None
    return abs(float(np.mean(runs)) - target) > 2.0 * float(np.std(runs, ddof=1) / np.sqrt(len(runs)))


def _draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    """NDCG by epsilon, a panel for each network; what sees no report is a line."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    styles = {TASTE: "#7fa8c9", CIRCLES: "#2f6f9f", SERIES: "#3f9f6f", MOST_CONNECTED: "#c8553d"}
    for panel, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        here = [row for row in rows if row["dataset"] == name]
        for method, rounds in dict.fromkeys((row["method"], row["rounds"]) for row in here if row["epsilon"] is not None):
            if method not in styles:
                continue
            mine = [row for row in here if (row["method"], row["rounds"]) == (method, rounds)]
            panel.errorbar(
                [row["epsilon"] for row in mine],
                [row["ndcg"] for row in mine],
                yerr=[row["ndcg_sd"] for row in mine],
                color=styles[method],
                linestyle="-" if rounds == 1 else "--",
                marker="o",
                label=f"{method}, {rounds} round{'s' * (rounds > 1)}",
            )
        for row in here:
            if row["method"] in ("random users", "labels alone"):
                panel.axhline(row["ndcg"], color="#999999", linestyle=":" if row["method"] == "random users" else "-.", lw=0.9)
        panel.set_title(name)
        panel.set_xlabel("ε per contact, all rounds together")
        panel.set_ylim(bottom=0)
        panel.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("NDCG@20 of hidden contacts")
    labelled = {label: line for axes in figure.axes for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(labelled.values(), labelled.keys(), loc="outside lower center", ncols=4, frameon=False, fontsize=8)
