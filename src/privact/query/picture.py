"""save_picture: a tree as something a person can look at: a zoomable page (.html) or a still (.png, .svg)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError, MissingExtraError
from privact.query._colours import branch_colour, group_colour
from privact.query.blocks import Block, nested_blocks, row_sizes
from privact.tree.atomic import written_whole
from privact.tree.hct import HierarchicalClusterTree, User

__all__ = ["Drawing", "checked_kind", "draw", "save_picture"]

_PACKAGES = {".html": "plotly", ".png": "matplotlib", ".svg": "matplotlib"}
_MOST_ON_A_PAGE = 4_000  # clusters; a browser stays quick and the file within a few megabytes, however many users
_MOST_IN_A_STILL = 1_500
_STILL_SHARE = 300  # a still is about this many of its smallest blocks wide
_MOST_GROUPS = 24  # hues beyond so many cannot be told apart


@dataclass(frozen=True)
class Drawing:
    """What a picture shows, before it is drawn.

    tree: the tree.
    title: one line above the picture.
    notes: what to know about it, below; may be empty.
    rows: the largest size of a cluster in each row.
    blocks: the blocks, each after the one around it.
    colours: of each block, as #rrggbb.
    mixtures: for each block the largest group and its share of the block's users, or None.
    groups: the names of the groups with their own colour, largest first.
    highlight: the leaf whose clusters are outlined, or None.
    """

    tree: HierarchicalClusterTree
    title: str
    notes: str
    rows: Sequence[int]
    blocks: Sequence[Block]
    colours: Sequence[str]
    mixtures: Sequence[tuple[str, float] | None]
    groups: Sequence[str]
    highlight: int | None


def save_picture(
    tree: HierarchicalClusterTree,
    path: str | Path,
    *,
    title: str | None = None,
    notes: str = "",
    highlight: User | None = None,
    groups: Sequence[str | None] | None = None,
) -> Drawing:
    """Draw a tree into a file whose name tells the kind: .html to zoom and hover in any browser, .png or .svg to print.

    Needs the extra `plot`. Pages hold all they need: nothing is fetched from elsewhere.

    path: where to; a file that is there is replaced.
    title: above the picture; by default how many users there are.
    notes: below the picture, such as the privacy promise.
    highlight: a user whose clusters are outlined, from everybody down to the smallest drawn.
    groups: a public group for each leaf, such as a home server; colours and names then tell what clusters consist of.
    """
    kind = checked_kind(path)
    drawing = draw(tree, kind, title=title, notes=notes, highlight=highlight, groups=groups)
    if kind == ".html":
        from privact.query._page import page

        content = page(drawing).encode()
    else:
        from privact.query._still import still

        content = still(drawing, kind[1:])
    with written_whole(path) as stream:
        stream.write(content)
    return drawing


def checked_kind(path: str | Path) -> str:
    """The kind of picture that a file name tells, if it can be drawn here: .html, .png or .svg."""
    kind = Path(path).suffix.lower()
    if kind not in _PACKAGES:
        *some, last = _PACKAGES
        raise InputError(f"cannot draw {path}: the name must end in {', '.join(some)} or {last}")
    if find_spec(_PACKAGES[kind]) is None:
        raise MissingExtraError(_PACKAGES[kind], "plot", f"a {kind} picture")
    return kind


def draw(
    tree: HierarchicalClusterTree,
    kind: str,
    *,
    title: str | None = None,
    notes: str = "",
    highlight: User | None = None,
    groups: Sequence[str | None] | None = None,
) -> Drawing:
    """What a picture of that kind shows; arguments as for `save_picture`."""
    if groups is not None and len(groups) != tree.n_users:
        raise InputError(f"{len(groups)} groups for {tree.n_users} users: give one for each leaf, None for users in no group")
    still = kind != ".html"
    smallest = max(1, tree.n_users // _STILL_SHARE) if still else 1
    leaf = None if highlight is None else tree.leaf_of(highlight)
    most = _MOST_IN_A_STILL if still else _MOST_ON_A_PAGE
    blocks, block_at = nested_blocks(tree, most=most, smallest=smallest, n_leaves=8, highlight=leaf)
    rows = row_sizes(tree.n_users, smallest)[: 1 + max(block.first_row for block in blocks)]
    title = f"{tree.n_users:,} users" if title is None else title
    if groups is None:
        colours = [branch_colour(block) for block in blocks]
        return Drawing(tree, title, notes, rows, blocks, colours, [None] * len(blocks), (), leaf)
    block_of = np.empty_like(block_at)
    block_of[tree.order] = block_at
    names, counts = _mixed(blocks, block_of, groups)
    largest = counts.argmax(axis=1) if names else np.zeros(len(blocks), np.int64)
    shares = [int(counts[number, group]) / blocks[number].size if names else 0.0 for number, group in enumerate(largest)]
    colours = [
        group_colour(block, int(group), max(len(names), 1), share)
        for block, group, share in zip(blocks, largest, shares, strict=True)
    ]
    mixtures = [(names[group], share) if share else None for group, share in zip(largest, shares, strict=True)]
    return Drawing(tree, title, notes, rows, blocks, colours, mixtures, names, leaf)


def _mixed(
    blocks: Sequence[Block], block_of: NDArray[np.int64], groups: Sequence[str | None]
) -> tuple[list[str], NDArray[np.int64]]:
    """The largest groups, and how many users of each a block holds."""
    sizes = Counter(group for group in groups if group is not None)
    names = [name for name, _ in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))[:_MOST_GROUPS]]
    number = {name: place for place, name in enumerate(names)}
    counts = np.zeros((len(blocks), len(names)), np.int64)
    known = np.array([-1 if group is None else number.get(group, -1) for group in groups])
    np.add.at(counts, (block_of[known >= 0], known[known >= 0]), 1)
    parents = [block.parent for block in blocks]
    for place in range(len(blocks) - 1, 0, -1):  # a block comes after the one around it, pools after all clusters
        counts[parents[place]] += counts[place]
    return names, counts
