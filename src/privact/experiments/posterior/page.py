"""The experiment on the posterior as a page."""

from __future__ import annotations

from typing import Any

import numpy as np

from privact.experiments.posterior.measure import METHODS
from privact.experiments.report.findings import Claim, Page, Verdict, markdown_table
from privact.experiments.running.seeded_trees import EPSILONS

__all__ = ["check_posterior", "write_page"]

EQUAL = 0.1
"""Points of percent that a loss may be above another and still count as no higher."""

COLOURS = {"stated": "#b8bfca", "paper": "#7b8aa0", "raw": "#c98a3d", "means": "#7fa8c9", "expected": "#2f6f9f"}


def write_page(document: dict[str, Any]) -> Page:
    """The table, the verdict and the picture."""
    rows = document["rows"]
    return Page(
        _format_text(rows, document["seeds"]), [check_posterior(rows)], lambda figure: _draw(figure, rows), runs=document["seeds"]
    )


def check_posterior(rows: list[dict[str, Any]]) -> Claim:
    """Whether expected dissimilarity loses least, and at most half of what the paper's method does."""
    loss = {(row["dataset"], row["epsilon"], row["method"]): row["loss"] for row in rows}
    cells = list(dict.fromkeys((row["dataset"], row["epsilon"]) for row in rows))
    least = [cell for cell in cells if loss[*cell, "expected"] <= min(loss[*cell, method] for method in METHODS) + EQUAL]
    half = [cell for cell in cells if loss[*cell, "expected"] <= loss[*cell, "paper"] / 2]
    verdict: Verdict = "does not hold"
    if len(least) == len(cells):
        verdict = "holds" if len(half) == len(cells) else "holds with a caveat"
    return Claim(
        statement="Not the paper's, ours: trees of the posterior expected dissimilarity lose least, and at most half of what the "
        "paper's method loses.",
        rule=f"holds if its mean loss is the lowest, up to {EQUAL:g} points, and at most half that of the paper's method "
        "here, in every network at every epsilon; with a caveat if it is only the lowest everywhere; else it does not hold.",
        verdict=verdict,
        evidence=f"Lowest in {len(least)} of {len(cells)} cells, at most half in {len(half)}.",
    )


def _format_text(rows: list[dict[str, Any]], seeds: int) -> str:
    shown = {(r["dataset"], r["epsilon"], r["method"]): f"{r['loss']:.2f} ± {r['loss_sd']:.2f}" for r in rows}
    stated = {(row["dataset"], row["epsilon"]): row["paper"] for row in rows}
    return (
        f"Loss in percent of the noise-free GenTree tree, mean ± standard deviation; seeds: {seeds}. Lower is better. All "
        "methods learn from the same reports. *Paper's method*: the paper's chain on the reports. The others use our default "
        "search, on the L1 distance of the reports, on the L1 distance of the expected counts given the reports, and on the "
        "expected L1 distance given the reports, which is the product's.\n\n"
        + markdown_table(
            ["network", "epsilon", "paper", *METHODS.values()],
            [[*cell, paper, *(shown[*cell, method] for method in METHODS)] for cell, paper in stated.items()],
        )
    )


def _draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    for panel, name in zip(figure.subplots(1, len(names), sharey=True, squeeze=False)[0], names, strict=True):
        places = np.arange(len(EPSILONS))
        mine = [row for row in rows if row["dataset"] == name]
        stated = [next(row["paper"] for row in mine if row["epsilon"] == epsilon) for epsilon in EPSILONS]
        panel.bar(places - 0.34, stated, 0.16, color=COLOURS["stated"], label="paper")
        for i, (method, label) in enumerate(METHODS.items()):
            cells = [row for row in mine if row["method"] == method]
            values, spread = [row["loss"] for row in cells], [row["loss_sd"] for row in cells]
            panel.bar(places + 0.17 * (i - 1), values, 0.16, yerr=spread, color=COLOURS[method], label=label)
        panel.set_xticks(places, [f"ε = {epsilon:g}" for epsilon in EPSILONS])
        panel.set_title(name)
        panel.axhline(0.0, color="#444444", linewidth=0.8)
        panel.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("loss in %")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False, fontsize=8)
