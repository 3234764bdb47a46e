"""The tables, the picture and the verdicts of the experiment on bins."""

from __future__ import annotations

from typing import Any

from privact.experiments.report.findings import Claim, Page, Verdict, markdown_table

__all__ = ["check_meaning_of_bins", "check_number_of_bins", "write_page"]

MORE = 1.25
"""More random bins see more than the number of contacts if they find this many times the contacts that one bin finds."""

TWICE = 2.0
"""How many times the contacts of random bins labels are to find."""

CHOSEN = "shares+own"
"""The profile that labels are measured with."""


def write_page(document: dict[str, Any]) -> Page:
    """A table for each part, the verdicts and the picture."""
    numbers, meant = document["numbers"], document["made_up"]["rows"]
    text = _format_text(numbers, meant, document["made_up"]["n_users"], document["seeds"])
    return Page(
        text,
        [check_number_of_bins(numbers), check_meaning_of_bins(meant)],
        lambda figure: _draw(figure, numbers, meant),
        runs=document["seeds"],
    )


def _format_text(numbers: list[dict[str, Any]], meant: list[dict[str, Any]], n_users: int, seeds: int) -> str:
    """What was measured, and a table for each part."""
    epsilons = list(dict.fromkeys(row["epsilon"] for row in numbers))
    cells = {
        (row["dataset"], row["n_bins"], row["epsilon"]): f"{row['loss']:.1f} / {row['share_of_contacts']:.4f}" for row in numbers
    }
    reference = meant[0]["share_of_contacts"]
    runs = f"{seeds} {'run' if seeds == 1 else 'runs'}"
    return (
        "## How many random bins\n\n"
        "Loss in percent of the noise-free tree of as many bins / share of true contacts among a user's nearest users in the "
        f"tree, as many as the user has contacts; means of {runs}. One bin tells the number of contacts alone.\n\n"
        + markdown_table(
            ["network", "bins", *("no noise" if e is None else f"epsilon {e:g}" for e in epsilons)],
            [
                [name, n_bins, *(cells[name, n_bins, epsilon] for epsilon in epsilons)]
                for name, n_bins in dict.fromkeys((row["dataset"], row["n_bins"]) for row in numbers)
            ],
        )
        + "\n\n## What bins mean\n\n"
        f"Share of true contacts among the nearest users on a made-up federated network of {n_users:,} users at epsilon 1; "
        f"{runs}. Most users live on the server of their community, and tastes follow communities. *Own group only* never "
        "sees a report; *one bin* sees the number of contacts only; a random tree sees nothing.\n\n"
        + markdown_table(
            ["bins", "compared by", "contacts", "times random bins"],
            [
                [
                    _name(row) + (" (control)" if row["control"] else ""),
                    row["profile"],
                    f"{row['share_of_contacts']:.4f}",
                    f"{row['share_of_contacts'] / reference:.2f}",
                ]
                for row in meant
            ],
        )
    )


def _name(row: dict[str, Any]) -> str:
    return {"random": "random bins", "one": "one bin"}.get(row["bins"], str(row["bins"]))


def check_number_of_bins(numbers: list[dict[str, Any]]) -> Claim:
    """Whether any number of random bins finds clearly more contacts than the number of contacts alone, at epsilon 1."""
    here = [row for row in numbers if row["epsilon"] == 1.0]
    one = {row["dataset"]: row["share_of_contacts"] for row in here if row["n_bins"] == 1}
    ratios = [(row["share_of_contacts"] / one[row["dataset"]], row) for row in here if row["n_bins"] > 1]
    best, where = max(ratios, key=lambda pair: pair[0])
    return Claim(
        statement="Not the paper's, ours: at epsilon 1 no number of random bins sees more of who the contacts are than how many "
        "there are.",
        rule=f"holds if no number of random bins finds more than {MORE:g} times the contacts that one bin finds, in any network; "
        "else it does not hold.",
        verdict="holds" if best <= MORE else "does not hold",
        evidence=f"The most is {best:.2f} times, on {where['dataset']} with {where['n_bins']} bins.",
    )


def check_meaning_of_bins(meant: list[dict[str, Any]]) -> Claim:
    """Whether labels find more contacts than random bins, and than the labels alone do."""
    share = {(row["bins"], row["profile"]): row["share_of_contacts"] for row in meant}
    kinds = ("home servers", "taste groups")
    ratios = {kind: share[kind, CHOSEN] / share["random", "counts"] for kind in kinds}
    added = [kind for kind in kinds if share[kind, CHOSEN] > share[kind, "own group only"]]
    verdict: Verdict = "does not hold"
    if min(ratios.values()) >= TWICE:
        verdict = "holds" if len(added) == len(kinds) else "holds with a caveat"
    return Claim(
        statement=f"Not the paper's, ours: bins that mean something find at least {TWICE:g} times the contacts that random bins "
        "find at epsilon 1.",
        rule=f"by the profile {CHOSEN}: holds if home servers and taste groups both find at least {TWICE:g} times as many, and "
        "more than the labels find without any report; with a caveat if only the first is so; else it does not hold.",
        verdict=verdict,
        evidence=", ".join(f"{kind} {ratio:.2f} times" for kind, ratio in ratios.items())
        + f"; more than the labels alone for {len(added)} of {len(kinds)}.",
    )


def _draw(figure: Any, numbers: list[dict[str, Any]], meant: list[dict[str, Any]]) -> None:
    """Left: share of contacts by the number of random bins at epsilon 1; right: by what bins mean."""
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.3))
    for name, colour in zip(dict.fromkeys(row["dataset"] for row in numbers), ("#2f6f9f", "#c8553d", "#5b8c5a"), strict=False):
        rows = [row for row in numbers if row["dataset"] == name and row["epsilon"] == 1.0]
        left.plot([row["n_bins"] for row in rows], [row["share_of_contacts"] for row in rows], "o-", color=colour, label=name)
    left.set_xscale("log")
    left.minorticks_off()
    left.set_xticks(list(dict.fromkeys(row["n_bins"] for row in numbers if row["dataset"] == numbers[0]["dataset"])))
    left.xaxis.set_major_formatter("{x:.0f}")
    left.set_xlabel("random bins")
    left.set_ylim(bottom=0.0)
    left.set_ylabel("true contacts among the nearest, ε = 1")
    left.legend(frameon=False)
    rows = meant[::-1]
    right.barh(
        range(len(rows)),
        [row["share_of_contacts"] for row in rows],
        color=["#b8bfca" if row["control"] else "#c98a3d" if row["bins"] == "random" else "#2f6f9f" for row in rows],
    )
    right.set_yticks(range(len(rows)), [f"{_name(row)}, {row['profile']}" for row in rows], fontsize=8)
    right.set_xlabel("made-up network, ε = 1 (grey: control, orange: the paper's bins)", fontsize=8)
    for panel in (left, right):
        panel.spines[["top", "right"]].set_visible(False)
