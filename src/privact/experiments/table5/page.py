"""Table 5 as a page."""

from __future__ import annotations

from typing import Any

import numpy as np

from privact.experiments.report.findings import Claim, Page, Verdict, markdown_table
from privact.experiments.table5.measure import PROFILES

__all__ = ["check_profile", "format_text", "write_page"]

CLOSE = 5.0
"""How many points of percent the share of negative correlations may be off."""


def write_page(document: dict[str, Any]) -> Page:
    """The table, a verdict for each kind of profile, and the picture."""
    rows = document["rows"]
    claims = [check_profile(rows, profile, sampled=document["quick"]) for profile in PROFILES]
    return Page(format_text(rows, document["quick"]), claims, lambda figure: _draw(figure, rows))


def check_profile(rows: list[dict[str, Any]], profile: str, sampled: bool = False) -> Claim:
    """Whether as many users as the paper says have a negative correlation.

    sampled: whether rows are of some users only, so that a share near a limit decides nothing.
    """
    mine = [row for row in rows if row["profile"] == profile and not row["control"]]
    chance = {row["dataset"]: row["negative_percent"] for row in rows if row["profile"] == profile and row["control"]}
    verdict: Verdict = "does not hold"
    if all(abs(row["negative_percent"] - row["paper_negative_percent"]) <= CLOSE for row in mine):
        verdict = "holds"
    elif all(row["negative_percent"] > chance[row["dataset"]] + CLOSE for row in mine):
        verdict = "holds with a caveat"
    decided = not sampled or all(
        abs(abs(row["negative_percent"] - limit) - CLOSE) > 2 * _standard_error(row)
        for row in mine
        for limit in (row["paper_negative_percent"], chance[row["dataset"]])
    )
    stated = ", ".join(f"{row['paper_negative_percent']:g} %" for row in mine)
    return Claim(
        statement=f"Similar users are closer: with {profile} profiles the correlation is negative for {stated} of the users.",
        rule=(
            f"holds if the share of negative correlations is within {CLOSE:g} points of the paper's on every network; with a "
            f"caveat if not, but it is more than {CLOSE:g} points above that of the control on every network; else it does "
            "not hold."
        ),
        verdict=verdict,
        evidence="; ".join(
            f"{row['dataset']} {row['negative_percent']:.1f} % (control {chance[row['dataset']]:.1f} %)" for row in mine
        )
        + ".",
        decided=decided,
    )


def _standard_error(row: dict[str, Any]) -> float:
    """Of the percentage of negative correlations among a sample of users."""
    share = row["negative_percent"] / 100.0
    return 100.0 * float(np.sqrt(share * (1.0 - share) / row["users"]))


def format_text(rows: list[dict[str, Any]], quick: bool) -> str:
    """What was measured, and the table."""
    which = "200 evenly spaced users of each network" if quick else "every user"
    return (
        f"For {which}: correlation over all other users of how similar their ratings are with how many steps away they are. "
        "Control: the same profiles dealt to users at random, five times.\n\n"
        + markdown_table(
            ["network", "profile", "negative, paper", "here", "control", "range, paper", "here", "middle 98 % here", "users"],
            [
                [
                    row["dataset"],
                    row["profile"],
                    f"{row['paper_negative_percent']:.1f} %",
                    f"{row['negative_percent']:.1f} %",
                    f"{control['negative_percent']:.1f} %",
                    f"[{row['paper_low']:.2f}, {row['paper_high']:.2f}]",
                    f"[{row['low']:.2f}, {row['high']:.2f}]",
                    f"[{_at(row, 0.01):.2f}, {_at(row, 0.99):.2f}]",
                    row["users"],
                ]
                for row, control in zip(rows[::2], rows[1::2], strict=True)
            ],
        )
    )


def _at(row: dict[str, Any], share: float) -> float:
    return float(np.interp(share, np.linspace(0.0, 1.0, len(row["quantiles"])), row["quantiles"]))


def _draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    """How the correlations are spread: a panel for each network, solid for users, dotted for the control."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    for panel, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        for row in rows:
            if row["dataset"] == name:
                colour = "#2f6f9f" if row["profile"] == "full" else "#c8553d"
                style, label = (":", f"{row['profile']}, control") if row["control"] else ("-", row["profile"])
                shares = np.linspace(0.0, 1.0, len(row["quantiles"]))
                panel.plot(row["quantiles"], shares, style, color=colour, label=label, linewidth=1.4)
        panel.axvline(0.0, color="#bbbbbb", linewidth=0.8)
        panel.set_title(name)
        panel.set_xlabel("correlation of similarity and distance")
        panel.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("share of users below")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=8)
