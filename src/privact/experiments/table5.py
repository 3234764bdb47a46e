"""Table 5 of the paper (appendix): are users with like ratings close in the network?

For each user, the Pearson correlation over all other users of two numbers: how like their ratings are, and how many steps
through contacts they are away. Likeness is Pearson's correlation of ratings too. *Partial* profiles: over the items that both
rated; two users who have fewer than two such items, or rated them all the same, are not alike: 0. *Full* profiles: over all
items, those that a user did not rate being 0. The paper does not say what it does with pairs without common items; leaving them
out instead gives correlations from -1 to 1, far from its ranges.

The control deals the same rating profiles to users at random, a few times: users share the others, so that one deal moves the
correlations of all to the same side.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.experiments.kept_parts import Cells
from privact.experiments.rated_network import RatedNetwork, load_rated, require_rated
from privact.experiments.recommend_rows import ROW
from privact.experiments.results import Claim, Findings, Verdict, markdown_table
from privact.progress import Tell
from privact.recommend.data.ratings import Ratings

__all__ = [
    "PAPER",
    "full_likeness",
    "partial_likeness",
    "profile_claim",
    "row_correlations",
    "table_5",
    "user_correlations",
]

PAPER: dict[str, dict[str, tuple[float, float, float]]] = {
    "lastfm": {"partial": (76.8, -0.25, 0.17), "full": (100.0, -0.23, 0.02)},
    "delicious": {"partial": (96.6, -0.26, 0.04), "full": (100.0, -0.23, 0.02)},
    "douban": {"partial": (95.1, -0.14, 0.05), "full": (100.0, -0.28, -0.01)},
}
"""What the paper states for each network and profile: percent of users with a negative correlation, lowest, highest."""

PROFILES = ("partial", "full")
CLOSE = 5.0
"""How many points of percent the share of negative correlations may be off."""

DEALS = 5
"""How many times the control deals profiles to users."""

QUICK_USERS = 200
BLOCK = 256
"""How many users are compared with everybody at a time."""


def table_5(data: str | None, output: Path | None, quick: bool, tell: Tell) -> Findings:
    """The correlations of all users of each network, beside what the paper states.

    data: folder of the datasets. output: where finished parts are kept; None keeps none. quick: 200 users of each network.
    tell: is told what is running, how much is done, of how much.
    """
    cells = Cells(None if output is None else output / "cells", version=2)
    require_rated(PAPER, data)
    rows: list[dict[str, Any]] = []
    for done, name in enumerate(PAPER):
        tell(f"{name}: ratings and distances", done, len(PAPER))
        network = load_rated(name, data)
        described = {"experiment": "table5", "dataset": name, "data": network.content, "quick": quick, "deals": DEALS}
        kept = cells.get_or_run(described, lambda n=network: _summaries(n, quick))  # type: ignore[misc]
        rows += kept["rows"]
    return Findings(
        "table5",
        "Table 5: like ratings and distance in the network",
        {"quick": quick, "rows": [_full_row(each) for each in rows]},
        page(rows, quick),
        [profile_claim(rows, profile) for profile in PROFILES],
        lambda figure: draw(figure, rows),
    )


def _full_row(found: dict[str, Any]) -> dict[str, Any]:
    """A row with the keys that rows of all results have; what is not measured here is null."""
    told = {"scenario": "likeness against distance", "method": f"{found['profile']} profiles", "private": False}
    return {**dict.fromkeys(ROW), **found, **told, "control": "profiles dealt at random" if found["control"] else None}


def _summaries(network: RatedNetwork, quick: bool) -> dict[str, Any]:
    n = network.graph.n_users
    users = np.arange(0, n, -(-n // QUICK_USERS) if quick else 1)
    found = user_correlations(network, users)
    rows = []
    for profile in PROFILES:
        negative, low, high = PAPER[network.name][profile]
        for control in (False, True):
            values = found[profile, control]
            defined = values[~np.isnan(values)]
            rows.append(
                {
                    "dataset": network.name,
                    "profile": profile,
                    "control": control,
                    "negative_percent": float(100.0 * (defined < 0.0).mean()),
                    "low": float(defined.min()),
                    "high": float(defined.max()),
                    "mean": float(defined.mean()),
                    "quantiles": np.quantile(defined, np.linspace(0.0, 1.0, 101)).tolist(),
                    "users": len(defined),
                    "undefined": len(values) - len(defined),
                    "paper_negative_percent": negative,
                    "paper_low": low,
                    "paper_high": high,
                }
            )
    return {"rows": rows}


def user_correlations(network: RatedNetwork, users: NDArray[np.integer[Any]]) -> dict[tuple[str, bool], NDArray[np.float64]]:
    """By profile and whether it is the control: the correlation of likeness and distance of each of some users.

    The control has DEALS correlations a user. NaN where a user is like nobody, or equally like everybody; others whom no path
    reaches are left out.
    """
    from scipy.sparse.csgraph import shortest_path

    rng = np.random.default_rng(0)
    steps = shortest_path(network.graph.to_scipy(), unweighted=True)
    deals = [rng.permutation(network.graph.n_users) for _ in range(DEALS)]
    found: dict[tuple[str, bool], list[NDArray[np.float64]]] = {(p, c): [] for p in PROFILES for c in (False, True)}
    for first in range(0, len(users), BLOCK):
        rows = users[first : first + BLOCK]
        likeness = {"partial": partial_likeness(network.ratings, rows), "full": full_likeness(network.ratings, rows)}
        for control, distance in [(False, steps[rows]), *((True, steps[deal[rows]][:, deal]) for deal in deals)]:
            counted = np.isfinite(distance)
            counted[np.arange(len(rows)), rows] = False
            for profile in PROFILES:
                found[profile, control].append(row_correlations(likeness[profile], distance, counted))
    return {key: np.concatenate(parts) for key, parts in found.items()}


def partial_likeness(ratings: Ratings, rows: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """(q, n) correlation of the ratings of some users with everybody's, over the items that both rated; else 0."""
    values, rated = ratings.matrix, ratings.binary
    squares = values.multiply(values).tocsr()
    common = (rated[rows] @ rated.T).toarray()
    mine, theirs = (values[rows] @ rated.T).toarray(), (rated[rows] @ values.T).toarray()
    my_spread = common * (squares[rows] @ rated.T).toarray() - mine**2
    their_spread = common * (rated[rows] @ squares.T).toarray() - theirs**2
    product = common * (values[rows] @ values.T).toarray() - mine * theirs
    alike = (common >= 2) & (my_spread > 1e-9) & (their_spread > 1e-9)
    spread = np.sqrt(np.where(alike, my_spread * their_spread, 1.0))
    return np.where(alike, np.clip(product / spread, -1.0, 1.0), 0.0)


