"""Short tables for a terminal and a notebook: how results of queries show themselves."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

__all__ = ["render_html_table", "render_text_table"]


def render_text_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns side by side, the last one to the right."""
    cells = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)), row[-1].rjust(widths[-1])])
        for row in cells
    )


def render_html_table(head: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "") -> str:
    """The same as an HTML table."""
    top = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<tr>{top}</tr>{body}</table>"
