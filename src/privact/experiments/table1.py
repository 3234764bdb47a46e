"""Table 1 of the paper: the sizes of the three networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from privact.experiments.results import Claim, Findings, markdown_table
from privact.network.datasets import TABLE_1, load_dataset

DENSITY = {"lastfm": 0.0075, "delicious": 0.0056, "douban": 0.0062}
"""Densities that the paper states, to four places."""


def table_1(data: str | None, tell: Callable[[str], None]) -> Findings:
    """Count users, contacts and density of the largest component of each network, beside what the paper states."""
    rows: list[dict[str, Any]] = []
    for name, stated in TABLE_1.items():
        tell(name)
        graph = load_dataset(name, data).graph
        density = 2 * graph.n_edges / (graph.n_users * (graph.n_users - 1))
        rows.append(
            {
                "dataset": name,
                "n_users": graph.n_users,
                "n_edges": graph.n_edges,
                "density": density,
                "paper_n_users": stated.n_users,
                "paper_n_edges": stated.n_edges,
                "paper_density": DENSITY[name],
            }
        )
    same = [row for row in rows if _same(row)]
    claim = Claim(
        statement="Table 1 gives the sizes of the networks.",
        rule="holds if users and contacts are equal and densities agree to four places in every network.",
        verdict="holds" if len(same) == len(rows) else "does not hold",
        evidence=f"{len(same)} of {len(rows)} networks agree.",
    )
    body = markdown_table(
        ["network", "users (paper)", "contacts (paper)", "density (paper)"],
        [
            [
                row["dataset"],
                f"{row['n_users']} ({row['paper_n_users']})",
                f"{row['n_edges']} ({row['paper_n_edges']})",
                f"{row['density']:.4f} ({row['paper_density']})",
            ]
            for row in rows
        ],
    )
    return Findings("table1", "Table 1: the networks", {"rows": rows}, body, [claim], lambda figure: _draw(figure, rows))


def _same(row: dict[str, Any]) -> bool:
    sizes = row["n_users"] == row["paper_n_users"] and row["n_edges"] == row["paper_n_edges"]
    return bool(sizes and abs(row["density"] - row["paper_density"]) < 5e-5 + 1e-12)


def _draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    panels = figure.subplots(1, 3)
    for panel, (key, title) in zip(panels, (("n_users", "users"), ("n_edges", "contacts"), ("density", "density")), strict=True):
        places = range(len(rows))
        panel.bar([x - 0.2 for x in places], [row["paper_" + key] for row in rows], 0.4, label="paper", color="#b8bfca")
        panel.bar([x + 0.2 for x in places], [row[key] for row in rows], 0.4, label="here", color="#2f6f9f")
        panel.set_xticks(list(places), [row["dataset"] for row in rows])
        panel.set_title(title)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False)
