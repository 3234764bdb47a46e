"""A tree where Python is used by hand: drawn onto Matplotlib's axes, opened in a browser, shown in a notebook."""

from __future__ import annotations

import html
import os
import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from privact.drawing.colours import OUTLINE, QUIET, ink_on
from privact.drawing.composition import compose_drawing
from privact.drawing.page import render_page
from privact.drawing.picture import save_picture
from privact.errors import MissingExtraError
from privact.tree.hct import HierarchicalClusterTree, User

__all__ = ["plot_tree", "render_in_notebook", "show_tree"]

MOST_IN_A_NOTEBOOK = 20_000
"""Trees of more users are shown in a notebook by their facts alone: the explorer holds the whole tree."""

_HEIGHT = 520  # of the explorer in a notebook, in pixels
_NARROWEST = 0.035  # share of the width from which on a block tells its size


def plot_tree(
    tree: HierarchicalClusterTree,
    ax: Any = None,
    *,
    title: str | None = None,
    highlight: User | None = None,
    groups: Sequence[str | None] | None = None,
) -> Any:
    """Draw a tree onto Matplotlib's axes; see the tree's method `plot`."""
    try:
        from matplotlib import pyplot
        from matplotlib.patches import Rectangle
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "plotting a tree") from None

    drawing = compose_drawing(tree, title=title, highlight=highlight, groups=groups)
    if ax is None:
        _, ax = pyplot.subplots(figsize=(10, 1 + 0.5 * len(drawing.rows)))
    for number, block in enumerate(drawing.blocks):
        left, top = block.begin * tree.n_users, block.first_row
        width, height = (block.end - block.begin) * tree.n_users, block.last_row + 1 - block.first_row
        colour = drawing.colours[number]
        ax.add_patch(Rectangle((left, top), width, height, facecolor=colour, edgecolor="white", linewidth=0.5))
        if block.end - block.begin >= _NARROWEST and not block.is_pool:
            ax.text(left + width / 2, top + 0.5, f"{block.size:,}", ha="center", va="center", fontsize=8, color=ink_on(colour))
    for block in drawing.blocks:
        if block.highlight and block.parent >= 0:
            corner = (block.begin * tree.n_users, block.first_row)
            size = (block.end - block.begin) * tree.n_users, block.last_row + 1 - block.first_row
            ax.add_patch(Rectangle(corner, *size, facecolor="none", edgecolor=OUTLINE, linewidth=1.6))
    ax.set_xlim(0, tree.n_users)
    ax.set_ylim(len(drawing.rows), 0)
    names = [_name_row(row, size) for row, size in enumerate(drawing.rows)]
    ax.set_yticks([row + 0.5 for row in range(len(names))], names)
    ax.set_xlabel("users, in the order of the tree")
    ax.set_title(drawing.title)
    ax.tick_params(colors=QUIET, length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def show_tree(tree: HierarchicalClusterTree, path: str | Path | None = None, *, open_browser: bool = True) -> Path:
    """Write the explorer of a tree to a file and open it; see the tree's method `show`."""
    if path is None:
        handle, name = tempfile.mkstemp(prefix="privact-", suffix=".html")
        os.close(handle)
        path = name
    file = Path(path).resolve()
    save_picture(tree, file)
    if open_browser:
        webbrowser.open(file.as_uri())
    return file


def render_in_notebook(tree: HierarchicalClusterTree) -> str:
    """A tree as HTML: its facts, and the explorer where it is not too large."""
    facts = f"<p>{html.escape(repr(tree))}</p>"
    if tree.n_users > MOST_IN_A_NOTEBOOK or tree.n_users < 2:
        return f"{facts}<p>Call <code>show()</code> to explore it in a browser.</p>" if tree.n_users > 1 else facts
    page = render_page(tree, f"{tree.n_users:,} users", "", None, (), None)
    style = f"width:100%;height:{_HEIGHT}px;border:0"
    return f'{facts}<iframe sandbox="allow-scripts" style="{style}" srcdoc="{html.escape(page)}"></iframe>'


def _name_row(row: int, size: int) -> str:
    return "everybody" if row == 0 else ("single users" if size == 1 else f"at most {size:,}")
