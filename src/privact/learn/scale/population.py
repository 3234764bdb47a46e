"""The users of a tree, and how their rows of numbers reach the tasks that need them.

Tasks in this process read rows in place. Workers that see our files read a slice of one, in which users are ordered by part; to
other workers the rows of a part are sent with its task, each user's once. The full table is never sent to workers.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privact.learn.limits import Limits
from privact.learn.scale.task_runner import Engine, read_shared
from privact.tree.embedding import Embedding, SplitBy


class Rows(Protocol):
    """A table of numbers with one row per user: an array, a memory-mapped file, or `JoinedColumns` of several."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Users and columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of all numbers."""

    def __len__(self) -> int: ...

    def __getitem__(self, users: Any, /) -> NDArray[Any]: ...


class Embedder(Protocol):
    """Makes points of rows of numbers: a posterior, or thresholds."""

    def embed(self, rows: Any, /) -> Embedding:
        """The points of some users."""


class Population(Protocol):
    """Users whose points can be had for any of them: an `Embedding`, or `EmbeddedRows`."""

    def __len__(self) -> int: ...

    def take(self, users: NDArray[np.integer[Any]], /) -> Embedding:
        """The points of some users, in the given order."""


@dataclass(frozen=True, eq=False)
class EmbeddedRows:
    """Users by their rows, whose points are made when they are needed.

    rows: (n, K) numbers, such as reports; may be memory-mapped. embedder: makes points of rows.
    """

    rows: Rows
    embedder: Embedder

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, users: NDArray[np.integer[Any]]) -> Embedding:
        """The points of some users, in the given order."""
        return self.embedder.embed(self.rows[users])


@dataclass(frozen=True, eq=False)
class PlainPoints:
    """Rows that are points already, followed by the counts behind them where there are any.

    weights, constant, split_by: of the embedding.
    """

    weights: NDArray[np.float64]
    constant: float
    split_by: SplitBy = "size"

    def embed(self, rows: NDArray[Any]) -> Embedding:
        """The points of some users."""
        width = len(self.weights)
        counts = np.ascontiguousarray(rows[:, width:], dtype=np.float64) if rows.shape[1] > width else None
        return Embedding(np.ascontiguousarray(rows[:, :width]), self.weights, self.constant, counts, split_by=self.split_by)


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Some users of a population in this process's memory."""

    population: Population
    users: NDArray[np.integer[Any]]


@dataclass(frozen=True)
class FileRows:
    """Rows first to last of a .npy file that workers can read."""

    path: str
    first: int
    last: int


def embed_in_task(rows: HeldRows | FileRows | NDArray[Any], embedder: Any) -> Embedding:
    """Make the points of the users that a task was given, inside the task."""
    if isinstance(rows, HeldRows):
        return rows.population.take(rows.users)
    if isinstance(rows, FileRows):
        rows = np.array(np.load(rows.path, mmap_mode="r")[rows.first : rows.last])
    points: Embedding = read_shared(embedder).embed(rows)
    return points


class RowDelivery:
    """All users in the order of parts, and the delivery of their rows to an engine's tasks.

    engine: where tasks run. population: the users.
    order: (n) the users, part by part.
    embedder: given to tasks with the rows.
    """

    def __init__(self, engine: Engine, population: Population, limits: Limits) -> None:
        self._copied = limits.copied
        self.engine = engine
        self.population = population
        self.order: NDArray[np.int64] = np.arange(len(population))
        self.embedder: Any = None
        self._rows: Rows | None = None
        self._path: str | None = None
        if not engine.in_process:
            self._rows, embedder = _rows_of(population)
            self.embedder = engine.share(embedder)
            self._write()

    def reorder(self, order: NDArray[np.int64]) -> None:
        """Put users in another order. order: places in the present one."""
        self.order = self.order[order]
        self._write()

    def rows(self, first: int, last: int) -> HeldRows | FileRows | NDArray[Any]:
        """The rows of the users at places first to last, as a task takes them."""
        if self._path is not None:
            return FileRows(self._path, first, last)
        return self.some(np.arange(first, last))

    def some(self, places: NDArray[np.integer[Any]]) -> HeldRows | NDArray[Any]:
        """The rows of the users at some places, as a task takes them: for few users."""
        users = self.order[places]
        return HeldRows(self.population, users) if self._rows is None else np.ascontiguousarray(self._rows[users])

    def close(self) -> None:
        """Remove the file of rows."""
        if self._path is not None:
            os.unlink(self._path)
            self._path = None

    def _write(self) -> None:
        """Write all rows in the present order to a file that workers read slices of.

        Rows are read as they lie, a block at a time. A part takes its users in the order in which they came, so that a block's
        share of each part is one run of the file. Reading part by part would touch a page of the file for every row.
        """
        if self.engine.folder is None or self._rows is None:
            return
        handle, path = tempfile.mkstemp(prefix="rows-", suffix=".npy", dir=self.engine.folder)
        os.close(handle)
        target = np.lib.format.open_memmap(path, "w+", self._rows.dtype, self._rows.shape)
        place_of = np.empty(len(self.order), np.int64)
        place_of[self.order] = np.arange(len(self.order))
        for first, last in split_range(0, len(self.order), self._copied):
            block, places = self._rows[first:last], place_of[first:last]
            rising = np.argsort(places, kind="stable")
            target[places[rising]] = block[rising]
        target.flush()
        del target
        self.close()
        self._path = path


def split_range(first: int, last: int, most: int) -> Iterator[tuple[int, int]]:
    """Split the range first to last into pieces of at most `most`."""
    for start in range(first, last, most):
        yield start, min(start + most, last)


def _rows_of(population: Population) -> tuple[Rows, Embedder]:
    """A population as rows that can be written, and what makes points of them."""
    if isinstance(population, EmbeddedRows):
        return population.rows, population.embedder
    users = population if isinstance(population, Embedding) else population.take(np.arange(len(population)))
    plain = PlainPoints(users.weights, users.constant, users.split_by)
    if users.counts is None:
        return users.points, plain
    return np.hstack([users.points, users.counts]), plain
