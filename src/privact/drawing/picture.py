"""save_picture: a tree as a page to explore (.html) or a still picture (.png, .svg)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from privact.drawing.composition import compose_drawing
from privact.errors import InputError, MissingExtraError
from privact.query.named_groups import number_groups
from privact.storage import write_whole
from privact.tree.hct import HierarchicalClusterTree, User

__all__ = ["check_kind", "save_picture"]

_KINDS = (".html", ".png", ".svg")


def save_picture(
    tree: HierarchicalClusterTree,
    path: str | Path,
    *,
    title: str | None = None,
    notes: str = "",
    highlight: User | None = None,
    groups: Sequence[str | None] | None = None,
) -> None:
    """Draw a tree into a file; its suffix decides the kind: .html to explore in any browser, .png or .svg to print.

    Pages are self-contained: they hold the whole tree and fetch nothing. Stills need the extra `plot`.

    path: the file to write; an existing one is replaced.
    title: above the picture; by default how many users there are.
    notes: below the picture, such as the privacy promise.
    highlight: a user whose clusters are outlined, from the root down to the smallest drawn.
    groups: a public group for each leaf, such as a home server; colours and names then show the composition of clusters.
    """
    kind = check_kind(path)
    if kind == ".html":
        from privact.drawing.page import render_page

        names, group_of = ([], None) if groups is None else number_groups(tree, groups)
        user = None if highlight is None else str(tree.users_of(np.array([tree.leaf_of(highlight)], np.int32))[0])
        content = render_page(tree, title or f"{tree.n_users:,} users", notes, user, names, group_of).encode()
    else:
        from privact.drawing.still import render_still

        content = render_still(compose_drawing(tree, title=title, notes=notes, highlight=highlight, groups=groups), kind[1:])
    with write_whole(path) as stream:
        stream.write(content)


def check_kind(path: str | Path) -> str:
    """The kind of picture that a file's suffix asks for (.html, .png or .svg), if it can be drawn here."""
    kind = Path(path).suffix.lower()
    if kind not in _KINDS:
        *some, last = _KINDS
        raise InputError(f"cannot draw {path}: the name must end in {', '.join(some)} or {last}")
    if kind != ".html" and find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot", f"a {kind} picture")
    return kind
