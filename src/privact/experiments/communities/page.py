"""The table, the picture and the verdict of the experiment on communities."""

from __future__ import annotations

from typing import Any

from privact.experiments.report.findings import Claim, Page, Verdict, markdown_table
from privact.experiments.running.networks import OWN

__all__ = ["CHOSEN", "TARGET", "check_target", "write_page"]

TARGET = 2.5
"""How many times the share of true contacts of random bins taste groups are to have."""

CHOSEN = ("taste groups", 16, "shares+own")
"""The tree that the target is about: bins, how many, and profile."""

TOLD = ("lastfm", OWN)
"""The networks that the target is told about."""

COLOURS = {"counts": "#b8bfca", "shares": "#7fa8c9", "shares+own": "#2f6f9f"}


def write_page(document: dict[str, Any]) -> Page:
    """A table for each network and epsilon, the verdict and the picture."""
    rows = document["rows"]
    return Page(
        _format_text(rows, document["seeds"]), check_target(rows), lambda figure: _draw(figure, rows), runs=document["seeds"]
    )


def _format_text(rows: list[dict[str, Any]], seeds: int) -> str:
    """What was measured, and one table a network and epsilon."""
    runs = "run" if seeds == 1 else "runs"
    parts = [
        f"Users are asked for as many nearest users in the tree as they have contacts; means over users and {seeds} {runs}, each "
        "with users in another order, other taste groups and other noise. *Contacts*: share of true contacts among the nearest "
        "(± standard deviation over runs); *two steps*: share of contacts of contacts; *path*: mean shortest path to the "
        "nearest; *AUC*: how often two contacts are nearer in the tree than two others; *ratio*: contacts over those of random "
        "bins by counts, the paper's setting, at the same epsilon. Taste groups are learned from all ratings and none of the "
        "contacts, and the reports count contacts by group. Controls: *own group only* never sees a report, *one bin* sees the "
        "number of contacts only, and a *random tree* sees nothing; the first and the last do not depend on epsilon. *Most "
        "connected users* are no tree: everybody is told the same users, those with the most contacts by the reports."
    ]
    for name, epsilon in dict.fromkeys((row["dataset"], row["epsilon"]) for row in rows):
        chosen = [row for row in rows if (row["dataset"], row["epsilon"]) == (name, epsilon)]
        noise = "no noise" if epsilon is None else f"epsilon {epsilon:g}"
        parts.append(f"## {name}, {noise}\n\n" + _table(chosen))
    return "\n\n".join(parts)


def _table(rows: list[dict[str, Any]]) -> str:
    return markdown_table(
        ["bins", "compared by", "contacts", "two steps", "path", "AUC", "ratio"],
        [
            [
                _bins(row) + (" (control)" if row["control"] else ""),
                row["profile"],
                f"{row['share_of_contacts']:.4f} ± {row['share_of_contacts_sd']:.4f}",
                f"{row['share_of_two_hop']:.3f}",
                f"{row['mean_path']:.2f}",
                f"{row['auc']:.3f}",
                f"{row['ratio']:.2f}",
            ]
            for row in rows
        ],
    )


def _bins(row: dict[str, Any]) -> str:
    return {"one": "one bin", "none": "none", "no tree": "no tree"}.get(row["bins"], f"{row['n_bins']} {row['bins']}")


def check_target(rows: list[dict[str, Any]]) -> list[Claim]:
    """Whether taste groups reach the target at epsilon 1 on lastfm or one's own network, and whether reports add to it."""
    claims = []
    for name in TOLD:
        cells = {(r["bins"], r["n_bins"], r["profile"]): r for r in rows if (r["dataset"], r["epsilon"]) == (name, 1.0)}
        if CHOSEN not in cells:
            continue
        found, alone = cells[CHOSEN], cells[CHOSEN[0], CHOSEN[1], "own group only"]
        pairs = list(zip(found["share_of_contacts_runs"], alone["share_of_contacts_runs"], strict=True))
        verdict: Verdict = "does not hold"
        if found["ratio"] >= TARGET:
            verdict = "holds" if all(with_reports > without for with_reports, without in pairs) else "holds with a caveat"
        claims.append(
            Claim(
                statement=(
                    f"Not the paper's, ours: at epsilon 1 on {name}, taste groups find at least {TARGET:g} times as many true "
                    f"contacts as random bins ({CHOSEN[1]} groups, profile {CHOSEN[2]})."
                ),
                rule=(
                    f"holds if the ratio is at least {TARGET:g} and reports add to what the groups alone know in every run; with "
                    "a caveat if only the first is so; else it does not hold."
                ),
                verdict=verdict,
                evidence=(
                    f"{found['ratio']:.2f} times, {found['share_of_contacts']:.4f} of the nearest; the groups alone, without any "
                    f"report, {alone['ratio']:.2f} times, {alone['share_of_contacts']:.4f}."
                ),
            )
        )
    return claims


def _draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    """Share of contacts by bins and profile, a panel for each network, at the first epsilon of the rows."""
    epsilon = rows[0]["epsilon"]
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    for panel, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        here = [row for row in rows if (row["dataset"], row["epsilon"]) == (name, epsilon)]
        labels = list(dict.fromkeys(_bins(row) for row in here if not row["control"]))
        for i, (profile, colour) in enumerate(COLOURS.items()):
            mine = [row for row in here if row["profile"] == profile and not row["control"]]
            panel.bar(
                [labels.index(_bins(row)) + 0.27 * (i - 1) for row in mine],
                [row["share_of_contacts"] for row in mine],
                0.27,
                yerr=[row["share_of_contacts_sd"] for row in mine],
                color=colour,
                ecolor="#555555",
                label=profile,
            )
        alone = [row for row in here if row["profile"] == "own group only"]
        panel.plot(
            [labels.index(_bins(row)) for row in alone],
            [row["share_of_contacts"] for row in alone],
            "o",
            color="#c8553d",
            label="own group only",
        )
        for kind, style in (("one", ":"), ("none", "--")):
            [control] = [row for row in here if row["bins"] == kind]
            panel.axhline(
                control["share_of_contacts"],
                color="#777777",
                linewidth=0.9,
                linestyle=style,
                label="number of contacts only" if kind == "one" else "random tree",
            )
        panel.set_title(f"{name}, {'no noise' if epsilon is None else f'ε = {epsilon:g}'}")
        panel.set_xticks(range(len(labels)), [label.replace(" taste groups", " taste\ngroups") for label in labels])
        panel.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("true contacts among the nearest")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False, fontsize=8)
