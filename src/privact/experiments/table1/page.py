"""Table 1 as a page: sizes beside those of the paper."""

from __future__ import annotations

from typing import Any

from privact.experiments.report.findings import Claim, Page, markdown_table

__all__ = ["write_page"]


def write_page(document: dict[str, Any]) -> Page:
    """The table, the verdict and the picture."""
    rows = document["rows"]
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
    return Page(body, [claim], lambda figure: _draw(figure, rows))


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
