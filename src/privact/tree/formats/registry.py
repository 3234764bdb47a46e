"""The formats in which a tree can be written, each registered once: the command line and the aggregator use the same table.

To add a format, write a function from (tree, binary stream) and give it a line in FORMATS.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, Final, NamedTuple

import numpy as np

from privact.storage import write_whole
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["FORMATS", "Format", "write_tree"]


class Format(NamedTuple):
    """A file format.

    suffix: how names of such files end. media_type: as HTTP calls it. write: writes a tree to a binary stream.
    """

    suffix: str
    media_type: str
    write: Callable[[HierarchicalClusterTree, IO[bytes]], None]


def _write_hct(tree: HierarchicalClusterTree, stream: IO[bytes]) -> None:
    from privact.tree.formats.hct_file import write_tree_bytes

    write_tree_bytes(tree, stream)


def _write_newick(tree: HierarchicalClusterTree, stream: IO[bytes]) -> None:
    stream.write(tree.to_newick().encode() + b"\n")


def _write_json(tree: HierarchicalClusterTree, stream: IO[bytes]) -> None:
    stream.write(tree.to_json().encode() + b"\n")


def _write_linkage(tree: HierarchicalClusterTree, stream: IO[bytes]) -> None:
    np.save(stream, tree.to_linkage(), allow_pickle=False)


def _write_linkage_table(tree: HierarchicalClusterTree, stream: IO[bytes]) -> None:
    stream.write(b"# first\tsecond\theight\tsize\n")
    for row in tree.to_linkage().astype(int).tolist():
        stream.write("\t".join(map(str, row)).encode() + b"\n")


FORMATS: Final[dict[str, Format]] = {
    "hct": Format("hct", "application/octet-stream", _write_hct),
    "newick": Format("nwk", "text/x-nh", _write_newick),
    "json": Format("json", "application/json", _write_json),
    "linkage": Format("npy", "application/octet-stream", _write_linkage),
    "linkage-table": Format("tsv", "text/tab-separated-values", _write_linkage_table),
}
"""By name: the tree's own file; Newick text; one line of JSON; SciPy's linkage matrix as NumPy saves it, and as a table."""


def write_tree(tree: HierarchicalClusterTree, path: Path, format: str) -> None:
    """Write a tree to a file, whole or not at all.

    format: a name in FORMATS.
    """
    with write_whole(path) as stream:
        FORMATS[format].write(tree, stream)
