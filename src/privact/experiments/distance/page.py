"""The table, the picture and the verdict on NDCG against the distance to the community."""

from __future__ import annotations

from typing import Any

import numpy as np

from privact.experiments.report.findings import Claim, Page, Verdict, markdown_table
from privact.experiments.table5.page import write_page as write_similarity_page

__all__ = ["STATED", "check_distance", "write_page"]

STATED = {"lastfm": "-0.31 to -0.09", "delicious": "-0.21 to -0.006, once 0.17", "douban": "positive"}
"""What the paper says of the correlations."""

SIGNS = {"lastfm": -1, "delicious": -1, "douban": 1}
MOST = 0.8
"""Which share of the runs must have the sign that the paper states: "almost all"."""

FEWEST = 20
"""A dot of the picture stands for at least this many users."""

COLOURS = {
    "PrivaCT-CF": "#2f6f9f",
    "m random users": "#c8553d",
    "PrivaCT-CF, degree only": "#777777",
    "PrivaCT-CF, random tree": "#bbbbbb",
}


def write_page(document: dict[str, Any]) -> Page:
    """The table, the verdict and the picture; the page of Table 5 follows as an appendix."""
    rows, correlations = document["rows"], document["correlations"]
    similarity = write_similarity_page({"quick": document["quick"], "rows": document["likeness"]})
    return Page(
        _format_text(rows, correlations),
        [check_distance(correlations), *similarity.claims],
        lambda figure: _draw(figure, correlations),
        runs=rows[0]["folds"] * rows[0]["seeds"],
        appendix=f"## Similar ratings and distance (the paper's Table 5)\n\n{similarity.text}",
    )


def _format_text(rows: list[dict[str, Any]], correlations: list[dict[str, Any]]) -> str:
    """What was measured, and the table."""
    folds, seeds = rows[0]["folds"], rows[0]["seeds"]
    scores = {(row["dataset"], row["method"]): row for row in rows}
    body = []
    for each in correlations:
        runs = _runs(each)
        body.append(
            [
                each["dataset"],
                each["method"] + (" (control)" if each["control"] else ""),
                f"{scores[each['dataset'], each['method']]['ndcg']:.4f}",
                "" if each["control"] else STATED[each["dataset"]],
                f"[{min(runs):.2f}, {max(runs):.2f}]" if runs else "none",
                f"{sum(run < 0 for run in runs)} of {len(runs)}",
                f"{np.mean([path for path in each['mean_path'] if path is not None]):.2f}",
            ]
        )
    popular = ", ".join(f"{row['dataset']} {row['ndcg']:.4f}" for row in rows if row["control"] == "most popular")
    return (
        "Cold users: correlation of NDCG@100 with the mean shortest path to those of the close community who rated the listed "
        f"items; folds x seeds: {folds} x {seeds}, one correlation each, epsilon 1. The most popular items, which come from no "
        f"community, have NDCG {popular}.\n\n"
        + markdown_table(["network", "method", "NDCG", "correlation, paper", "here", "negative", "mean path"], body)
    )


def _runs(each: dict[str, Any]) -> list[float]:
    return [run for run in each["correlation"] if run is not None]


def _as_stated(each: dict[str, Any]) -> bool:
    """Whether nearly all runs have the sign that the paper states."""
    runs = _runs(each)
    return bool(runs) and float(np.mean([run * SIGNS[each["dataset"]] > 0 for run in runs])) >= MOST


def check_distance(correlations: list[dict[str, Any]]) -> Claim:
    """The paper's correlations of NDCG with distance, and whether m random users show them too."""
    ours = [each for each in correlations if each["method"] == "PrivaCT-CF"]
    control = [each for each in correlations if each["control"] == "random users"]
    verdict: Verdict = "does not hold"
    if all(map(_as_stated, ours)):
        verdict = "holds with a caveat" if any(map(_as_stated, control)) else "holds"
    return Claim(
        statement=(
            "Where the community is closer, NDCG is higher: the correlation is negative on lastfm and delicious for almost all "
            "seeds, and positive on douban."
        ),
        rule=(
            f"holds if on every network at least {MOST:.0%} of the runs have the stated sign; with a caveat if so and yet m "
            "random users in place of the community show it on some network too; else it does not hold."
        ),
        verdict=verdict,
        evidence=(
            "Runs with the stated sign: "
            + "; ".join(
                f"{each['dataset']} {_count(each)} (m random users {_count(other)})"
                for each, other in zip(ours, control, strict=True)
            )
            + "."
        ),
    )


def _count(each: dict[str, Any]) -> str:
    runs = _runs(each)
    return f"{sum(run * SIGNS[each['dataset']] > 0 for run in runs)} of {len(runs)}"


def _draw(figure: Any, correlations: list[dict[str, Any]]) -> None:
    """Mean NDCG by distance to the community, a panel for each network; larger dots stand for more users, of FEWEST or more."""
    names = list(dict.fromkeys(each["dataset"] for each in correlations))
    for panel, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        for each in correlations:
            if each["dataset"] != name:
                continue
            points = np.array([point for run in each["points"] for point in run]).reshape(-1, 3)
            parts = [points[points[:, 0] == step] for step in np.unique(points[:, 0])]
            parts = [part for part in parts if part[:, 2].sum() >= FEWEST]
            steps = [part[0, 0] for part in parts]
            means = [float(np.average(part[:, 1], weights=part[:, 2])) for part in parts]
            colour = COLOURS[each["method"]]
            panel.plot(steps, means, "-", color=colour, linewidth=1.2, label=each["method"])
            panel.scatter(steps, means, s=[4.0 + 3.0 * np.log1p(part[:, 2].sum()) for part in parts], color=colour)
        panel.set_title(name)
        panel.set_xlabel("mean shortest path, rounded")
        panel.set_ylim(bottom=0.0)
        panel.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("NDCG@100")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=8)
