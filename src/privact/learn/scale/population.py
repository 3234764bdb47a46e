"""Everybody who shall be in a tree, and how their rows of numbers reach the tasks that need them.

Tasks in this process look rows up where they are. Workers that see our files read a slice of one, in which users stand part by
part; to other workers the rows of a part travel with its task, each user's once. A table of everybody travels nowhere.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privact.learn.scale.engines import Engine, shared
from privact.tree.embedding import Embedding

COPIED = 1 << 18
"""How many rows are put in order at a time."""


class Embedder(Protocol):
    """What turns rows of numbers into points: a posterior, thresholds, or nothing at all."""

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

    rows: NDArray[Any]
    embedder: Embedder

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, users: NDArray[np.integer[Any]]) -> Embedding:
        """The points of some users, in the given order."""
        return self.embedder.embed(self.rows[users])


@dataclass(frozen=True, eq=False)
class PlainPoints:
    """Rows that are points already, followed by the counts behind them where there are any.

    weights, constant: of the embedding.
    """

    weights: NDArray[np.float64]
    constant: float

    def embed(self, rows: NDArray[Any]) -> Embedding:
        """The points of some users."""
        width = len(self.weights)
        counts = np.ascontiguousarray(rows[:, width:], dtype=np.float64) if rows.shape[1] > width else None
        return Embedding(np.ascontiguousarray(rows[:, :width]), self.weights, self.constant, counts)


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


def embedded(rows: HeldRows | FileRows | NDArray[Any], embedder: Any) -> Embedding:
    """The points of the users that a task was given, inside the task."""
    if isinstance(rows, HeldRows):
        return rows.population.take(rows.users)
    if isinstance(rows, FileRows):
        rows = np.array(np.load(rows.path, mmap_mode="r")[rows.first : rows.last])
    points: Embedding = shared(embedder).embed(rows)
    return points


class Depot:
    """Everybody in the order of parts, and the way of their rows to an engine's tasks.

    engine: where tasks run. population: the users.
    order: (n) the users, part by part.
    embedder: to be given to tasks with the rows.
    """

    def __init__(self, engine: Engine, population: Population) -> None:
        self.engine = engine
        self.population = population
        self.order: NDArray[np.int64] = np.arange(len(population))
        self.embedder: Any = None
        self._rows: NDArray[Any] | None = None
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
        """What a task needs to know the users at places first to last."""
        if self._path is not None:
            return FileRows(self._path, first, last)
        return self.some(np.arange(first, last))

    def some(self, places: NDArray[np.integer[Any]]) -> HeldRows | NDArray[Any]:
        """What a task needs to know the users at some places: for few users."""
        users = self.order[places]
        return HeldRows(self.population, users) if self._rows is None else np.ascontiguousarray(self._rows[users])

    def close(self) -> None:
        """Remove what was spilled."""
        if self._path is not None:
            os.unlink(self._path)
            self._path = None

    def _write(self) -> None:
        """Spill all rows in the present order to a file that workers read slices of."""
        if self.engine.folder is None or self._rows is None:
            return
        handle, path = tempfile.mkstemp(prefix="rows-", suffix=".npy", dir=self.engine.folder)
        os.close(handle)
        target = np.lib.format.open_memmap(path, "w+", self._rows.dtype, self._rows.shape)
        for first in range(0, len(self.order), COPIED):
            target[first : first + COPIED] = self._rows[self.order[first : first + COPIED]]
        target.flush()
        del target
        self.close()
        self._path = path


def blocks(first: int, last: int, most: int) -> Iterator[tuple[int, int]]:
    """The range first to last in pieces of at most so many."""
    for start in range(first, last, most):
        yield start, min(start + most, last)


def _rows_of(population: Population) -> tuple[NDArray[Any], Embedder]:
    """A population as rows that can be written, and what makes points of them."""
    if isinstance(population, EmbeddedRows):
        return population.rows, population.embedder
    everybody = population if isinstance(population, Embedding) else population.take(np.arange(len(population)))
    plain = PlainPoints(everybody.weights, everybody.constant)
    if everybody.counts is None:
        return everybody.points, plain
    return np.hstack([everybody.points, everybody.counts]), plain
