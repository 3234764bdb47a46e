"""The explorer as one self-contained page: the script, the style and the whole tree in one file."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privact.tree.hct import HierarchicalClusterTree

__all__ = ["SCRIPTS", "explorer_file", "render_page"]

SCRIPTS = ("d3-hierarchy-3.1.2.min.js", "tree.js", "problems.js", "clusters.js", "explorer.js")
"""The scripts of the explorer, in the order in which they are loaded."""

_IN_NO_GROUP = 255

_START = """"use strict";
privact.unpack(document.getElementById("tree").textContent).then(({ tree, head }) => {
  privact.explore(tree);
  if (head.highlight !== null) privact.person.show(head.highlight);
});
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<p class="quiet">{reading}</p>
{body}
{notes}
<script type="text/plain" id="tree">{tree}</script>
{scripts}
</body>
</html>
"""


def render_page(
    tree: HierarchicalClusterTree,
    title: str,
    notes: str,
    highlight: str | None,
    group_names: Sequence[str],
    group_of: NDArray[np.int64] | None,
) -> str:
    """The page as text.

    tree: the tree to explore; all of it is in the page.
    title: above the picture. notes: below it; may be empty.
    highlight: the user whose close communities are shown first, or None.
    group_names: names of the groups that have a colour. group_of: for each leaf the number of its group, -1 for none; or None.
    """
    style = explorer_file("explorer.css")
    scripts = [*map(explorer_file, SCRIPTS), _START]
    sources = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    policy = f"default-src 'none'; script-src {sources}; style-src 'sha256-{_digest(style)}'; base-uri 'none'; form-action 'none'"
    return _PAGE.format(
        policy=policy,
        title=html.escape(title),
        style=style,
        reading=_explain_page(bool(group_names)),
        body=explorer_file("body.html"),
        notes=f'<p class="notes">{html.escape(notes)}</p>' if notes else "",
        tree=_pack_tree(tree, highlight, group_names, group_of),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def explorer_file(name: str) -> str:
    """The text of one of the explorer's files."""
    return files("privact.drawing").joinpath("explorer", name).read_text(encoding="utf-8")


def _explain_page(grouped: bool) -> str:
    text = "A box is a cluster, as wide as it has users; the boxes below are the smaller clusters it consists of. "
    text += "Tap one to zoom in, and the way above the picture to zoom out."
    text += '<span class="keys"> Arrow keys move, Enter zooms in, Escape out.</span>'
    if grouped:
        text += " Colour: the group that most users of a cluster are in, grey where groups are mixed."
    return text


def _pack_tree(
    tree: HierarchicalClusterTree, highlight: str | None, group_names: Sequence[str], group_of: NDArray[np.int64] | None
) -> str:
    """The tree as the script unpacks it: base64 of gzip of (length of the head, 4 bytes; head as JSON; left; right)."""
    groups = None
    if group_of is not None:
        groups = {"names": list(group_names), "of": np.where(group_of < 0, _IN_NO_GROUP, group_of).tolist()}
    users = None if tree.users is None else tree.users.names()
    head = json.dumps({"n_users": tree.n_users, "users": users, "groups": groups, "highlight": highlight}, ensure_ascii=False)
    text = head.encode()
    children = tree.left.astype("<i4").tobytes() + tree.right.astype("<i4").tobytes()
    data = np.uint32(len(text)).astype("<u4").tobytes() + text + children
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
