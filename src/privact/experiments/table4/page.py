"""The page of the table of existing users: the verdict on the paper's Result 4, the table, what it says, and the picture."""

from __future__ import annotations

from typing import Any

from privact.experiments.report.findings import Claim, Page, Verdict, markdown_table
from privact.experiments.report.recommendation_rows import Row

__all__ = ["check_result_4", "write_page"]

SIMILAR = 0.1
"""A method performs similarly to another if it is at most this share below it."""

STATED = 2.16
"""The least factor by which the paper's PrivaCT-SERec is better than its Basic SERec."""


def check_result_4(rows: list[Row]) -> Claim:
    """Result 4 of the paper, decided on RecQ's variant, which is what the paper ran."""
    cells = [(name, metric) for name in dict.fromkeys(each["dataset"] for each in rows) for metric in ("ndcg", "map")]

    def value(name: str, method: str, metric: str) -> float:
        return float(next(each[metric] for each in rows if (each["dataset"], each["method"]) == (name, method)))

    def ratios(one: str, other: str) -> list[float]:
        return [value(name, one, metric) / max(value(name, other, metric), 1e-12) for name, metric in cells]

    factors = ratios("PrivaCT-SERec, RecQ", "Basic SERec, RecQ")
    otherwise = ratios("PrivaCT-SERec, RecQ, by exposure", "Basic SERec, RecQ, by exposure")
    against = ratios("PrivaCT-SERec, RecQ", "SERec, RecQ")
    blind = ratios("SERec, RecQ, random users", "SERec, RecQ")
    strong = ratios("implicit ALS", "PrivaCT-SERec, RecQ")
    verdict: Verdict = "does not hold"
    if min(factors) > 1.0 and min(against) >= 1.0 - SIMILAR:
        caveat = min(factors) < STATED or min(blind) >= 1.0 - SIMILAR or max(strong) > 1.0
        verdict = "holds with a caveat" if caveat else "holds"
    return Claim(
        statement=(
            "Result 4: for existing users PrivaCT-SERec predicts 2.16 to 17.95 times better than SERec without contacts, on all "
            "networks by both metrics, and similarly to SERec with contacts."
        ),
        rule=(
            "by RecQ's variant and its ranking, which the paper ran: holds if PrivaCT-SERec is above Basic SERec and at most 10 "
            f"% below SERec in every cell; with a caveat if some factor over Basic SERec is below {STATED}, or random users in "
            "place of contacts are nowhere more than 10 % below SERec, or implicit ALS, which knows no contacts, is above "
            "PrivaCT-SERec in some cell; else it does not hold."
        ),
        verdict=verdict,
        evidence=(
            f"PrivaCT-SERec is {_span(factors)} times Basic SERec ({_span(otherwise)} times if both are ranked by exposure) and "
            f"{_span(against)} times SERec over {len(cells)} cells. Random users in place of contacts give {_span(blind)} times "
            "SERec: this variant sees how many contacts a user has, not who they are. Implicit ALS is above PrivaCT-SERec in "
            f"{sum(ratio > 1.0 for ratio in strong)} of {len(cells)} cells."
        ),
    )


def _span(ratios: list[float]) -> str:
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


def write_page(document: dict[str, Any]) -> Page:
    """The tables, the verdict and the picture."""
    rows = document["rows"]
    text = _format_text(rows, document["beyond_implicit_als"], document["quick"])
    runs = max(row["folds"] * row["seeds"] for row in rows)
    return Page(text, [check_result_4(rows)], lambda figure: _draw(figure, rows), runs=runs)


def _format_text(rows: list[Row], gains: list[dict[str, Any]], quick: bool) -> str:
    """The body of the page."""
    parts = [
        "NDCG@100 and MAP@100, mean ± standard deviation over folds and seeds; each fold hides a part of the ratings. Trees and "
        "numbers of neighbours come from reports with epsilon 1. Users and items are in random order.",
        "*RecQ* is the variant behind the paper's table: its social term is a user's number of contacts times an item's total "
        "exposure, so random users in place of contacts are the same model. *SERec* without that word is the model as published: "
        "exposure follows one's own contacts. *Implicit ALS* knows no contacts; *+* adds a weight times the share of neighbours "
        "who have the item, the weight (0 allowed) chosen for each kind of neighbours on a hidden part of each fold's training "
        "ratings. Other settings of the last two were chosen once, on a hidden part of the first fold's.",
    ]
    if quick:
        parts.append("**A quick look: one fold and one seed.** Standard deviations are 0 for want of runs.")
    for name in dict.fromkeys(each["dataset"] for each in rows):
        parts.append(f"## {name}\n\n" + _table([each for each in rows if each["dataset"] == name]))
    parts.append("## What neighbours add to implicit ALS\n\n" + _gains(gains))
    return "\n\n".join(parts)


def _table(rows: list[Row]) -> str:
    return markdown_table(
        ["method", "epsilon", "private", "control", "NDCG@100", "MAP@100", "paper", "folds x seeds"],
        [
            [
                each["method"],
                each["epsilon"] or "",
                "yes" if each["private"] else "no",
                each["control"] or "",
                f"{each['ndcg']:.4f} ± {each['ndcg_sd']:.4f}",
                f"{each['map']:.4f} ± {each['map_sd']:.4f}",
                "" if each["paper_ndcg"] is None else f"{each['paper_ndcg']:.4f} / {each['paper_map']:.4f}",
                f"{each['folds']} x {each['seeds']}",
            ]
            for each in rows
        ],
    )


def _gains(gains: list[dict[str, Any]]) -> str:
    return (
        "Ratio of NDCG@100 to implicit ALS alone, and how probable so large a gain would be if neighbours meant nothing (paired, "
        "one-sided, user by user, signs flipped at random).\n\n"
        + markdown_table(
            ["network", "method", "ratio", "p", "weights chosen, fold by fold"],
            [
                [
                    each["dataset"],
                    each["method"],
                    f"{each['ratio']:.4f}",
                    f"{each['p_value']:.4f}",
                    ", ".join(f"{weight:g}" for weight in each["weights"]),
                ]
                for each in gains
            ],
        )
    )


def _draw(figure: Any, rows: list[Row]) -> None:
    """A panel a network, a bar a method: controls pale, what sees contacts striped, the paper's numbers as dots."""
    names = list(dict.fromkeys(each["dataset"] for each in rows))
    figure.set_size_inches(5.2 * len(names) + 1.5, 6.2)
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for panel, name in zip(panels, names, strict=True):
        mine = [each for each in rows if each["dataset"] == name][::-1]
        places = range(len(mine))
        colours = ["#c9c9c9" if each["control"] else "#2f6f9f" if each["private"] else "#c8553d" for each in mine]
        panel.barh(places, [each["ndcg"] for each in mine], xerr=[each["ndcg_sd"] for each in mine], color=colours, height=0.72)
        told = [(each["paper_ndcg"], place) for place, each in zip(places, mine, strict=True) if each["paper_ndcg"] is not None]
        panel.plot([x for x, _ in told], [y for _, y in told], "o", color="#222222", markersize=4, label="paper")
        panel.set_yticks(list(places), [each["method"] for each in mine] if panel is panels[0] else [], fontsize=7)
        panel.set_title(name)
        panel.set_xlabel("NDCG@100")
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False, fontsize=8, loc="lower right")
    figure.suptitle("blue: private; red: sees contacts; grey: control", fontsize=9)
