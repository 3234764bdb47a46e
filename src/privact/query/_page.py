"""A zoomable picture of a tree as one self-contained page, through plotly."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from privact.query._colours import INK, OUTLINE, QUIET, ink_on, sample_colour
from privact.query.blocks import Block

if TYPE_CHECKING:
    from privact.query.picture import Drawing

__all__ = ["page"]

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
_ROWS_AT_ONCE = 4
_GROUND = "#f1f2f5"
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
  body {{ margin: 0 auto; padding: 1.5rem 2rem 2rem; max-width: 90rem; color: {ink}; background: #fff;
         font: 15px/1.5 {font}; box-sizing: border-box; }}
  h1 {{ font-size: 1.5rem; line-height: 1.25; margin: 0 0 .3rem; }}
  p {{ margin: 0 0 .5rem; color: {quiet}; max-width: 75rem; }}
  #picture {{ height: max(28rem, calc(100vh - 19rem)); }}
  #picture > div {{ height: 100%; }}
  .groups {{ list-style: none; margin: .6rem 0 0; padding: 0; color: {quiet}; display: flex; flex-wrap: wrap; gap: 0 1.1rem; }}
  .groups i {{ display: inline-block; width: .8em; height: .8em; margin-right: .4em; border-radius: 2px; }}
  .notes {{ font-size: .85rem; margin-top: .8rem; }}
  @media (max-width: 40rem) {{ body {{ padding: 1rem; }} }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{reading}</p>
<div id="picture" role="img" aria-label="{title}: boxes inside boxes, as large as the clusters have users">{figure}</div>
{groups}
{notes}
</body>
</html>
"""


def page(drawing: Drawing) -> str:
    """The page as text.

    drawing: what to show.
    """
    import plotly.graph_objects as go

    blocks = drawing.blocks
    colours = [_GROUND, *drawing.colours[1:]]
    nested = go.Treemap(
        ids=[str(number) for number in range(len(blocks))],
        parents=["" if block.parent < 0 else str(block.parent) for block in blocks],
        labels=[_name(drawing, number) for number in range(len(blocks))],
        values=[block.size for block in blocks],
        customdata=[_details(drawing, number) for number in range(len(blocks))],
        branchvalues="total",
        sort=False,  # as in the list: larger ones first, pools last
        maxdepth=_ROWS_AT_ONCE,
        tiling={"pad": 2, "squarifyratio": 1},
        hovertemplate="%{customdata}<extra></extra>",
        textposition="top left",
        textfont={"size": 13, "color": [ink_on(colour) for colour in colours]},
        marker={
            "colors": colours,
            "line": {
                "color": [OUTLINE if block.highlight and block.parent >= 0 else "#ffffff" for block in blocks],
                "width": 1 if drawing.highlight is None else 2,  # a width for each block would break the bar on top
            },
        },
        pathbar={"thickness": 28, "textfont": {"size": 13}},
    )
    figure = go.Figure(nested)
    figure.update_layout(
        template=None,
        margin={"l": 0, "r": 0, "t": 30, "b": 0},
        font={"family": _FONT, "color": INK},
        hoverlabel={"bgcolor": "#ffffff", "bordercolor": "#c3c7ce", "align": "left", "font": {"size": 13, "color": INK}},
        uniformtext={"minsize": 10, "mode": "hide"},
    )
    return _PAGE.format(
        title=html.escape(drawing.title),
        reading=html.escape(_how_to_read(drawing)),
        figure=figure.to_html(
            full_html=False,
            include_plotlyjs=True,
            config={"displayModeBar": False, "responsive": True},
            default_width="100%",
            default_height="100%",
            div_id="tree",
        ),
        groups=_legend(drawing),
        notes=f'<p class="notes">{html.escape(drawing.notes)}</p>' if drawing.notes else "",
        ink=INK,
        quiet=QUIET,
        font=_FONT,
    )


def _how_to_read(drawing: Drawing) -> str:
    text = "A box is a cluster, as large as it has users; the boxes inside are the smaller clusters it consists of. "
    text += "Point at one to see who is in it, click to zoom in, click the bar on top to zoom out."
    if drawing.groups:
        text += " Colour: the group that most users of a cluster are in, grey where groups are mixed."
    if drawing.highlight is not None:
        text += f" Outlined: the clusters around {_user(drawing, drawing.highlight)}."
    return text


def _legend(drawing: Drawing) -> str:
    if not drawing.groups:
        return ""
    items = (
        f'<li><i style="background:{sample_colour(number, len(drawing.groups))}"></i>{html.escape(name)}</li>'
        for number, name in enumerate(drawing.groups)
    )
    return f'<ul class="groups">{"".join(items)}</ul>'


def _name(drawing: Drawing, number: int) -> str:
    """What is written on a block; plotly leaves it out where there is no room."""
    block, mixture = drawing.blocks[number], drawing.mixtures[number]
    if block.parent < 0:
        return f"everybody: {block.size:,} users"
    if block.is_pool:
        return f"{block.size:,} in {block.clusters:,} small clusters"
    if block.size == 1:
        return _text(_user(drawing, block.leaves[0]))
    if mixture is not None and mixture[1] >= 0.5:
        return f"{_text(mixture[0])} {block.size:,}"
    return f"{block.size:,}"


def _details(drawing: Drawing, number: int) -> str:
    """What the pointer shows."""
    block, mixture = drawing.blocks[number], drawing.mixtures[number]
    users = [_text(_user(drawing, leaf)) for leaf in block.leaves]
    if block.size == 1:
        return f"<b>{users[0]}</b>"
    lines = [f"<b>{_count(block)}</b>, {block.size / drawing.tree.n_users:.1%} of all"]
    if mixture is not None:
        lines.append(f"{mixture[1]:.0%} {_text(mixture[0])}")
    more = block.size - len(users)
    return "<br>".join([*lines, "", *users, *([f"and {more:,} more"] if more else [])])


def _count(block: Block) -> str:
    if block.is_pool:
        return f"{block.size:,} users in {block.clusters:,} clusters too small to draw"
    return f"{block.size:,} users"


def _user(drawing: Drawing, leaf: int) -> str:
    return str(drawing.tree.users_of(np.array([leaf], np.int32))[0])


def _text(text: str) -> str:
    """Text as plotly shows it literally: it would read tags otherwise."""
    return html.escape(text if len(text) <= 60 else text[:57] + "...")
