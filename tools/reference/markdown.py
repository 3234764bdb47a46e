"""Pieces of Markdown: tables, and text that stands in their cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["cell", "code", "table"]


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, or nothing if there are no rows."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}", *lines, ""]) if lines else ""


def cell(text: str) -> str:
    """Text in one line, in which nothing ends a cell or starts a tag."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def code(text: str) -> str:
    """Text in a cell, set as code."""
    return f"`{' '.join(text.split())}`".replace("|", "\\|")
