"""privact convert, show: a tree for other programs, and for people."""

from __future__ import annotations

import io
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from privact.cli.files import TreePath, check_output, find_user, read_labels
from privact.cli.text import Json, print_json, shown

__all__ = ["app"]

app = typer.Typer()


class Format(StrEnum):
    """What other programs read."""

    NEWICK = "newick"
    LINKAGE = "linkage"
    JSON = "json"


@app.command(
    epilog="\b\nExample:\n  privact convert tree.hct --to newick -o tree.nwk\n  privact convert tree.hct --to linkage > z.tsv"
)
def convert(
    tree: TreePath,
    to: Annotated[Format, typer.Option(help="linkage is SciPy's matrix, as a table or as .npy.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The file to write; a file there is replaced.", metavar="FILE", show_default="standard output"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write a tree in a format that other programs read.

    In a linkage matrix users are numbers: number i is entry i of the list "users" in the JSON format.
    """
    from privact.tree.formats.registry import FORMATS, write_tree
    from privact.tree.hct import HierarchicalClusterTree

    if output is not None:
        check_output(output)
    loaded = HierarchicalClusterTree.load(tree)
    table = to is Format.LINKAGE and (output is None or output.suffix != ".npy")
    name = "linkage-table" if table else to.value
    if output is not None:
        write_tree(loaded, output, name)
        if json:
            print_json({"format": to.value, "users": loaded.n_users, "output": str(output)})
        else:
            print(f"written: {shown(output)}")
        return
    content = io.BytesIO()
    FORMATS[name].write(loaded, content)
    if json:
        document = {"format": to.value, "users": loaded.n_users, "output": None}
        print_json(document | {"content": content.getvalue().decode()})
        return
    rest = content.getbuffer()
    while rest:  # an unbuffered stream may take a part only
        rest = rest[sys.stdout.buffer.write(rest) :]


@app.command(epilog="\b\nExample:\n  privact show tree.hct -o tree.html\n  privact show tree.hct -o tree.png --user ada")
def show(
    tree: TreePath,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The picture: .html to explore in a browser, .png or .svg to print; a file there is replaced.",
            metavar="FILE",
            show_default=False,
        ),
    ],
    user: Annotated[str | None, typer.Option(help="Outline the clusters around this user.")] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Colour clusters by a public label of their users; lines 'user<TAB>label'.", metavar="FILE"),
    ] = None,
    title: Annotated[str | None, typer.Option(help="What to write above the picture.", show_default="how many users")] = None,
    json: Json = False,
) -> None:
    """Draw a tree: as a page to explore, or as a still.

    A page holds the whole tree, needs nothing from elsewhere and opens in any browser. Clusters too small to draw are drawn
    together.
    """
    from privact.cli.privacy import promise
    from privact.drawing.picture import check_kind, save_picture
    from privact.progress import progress_bar
    from privact.tree.hct import HierarchicalClusterTree

    check_kind(output)
    check_output(output)
    with progress_bar() as progress:
        progress("drawing", 0, 0)
        loaded = HierarchicalClusterTree.load(tree)
        ids = loaded.users.names() if loaded.users is not None else [str(leaf) for leaf in range(loaded.n_users)]
        save_picture(
            loaded,
            output,
            title=title,
            notes=promise(loaded.parameters) or "",
            highlight=None if user is None else find_user(loaded, user),
            groups=None if labels is None else read_labels(labels, ids),
        )
    if json:
        print_json({"output": str(output), "users": loaded.n_users})
        return
    print(f"written: {shown(output)}")
