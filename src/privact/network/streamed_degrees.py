"""Degree vectors of an edge list that is larger than memory: file -> user ids and counts, block by block.

Each block of lines is read as any edge list. Its contacts go to files by the row of their smaller end, so that a contact named
again, however far away and in whatever direction, meets itself in the same file; then each of those files is counted alone.
Kept per user: the id in memory, packed, and K small numbers on disk.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from privact.errors import GraphError
from privact.network._contact_piles import count_contacts, sort_into_piles
from privact.network._edge_list import Contacts, parse_contacts
from privact.network._id_numbers import IdNumbers, PackedIds
from privact.network._text_layout import strip_comments

__all__ = ["StreamedDegrees", "stream_degree_vectors"]

BLOCK = 1 << 25
"""Bytes of text read at a time."""

PILE = 1 << 22
"""Contacts in one of the files that are counted alone, about; each takes 8 bytes."""

MOST_PILES = 256
"""Open files at most; with more contacts than fit, piles grow instead."""

Bins = Callable[[Sequence[str]], tuple[NDArray[np.integer], int]]


@dataclass(frozen=True, eq=False)
class StreamedDegrees:
    """What is counted of an edge list.

    users: the id of each row, packed, in order of first appearance.
    vectors: (n, K) exact counts, memory-mapped.
    bins: (n,) the bin of each user.
    n_edges: contacts. dropped_duplicates, dropped_self_loops: see `ContactGraph`.
    """

    users: PackedIds
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
    ids = IdNumbers()
    duplicates = loops = n_edges = 0
    packing = 8 if _is_gzipped(path) else 1
    size = max(1, os.path.getsize(path) * packing)
    n_piles = min(MOST_PILES, -(-size // (12 * PILE)))  # a contact takes some 12 bytes of text
    piles = [folder / f"contacts-{i}" for i in range(n_piles)]
    with ExitStack() as stack:
        files = [stack.enter_context(open(pile, "wb")) for pile in piles]
        for found in _read_ahead(path):
            if found is None:
                continue
            first, second, users = found
            rows = ids.number(users)
            keys, bounds = sort_into_piles(rows[first], rows[second], n_piles)
            loops += len(first) - len(keys)
            for i in np.flatnonzero(np.diff(bounds)):
                files[i].write(keys[bounds[i] : bounds[i + 1]].data)
    if len(ids) < 2:
        raise GraphError(f"{path}: {len(ids)} users: a contact graph needs at least two")
    packed = ids.pack()
    bins, n_bins = bins_of(packed)
    vectors = np.lib.format.open_memmap(folder / "degrees.npy", "w+", np.int32, (len(packed), n_bins))
    for pile_file in piles:
        keys = np.fromfile(pile_file, np.int64)
        pile_file.unlink()
        keys.sort()
        different = count_contacts(keys, bins, vectors)
        n_edges += different
        duplicates += len(keys) - different
    return StreamedDegrees(packed, vectors, bins, n_edges, duplicates, loops)


def _read_ahead(path: str | os.PathLike[str]) -> Iterator[Contacts | None]:
    """The contacts of each block; a thread parses the next one meanwhile."""
    waiting: deque[Future[Contacts | None]] = deque()
    with ThreadPoolExecutor(1) as pool:
        for text, header, lines_before in _blocks(path):
            waiting.append(pool.submit(_read_block, text, str(path), header, lines_before))
            if len(waiting) > 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _read_block(text: bytes, name: str, header: bool | None, lines_before: int) -> Contacts | None:
    """The contacts of a block, or None if it has none."""
    if not strip_comments(text).strip():
        return None
    try:
        return parse_contacts(text, name, header)
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
