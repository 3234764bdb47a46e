"""Reports in batches, from a database or a file -> one memory-mapped table on disk, and the ids of its rows.

A batch is a pair: the ids of some users, or None where rows have no ids, and their (m, K) whole numbers. Any iterable of such
pairs will do: a database cursor, a file, or a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.ids import UserId
from privact.tree.user_ids import SEPARATOR, UserIds

Batch: TypeAlias = tuple[Sequence[UserId] | None, NDArray[np.integer[Any]]]
"""User ids, or None, and (m, K) noisy counts."""

ReportBatches: TypeAlias = Iterable[Batch]
"""The reports of a round in batches: the same number of bins in every batch, ids in all of them or in none."""


@dataclass(frozen=True, eq=False)
class ReportTable:
    """The reports of a round.

    matrix: (n, K) noisy counts, one row a user; may be memory-mapped.
    users: the id of each row, or None.
    """

    matrix: NDArray[np.integer[Any]]
    users: Sequence[UserId] | None

    def __len__(self) -> int:
        return len(self.matrix)


class JoinedColumns:
    """Several tables of the same users side by side, joined for the rows that are asked for and never as a whole.

    tables: (n, K) whole numbers each, or (n,) for one column; may be memory-mapped.
    """

    def __init__(self, tables: Sequence[NDArray[np.integer[Any]]]) -> None:
        self._tables = tuple(table if table.ndim == 2 else table[:, None] for table in tables)
        self.shape = len(self._tables[0]), sum(table.shape[1] for table in self._tables)
        self.dtype = np.result_type(*self._tables)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, users: Any, /) -> NDArray[Any]:
        return np.hstack([table[users] for table in self._tables])


def write_report_table(batches: ReportBatches, path: Path) -> ReportTable:
    """Write batches to a file as they come, and map the file into memory.

    path: the file; it must stay as long as the reports are in use.
    """
    ids = _Ids()
    n_rows, n_bins = 0, None
    with open(path, "wb") as file:
        for users, vectors in batches:
            rows = check_batch(np.asarray(vectors), n_rows, n_bins)
            if len(rows) == 0:
                continue
            ids.add(users, len(rows), n_rows)
            file.write(np.ascontiguousarray(rows, dtype=np.int32).data)
            n_rows, n_bins = n_rows + len(rows), rows.shape[1]
    if n_bins is None:
        raise InputError("there are no reports: collect at least 2 before learning a tree")
    return ReportTable(np.memmap(path, np.int32, "r", shape=(n_rows, n_bins)), ids.packed())


class _Ids:
    """Ids that come in batches, kept packed; none may come twice."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._hashes: list[NDArray[np.int64]] = []
        self._none = False
        self._integers = False

    def add(self, users: Sequence[UserId] | None, n_rows: int, before: int) -> None:
        if before and (users is None) != self._none:
            raise InputError(
                f"reports {'after' if self._none else 'before'} row {before} have no user ids but others have: give all"
            )
        self._none = users is None
        if users is None:
            return
        if len(users) != n_rows:
            raise InputError(f"{len(users)} user ids for {n_rows} reports from row {before} on: give one each")
        batch = UserIds.of(users)
        self._integers |= batch.integers
        packed = batch.packed
        self._parts.append(packed[1:])
        self._hashes.append(np.array([hash(key) for key in packed[1:-1].split(SEPARATOR)]))

    def packed(self) -> UserIds | None:
        if self._none or not self._parts:
            return None
        hashes = np.sort(np.concatenate(self._hashes))
        alike = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
        if len(alike):
            seen = set()
            for part, mine in zip(self._parts, self._hashes, strict=True):
                keys = part[:-1].split(SEPARATOR)
                for place in np.flatnonzero(np.isin(mine, alike)):
                    if keys[place] in seen:
                        raise InputError(f"user id {keys[place].decode()!r} occurs twice: each user has one report in a round")
                    seen.add(keys[place])
        return UserIds(SEPARATOR + b"".join(self._parts), integers=self._integers)


def check_batch(rows: NDArray[Any], before: int, n_bins: int | None) -> NDArray[np.integer[Any]]:
    """Return a batch that follows the rules, or raise InputError. before: the number of reports before it."""
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise InputError(f"reports from row {before} on have shape {rows.shape}, not (users, bins): give one row a user")
    if rows.dtype.kind not in "iu":
        raise InputError(f"reports from row {before} on have type {rows.dtype}: reports are whole numbers, as devices send them")
    if n_bins is not None and rows.shape[1] != n_bins:
        raise InputError(
            f"reports from row {before} on have {rows.shape[1]} bins, those before {n_bins}: one round has one number"
        )
    limit = np.iinfo(np.int32).max
    if rows.dtype.itemsize > 4 or rows.dtype.kind == "u":
        outside = ((rows > limit) | (rows < -limit)).any(axis=1)
        if outside.any():
            raise InputError(
                f"the report in row {before + int(np.argmax(outside))} holds a number beyond {limit}: drop that report"
            )
    return rows
