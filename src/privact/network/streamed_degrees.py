"""Degree vectors of an edge list that is larger than memory: file -> user ids and counts, block by block.

Each block of lines is read as any edge list. Its contacts go to files by the row of their smaller end, so that a contact named
again, however far away and in whatever direction, meets itself in the same file; then each of those files is counted alone.
Kept per user: the id in memory, and K small numbers on disk.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from privact.errors import GraphError
from privact.network._edge_list import parse_edge_list
from privact.network._text_layout import strip_comments

__all__ = ["StreamedDegrees", "stream_degree_vectors"]

BLOCK = 1 << 25
"""Bytes of text read at a time."""

PILE = 1 << 22
"""Contacts in one of the files that are counted alone, about; each takes 8 bytes."""

Bins = Callable[[Sequence[str]], tuple[NDArray[np.integer], int]]


@dataclass(frozen=True, eq=False)
class StreamedDegrees:
    """What is counted of an edge list.

    users: the id of each row, in order of first appearance.
    vectors: (n, K) exact counts, memory-mapped.
    bins: (n,) the bin of each user.
    n_edges: contacts. dropped_duplicates, dropped_self_loops: see `ContactGraph`.
    """

    users: list[str]
    vectors: NDArray[np.int32]
    bins: NDArray[np.integer]
    n_edges: int
    dropped_duplicates: int
    dropped_self_loops: int


def stream_degree_vectors(path: str | os.PathLike[str], folder: Path, bins_of: Bins) -> StreamedDegrees:
    """Degree vectors of all users of an edge list, plain or gzipped, in little memory.

    path: as `read_graph` reads it. folder: for what spills; `vectors` stay there.
    bins_of: from all user ids to the bin of each, -1 for none, and how many bins there are.
    """
    number: dict[str, int] = {}
    duplicates = loops = 0
    packing = 8 if _is_gzipped(path) else 1
    size = max(1, os.path.getsize(path) * packing)
    n_piles = -(-size // (12 * PILE))  # a contact takes some 12 bytes of text
    piles = [folder / f"contacts-{i}" for i in range(n_piles)]
    with ExitStack() as stack:
        files = [stack.enter_context(open(pile, "wb")) for pile in piles]
        for text, header, lines_before in _blocks(path):
            graph = _graph_of(text, str(path), header, lines_before)
            if graph is None:
                continue
            duplicates += graph.dropped_duplicates
            loops += graph.dropped_self_loops
            rows = np.fromiter((number.setdefault(user, len(number)) for user in graph.users), np.int64, graph.n_users)
            ends = np.sort(rows[graph.edges()], axis=1)
            keys, pile = ends[:, 0] << 32 | ends[:, 1], ends[:, 0] % n_piles
            for i in np.unique(pile):
                files[i].write(keys[pile == i].data)
    if len(number) < 2:
        raise GraphError(f"{path}: {len(number)} users: a contact graph needs at least two")
    users = list(number)
    bins, n_bins = bins_of(users)
    vectors = np.lib.format.open_memmap(folder / "degrees.npy", "w+", np.int32, (len(users), n_bins))
    n_edges = 0
    for pile_file in piles:
        named = np.fromfile(pile_file, np.int64)
        pile_file.unlink()
        keys = np.unique(named)
        duplicates += len(named) - len(keys)
        n_edges += len(keys)
        for one, other in ((keys >> 32, keys & 0xFFFFFFFF), (keys & 0xFFFFFFFF, keys >> 32)):
            bin_of_other = bins[other]
            counted = bin_of_other >= 0
            np.add.at(vectors, (one[counted], bin_of_other[counted]), 1)
    return StreamedDegrees(users, vectors, bins, n_edges, duplicates, loops)


def _graph_of(text: bytes, name: str, header: bool | None, lines_before: int):  # type: ignore[no-untyped-def]
    """The contacts of a block, or None if it has none."""
    if not strip_comments(text).strip():
        return None
    try:
        return parse_edge_list(text, name, header)
    except GraphError as error:
        if lines_before and "no contacts" not in str(error):
            raise GraphError(f"{error} (lines counted from line {lines_before + 1} of the file)") from None
        raise


def _blocks(path: str | os.PathLike[str]) -> Iterator[tuple[bytes, bool | None, int]]:
    """The text in blocks of whole lines, whether each begins with a header (None: look), and how many lines came before."""
    rest, header, lines = b"", None, 0
    try:
        with _opened(path) as file:
            while True:
                piece = file.read(BLOCK)
                text = rest + piece
                cut = len(text) if not piece else max(text.rfind(b"\n"), text.rfind(b"\r", 0, len(text) - 1)) + 1
                if cut:
                    yield text[:cut], header, lines
                    lines += text.count(b"\n", 0, cut)
                    header = False if strip_comments(text[:cut]).strip() else header
                rest = text[cut:]
                if not piece:
                    return
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise GraphError(f"{path}: not a sound gzip file: fetch it again, or drop .gz from its name") from None
    except OSError as error:
        raise GraphError(f"{path}: cannot be read: {error.strerror or error}") from None


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    return gzip.open(path, "rb") if _is_gzipped(path) else open(path, "rb")  # type: ignore[return-value]


def _is_gzipped(path: str | os.PathLike[str]) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"\x1f\x8b"
    except OSError as error:
        raise GraphError(f"{path}: cannot be read: {error.strerror or error}") from None
