"""The MCMC figure as a page: where every method ends, the curves, and the verdict on the paper's Result 2."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from privact.experiments.report.findings import Claim, Page, Verdict, markdown_table
from privact.experiments.running.seeded_trees import EPSILONS

__all__ = ["check_result_2", "write_page"]

COLOURS = {0.5: "#c8553d", 1.0: "#2f6f9f", 2.0: "#5b8c5a"}


def write_page(document: dict[str, Any]) -> Page:
    """The table of ends, the curves as CSV, the verdict and the picture."""
    rows, final, sweeps, seeds = (document[key] for key in ("rows", "final", "sweeps", "seeds"))
    text = (
        f"log C_M of the tree after {sweeps} n proposed swaps, mean ± standard deviation; seeds: {seeds}. Higher is better. "
        "PrivaCT is the paper's method: GenTree on noisy degree vectors in floor(ln n) random bins. CMN-DP is centralized, sees "
        "every edge, and spends all of epsilon on the tree. *LDPGen, then CMN* is local like PrivaCT: two rounds of noisy degree "
        "vectors give a synthetic graph, on which CMN runs. The controls never run the paper's chain: *degree only* is the "
        "default search on the noisy number of contacts alone (one bin). All chains have the length of the paper's.\n\n"
        + _final_table(final)
    )
    return Page(
        text, [check_result_2(final)], lambda figure: _draw(figure, rows, final), files={"csv": format_curves(rows)}, runs=seeds
    )


def check_result_2(final: list[dict[str, Any]]) -> Claim:
    """Result 2 of the paper, decided by where the chains end, with the degree-only control as the caveat."""
    mean = {(row["dataset"], row["method"], row["epsilon"]): row["mean"] for row in final}
    cells = [(name, epsilon) for name in dict.fromkeys(row["dataset"] for row in final) for epsilon in EPSILONS]
    won = [cell for cell in cells if mean[cell[0], "PrivaCT", cell[1]] > mean[cell[0], "CMN-DP", cell[1]]]
    by_degree = [cell for cell in cells if mean[cell[0], "degree only", cell[1]] > mean[cell[0], "PrivaCT", cell[1]]]
    verdict: Verdict = "does not hold"
    if len(won) == len(cells):
        verdict = "holds with a caveat" if by_degree else "holds"
    return Claim(
        statement="Result 2: PrivaCT's trees have a better log C_M than CMN-DP's for all networks and epsilons.",
        rule=(
            "holds if PrivaCT's mean end is higher in every cell; with a caveat if so and yet a tree learned from the noisy "
            "number of contacts alone ends higher than PrivaCT in some cell; else it does not hold."
        ),
        verdict=verdict,
        evidence=(
            f"PrivaCT ends above CMN-DP in {len(won)} of {len(cells)} cells. The degree alone ends above PrivaCT in "
            f"{len(by_degree)} of {len(cells)}."
        ),
    )


def format_curves(rows: list[dict[str, Any]]) -> str:
    """The curves averaged over seeds: dataset, method, epsilon, steps_per_n, log_likelihood."""
    curves: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        curves.setdefault((row["dataset"], row["method"], row["epsilon"], row["steps_per_n"]), []).append(row["log_likelihood"])
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["dataset", "method", "epsilon", "steps_per_n", "log_likelihood"])
    for (dataset, method, epsilon, step), values in curves.items():
        writer.writerow([dataset, method, "" if epsilon is None else epsilon, step, f"{np.mean(values):.3f}"])
    return out.getvalue()


def _final_table(final: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(row["dataset"] for row in final))
    order = sorted({(row["method"], row["epsilon"] or 0.0) for row in final}, key=lambda key: (key[1], key[0]))
    cells = {(row["method"], row["epsilon"] or 0.0, row["dataset"]): f"{row['mean']:.0f} ± {row['spread']:.0f}" for row in final}
    return markdown_table(
        ["method", "epsilon", *names],
        [
            [method, epsilon or "no noise", *(cells.get((method, epsilon, name), "") for name in names)]
            for method, epsilon in order
        ],
    )


def _draw(figure: Any, rows: list[dict[str, Any]], final: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for panel, name in zip(panels, names, strict=True):
        for method, style in (("PrivaCT", "-"), ("CMN-DP", "--")):
            for epsilon, colour in COLOURS.items():
                chosen = [r for r in rows if (r["dataset"], r["method"], r["epsilon"]) == (name, method, epsilon)]
                steps = sorted({r["steps_per_n"] for r in chosen})
                means = [
                    np.mean([r["log_likelihood"] for r in chosen if r["steps_per_n"] == step]) for step in steps[:: _every(steps)]
                ]
                panel.plot(steps[:: _every(steps)], means, style, color=colour, label=f"{method}, ε = {epsilon:g}", linewidth=1.4)
        for method, colour in (("degree only", "#777777"), ("random tree", "#bbbbbb")):
            ends = [r["mean"] for r in final if r["dataset"] == name and r["method"] == method and r["epsilon"] in (1.0, None)]
            panel.axhline(
                ends[0], color=colour, linewidth=0.9, linestyle=":", label=method + (", ε = 1" if method[0] == "d" else "")
            )
        panel.set_title(name)
        panel.set_xlabel("steps / n")
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("log C_M")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)


def _every(steps: list[int]) -> int:
    return max(1, len(steps) // 200)
