"""What commands print: one JSON document, or plain text that stays aligned at 80 columns."""

from __future__ import annotations

import json
import math
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

__all__ = ["Json", "columns", "facts", "number", "paragraph", "print_json", "shown", "table"]

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]

_GAP = "  "


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON document; NaN and infinity become null."""
    print(json.dumps(_finite(document), indent=2))


def shown(text: object) -> str:
    """Text from a file as it may go to a terminal: characters that would move the cursor or break a line are escaped."""
    plain = str(text)
    if plain.isprintable():
        return plain
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in plain)


def number(value: float, digits: int = 4) -> str:
    """A number with sensible digits: 1,234,567 or 0.02137 or 2.31e+13."""
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value) or value == 0 or 1e-4 <= abs(value) < 10**digits:
        return f"{value:.{digits}g}"
    return f"{value:,.0f}" if 1 <= abs(value) < 1e9 else f"{value:.{digits - 1}e}"


def paragraph(text: str) -> None:
    """Print text wrapped to the terminal."""
    print(textwrap.fill(text, min(_width(), 100)))


def facts(rows: Iterable[tuple[str, object]]) -> None:
    """Print names and values in two columns; long values are wrapped beside their name."""
    listed = [(name, shown(value)) for name, value in rows]
    indent = max(len(name) for name, _ in listed) + len(_GAP)
    for name, value in listed:
        lines = textwrap.wrap(value, max(min(_width(), 100) - indent, 20)) or [""]
        print(name.ljust(indent) + lines[0])
        for line in lines[1:]:
            print(" " * indent + line)


def table(heading: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print rows under a heading, in aligned columns.

    right: the columns that are aligned to the right, such as numbers.
    """
    lines = [list(heading), *([shown(cell) for cell in row] for row in rows)]
    widths = [max(_cells(line[column]) for line in lines) for column in range(len(heading))]
    for line in lines:
        cells = [
            " " * (width - _cells(cell)) + cell if column in right else cell + " " * (width - _cells(cell))
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print(_GAP.join(cells).rstrip())


def columns(items: Sequence[str]) -> None:
    """Print items one after the other, downwards in as many columns as fit the terminal."""
    cells = [shown(item) for item in items]
    width = max(map(_cells, cells), default=0) + len(_GAP)
    count = max(1, _width() // width)
    height = -(-len(cells) // count)
    for row in range(height):
        print("".join(cell + " " * (width - _cells(cell)) for cell in cells[row::height]).rstrip())


def _width() -> int:
    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80


def _cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # knows which characters are wide

    return cell_len(text)


def _finite(value: Any) -> Any:
    """The value with plain numbers only, which JSON can hold."""
    if isinstance(value, dict):
        return {str(name): _finite(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