def full_likeness(ratings: Ratings, rows: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """(q, n) correlation of the ratings of some users with everybody's, over all items, 0 where not rated."""
    values = ratings.matrix
    total = np.asarray(values.sum(axis=1)).ravel()
    spread = ratings.n_items * np.asarray(values.multiply(values).sum(axis=1)).ravel() - total**2
    product = ratings.n_items * (values[rows] @ values.T).toarray() - np.outer(total[rows], total)
    alike = np.outer(spread[rows] > 1e-9, spread > 1e-9)
    return np.where(alike, product / np.sqrt(np.where(alike, np.outer(spread[rows], spread), 1.0)), 0.0)


def row_correlations(one: NDArray[np.float64], other: NDArray[np.float64], counted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(q) Pearson correlation of each row of two tables over the places that count; NaN where a side does not vary."""
    number = np.maximum(counted.sum(axis=1, keepdims=True), 1)
    parts = []
    for table in (one, other):
        values = np.where(counted, table, 0.0)
        parts.append(np.where(counted, values - values.sum(axis=1, keepdims=True) / number, 0.0))
    spread = np.sqrt((parts[0] ** 2).sum(axis=1) * (parts[1] ** 2).sum(axis=1))
    varied = spread > 1e-9
    return np.where(varied, (parts[0] * parts[1]).sum(axis=1) / np.where(varied, spread, 1.0), np.nan)


def profile_claim(rows: list[dict[str, Any]], profile: str) -> Claim:
    """Whether as many users as the paper says have a negative correlation."""
    mine = [row for row in rows if row["profile"] == profile and not row["control"]]
    chance = {row["dataset"]: row["negative_percent"] for row in rows if row["profile"] == profile and row["control"]}
    verdict: Verdict = "does not hold"
    if all(abs(row["negative_percent"] - row["paper_negative_percent"]) <= CLOSE for row in mine):
        verdict = "holds"
    elif all(row["negative_percent"] > chance[row["dataset"]] + CLOSE for row in mine):
        verdict = "holds with a caveat"
    stated = ", ".join(f"{row['paper_negative_percent']:g} %" for row in mine)
    return Claim(
        statement=f"Like users are closer: with {profile} profiles the correlation is negative for {stated} of the users.",
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
    )


def page(rows: list[dict[str, Any]], quick: bool) -> str:
    """What was measured, and the table."""
    which = "200 evenly spaced users of each network" if quick else "every user"
    return (
        f"For {which}: correlation over all other users of how like their ratings are with how many steps away they are. "
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


def draw(figure: Any, rows: list[dict[str, Any]]) -> None:
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
        panel.set_xlabel("correlation of likeness and distance")
        panel.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("share of users below")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=8)
