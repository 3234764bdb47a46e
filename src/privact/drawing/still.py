"""A still of a tree for papers and pages: an icicle of nested blocks, through matplotlib."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from privact.drawing.colours import INK, OUTLINE, QUIET, ink_on, sample_colour
from privact.query.blocks import Block

if TYPE_CHECKING:
    from privact.drawing.composition import Drawing

__all__ = ["render_still"]

_WIDTH, _FIRST_ROW, _ROW = 10.0, 0.34, 0.62  # inches; so are all lengths here
_LEFT, _RIGHT, _TITLE, _BOTTOM = 1.30, 0.15, 0.30, 0.06
_GAP = 0.007  # paper on each side of a block
_LINE = 0.165  # height of a line of small text
_CHARACTERS = 136  # of small text that fit a line
_NARROWEST = 0.11  # a block that holds text of this size
_DPI = 160
_SETTINGS = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same picture everywhere
    "svg.hashsalt": "privact",  # the same tree, the same bytes
    "svg.fonttype": "path",
    "text.parse_math": False,  # a user may be called $x$
}


def render_still(drawing: Drawing, kind: str) -> bytes:
    """The picture as the bytes of a file.

    drawing: what to show.
    kind: "png" or "svg".
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    reading, notes = textwrap.wrap(_explain_picture(drawing), _CHARACTERS), textwrap.wrap(drawing.notes, _CHARACTERS)
    top = _TITLE + 0.30 + _LINE * len(reading)
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(_WIDTH, 1.0), facecolor="white")
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0.0, _WIDTH)
        axes.axis("off")
        axes.text(_LEFT, _TITLE, drawing.title, fontsize=14, fontweight="bold", color=INK, va="center")
        pen = _Pen(axes, canvas.get_renderer(), top, len(drawing.rows))
        pen.lines(reading, _TITLE + 0.26)
        for row, size in enumerate(drawing.rows):
            text = "everybody" if row == 0 else ("single users" if size == 1 else f"at most {size:,}")
            middle = (pen.row_top(row) + pen.row_top(row + 1)) / 2
            axes.text(_LEFT - 0.12, middle, text, fontsize=8, color=QUIET, ha="right", va="center")
        for number, block in enumerate(drawing.blocks):
            pen.block(block, drawing.colours[number], drawing.mixtures[number])
        for block in drawing.blocks:
            if block.highlight and block.parent >= 0:
                pen.outline(block)
        y = pen.row_top(len(drawing.rows)) + 0.18
        if drawing.groups:
            y = pen.legend(drawing.groups, y) + 0.26
        height = pen.lines(notes, y) + _BOTTOM
        axes.set_ylim(height, 0.0)
        figure.set_size_inches(_WIDTH, height)
        stream = io.BytesIO()
        metadata = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
        figure.savefig(stream, format=kind, dpi=_DPI, metadata=metadata)
    return stream.getvalue()


def _explain_picture(drawing: Drawing) -> str:
    text = "Each row cuts the same users into smaller clusters; numbers count users."
    if drawing.groups:
        text += " Colour: the group that most users of a cluster are in, grey where groups are mixed."
    if any(block.is_pool for block in drawing.blocks):
        text += " Palest: clusters too small to draw."
    if drawing.highlight is not None:
        text += f" Outlined: the clusters around {drawing.tree.users_of(np.array([drawing.highlight], np.int32))[0]}."
    return text


class _Pen:
    """Draws onto axes that are measured in inches from the upper left corner.

    top: where row 0 begins. n_rows: how many rows there are.
    """

    def __init__(self, axes: Any, renderer: Any, top: float, n_rows: int) -> None:
        self.axes, self.renderer, self.top, self.n_rows = axes, renderer, top, n_rows

    def row_top(self, row: int) -> float:
        """Where a row begins."""
        return self.top + (_FIRST_ROW + _ROW * (row - 1) if row else 0.0)

    def block(self, block: Block, colour: str, mixture: tuple[str, float] | None) -> None:
        """A block with its name, as far as there is room for it."""
        left, top, width, height = self._edges(block)
        gap = min(_GAP, width / 5)
        self._rectangle(left + gap, top + _GAP, width - 2 * gap, height - 2 * _GAP, facecolor=colour, linewidth=0)
        size = f"{block.size:,}"
        first_row = self.row_top(block.first_row + 1) - top
        names = [(size, 0), (size, 90)]
        if mixture is not None and mixture[1] >= 0.5 and not block.is_pool:
            names = [(f"{mixture[0]}\n{size}", 0), (f"{mixture[0]}  {size}", 90), *names]
        if block.is_pool:
            names = [(f"{size} in {block.clusters:,}\nsmall clusters", 0), (size, 0)]
        for name, rotation in names:
            room = height if rotation else first_row
            if self._writes(name, (left + width / 2, top + room / 2), colour, width, room, rotation):
                return

    def outline(self, block: Block) -> None:
        """A frame around a block."""
        self._rectangle(*self._edges(block), facecolor="none", edgecolor=OUTLINE, linewidth=1.6)

    def lines(self, lines: Sequence[str], y: float) -> float:
        """Lines of small text from y downwards; returns where the next would be."""
        for number, line in enumerate(lines):
            self.axes.text(_LEFT, y + _LINE * number, line, fontsize=8, color=QUIET, va="center")
        return y + _LINE * len(lines)

    def legend(self, groups: Sequence[str], y: float) -> float:
        """The groups and their colours in as many lines as they need; returns where the last line is."""
        x = _LEFT
        for number, name in enumerate(groups):
            text = self.axes.text(x + 0.16, y, name, fontsize=8, color=QUIET, va="center")
            width = self._extent(text)[0]
            if x + 0.16 + width > _WIDTH - _RIGHT and x > _LEFT:
                x, y = _LEFT, y + 0.20
                text.set_position((x + 0.16, y))
            self._rectangle(x, y - 0.055, 0.11, 0.11, facecolor=sample_colour(number, len(groups)), linewidth=0)
            x += 0.16 + width + 0.14
        return y

    def _edges(self, block: Block) -> tuple[float, float, float, float]:
        """Left, top, width and height of a block."""
        span = _WIDTH - _LEFT - _RIGHT
        left, right = _LEFT + span * block.begin, _LEFT + span * block.end
        top = self.row_top(block.first_row)
        return left, top, right - left, self.row_top(min(block.last_row + 1, self.n_rows)) - top

    def _rectangle(self, left: float, top: float, width: float, height: float, **looks: Any) -> None:
        from matplotlib.patches import Rectangle

        self.axes.add_patch(Rectangle((left, top), width, height, **looks))

    def _writes(self, name: str, place: tuple[float, float], colour: str, width: float, height: float, rotation: int) -> bool:
        """Write a name if it fits."""
        if width < _NARROWEST:
            return False
        text = self.axes.text(
            *place, name, fontsize=8, color=ink_on(colour), ha="center", va="center", rotation=rotation, linespacing=1.15
        )
        wide, high = self._extent(text)
        if wide + (0.0 if rotation else 0.06) <= width and high + 0.05 <= height:
            return True
        text.remove()
        return False

    def _extent(self, text: Any) -> tuple[float, float]:
        """Width and height of a text."""
        box = text.get_window_extent(self.renderer)
        return box.width / self.axes.figure.dpi, box.height / self.axes.figure.dpi
