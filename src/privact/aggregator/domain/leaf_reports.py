"""The reports of a round by the leaves of a tree, read a few thousand at a time: the table of all is a file, not memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.aggregator.domain.round_evidence import clamp_reports
from privact.aggregator.storage.stored_reports import StoredRound, read_reports
from privact.errors import InputError
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["fill_gaps", "stream_by_leaf", "tabulate_by_leaf"]


def stream_by_leaf(
    url: str, stored: StoredRound, tree: HierarchicalClusterTree, *, late: bool = True
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Some leaves and their clamped reports, until every user of the tree who reported has come; in no order.

    url: of the database. late: also those who reported after the release.
    """
    assert tree.users is not None
    for joined in (False, True) if late else (False,):
        for users, vectors in read_reports(url, stored.round.id, late=joined):
            leaves = tree.users.leaves_of(users)
            there = leaves >= 0
            yield leaves[there], clamp_reports(stored, vectors[there])


def tabulate_by_leaf(
    url: str, stored: StoredRound, tree: HierarchicalClusterTree, folder: Path, *, late: bool = True
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(n, K) the clamped report of each leaf, and (n) which leaves have one; the file has no name and is gone with the array.

    folder: where there is room for 8 bytes a number. Other arguments as for `stream_by_leaf`.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        table = np.memmap(file, np.int64, "w+", shape=(tree.n_users, stored.round.n_bins))
    told = np.zeros(tree.n_users, bool)
    for leaves, reports in stream_by_leaf(url, stored, tree, late=late):
        table[leaves] = reports
        told[leaves] = True
    return table, told


def fill_gaps(tree: HierarchicalClusterTree, table: NDArray[Any], told: NDArray[np.bool_]) -> None:
    """Give leaves whose user was erased the report of the next user in the tree's own order.

    table: (n, K) by leaf, changed in place. told: (n) which leaves have a report.
    """
    kept = np.flatnonzero(told[tree.order])
    if not len(kept):
        raise InputError("the reports of this round were erased: joiners cannot be placed any more")
    gaps = np.flatnonzero(~told[tree.order])
    nearest = kept[np.minimum(np.searchsorted(kept, gaps), len(kept) - 1)]
    table[tree.order[gaps]] = table[tree.order[nearest]]
