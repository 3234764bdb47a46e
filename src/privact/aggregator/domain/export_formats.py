"""The formats in which a released tree can be downloaded, and how each is written."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, NamedTuple

import numpy as np

from privact.storage import write_whole
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["FORMATS", "Format", "write_format"]

Format = Literal["hct", "newick", "json", "linkage"]


class Kind(NamedTuple):
    """A format of files.

    suffix: how names of such files end. media_type: as HTTP calls it.
    """

    suffix: str
    media_type: str


FORMATS: Final[dict[Format, Kind]] = {
    "hct": Kind("hct", "application/octet-stream"),
    "newick": Kind("nwk", "text/x-nh"),
    "json": Kind("json", "application/json"),
    "linkage": Kind("npy", "application/octet-stream"),
}
"""The release itself; Newick text; one line of JSON; SciPy's linkage matrix as NumPy saves it."""


def write_format(tree: HierarchicalClusterTree, path: Path, format: Format) -> None:
    """Write a tree in a format, whole or not at all."""
    if format == "hct":
        tree.save(path)
        return
    with write_whole(path) as stream:
        if format == "linkage":
            np.save(stream, tree.to_linkage(), allow_pickle=False)
        else:
            stream.write((tree.to_newick() if format == "newick" else tree.to_json()).encode() + b"\n")
