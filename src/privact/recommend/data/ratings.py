"""Ratings: who rated what, as one sparse matrix with the ids of its rows and columns.

Ratings are what a service already holds. The mechanism protects contacts, not ratings.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from privact.errors import InputError, UnknownUserError

__all__ = ["MOST_STARS", "REPEATS", "Normalisation", "Ratings", "Repeats"]

Normalisation: TypeAlias = Literal["max", "stars"]

Repeats: TypeAlias = Literal["error", "last", "mean"]
"""What to do where a user rates an item again."""

REPEATS = ("error", "last", "mean")

MOST_STARS = 5.0
"""The best score that a user can give, by which stars are divided."""


@dataclass(frozen=True, eq=False, repr=False)
class Ratings:
    """Who rated what, and how.

    Make them with `from_frame`, `from_csr` or `read_ratings`; the constructor trusts its arguments.

    matrix: (n_users, n_items) SciPy CSR array of numbers above 0, columns ascending within each row; no entry, no rating.
    users: the id of each row. A row without entries is a user without ratings.
    items: the id of each column.
    """

    matrix: csr_array
    users: tuple[str, ...]
    items: tuple[str, ...]

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        user: str = "user",
        item: str = "item",
        rating: str | None = "rating",
        users: Sequence[Hashable] | None = None,
        repeats: Repeats = "error",
    ) -> Ratings:
        """Ratings from a table with one row a rating: a pyarrow table, a pandas or polars frame, or a dict of columns.

        A rating of 0 (nothing played) is no rating. Users and items are numbered in order of first appearance.

        user, item, rating: names of the columns; without a column of ratings (None) every row counts 1.
        users: the rows to make, in this order; users without ratings get an empty row, ratings of others are left out.
        repeats: what to do where a user rates an item again: refuse ("error"), take the "last" in the table, or the "mean".
        """
        if repeats not in REPEATS:
            raise InputError(f"repeats {repeats!r} is unknown: use {', '.join(map(repr, REPEATS))}")
        columns = [_column(frame, name) for name in (user, item, rating) if name is not None]
        if len({len(column) for column in columns}) > 1:
            raise InputError(f"the columns have {', '.join(str(len(c)) for c in columns)} entries: give one row a rating")
        values = np.ones(len(columns[0])) if rating is None else _numbers(columns[2], rating)
        row, user_ids = _number_ids(columns[0], user)
        column, item_ids = _number_ids(columns[1], item)
        _check_values(values, lambda at: f"user {user_ids[row[at]]!r}, item {item_ids[column[at]]!r}")
        if repeats != "error":
            row, column, values = _merge_repeats(row, column, values, repeats)
        made = cls._of_entries(row, column, values, user_ids, item_ids)
        return made if users is None else made.for_users(users)

    @classmethod
    def from_csr(cls, matrix: Any, users: Sequence[Hashable] | None = None, items: Sequence[Hashable] | None = None) -> Ratings:
        """Ratings from a SciPy sparse matrix, users by items; entries of 0 are no ratings.

        users, items: ids of rows and columns; row and column numbers as text if absent.
        """
        entries = matrix.tocoo()
        if len(entries.shape) != 2:
            raise InputError(f"the ratings have shape {tuple(entries.shape)}: give one row a user and one column an item")
        row, column = (np.asarray(part, dtype=np.int64) for part in (entries.row, entries.col))
        values = np.asarray(entries.data, dtype=np.float64)
        names = _ids(users, entries.shape[0], "user"), _ids(items, entries.shape[1], "item")
        _check_values(values, lambda at: f"user {names[0][row[at]]!r}, item {names[1][column[at]]!r}")
        return cls._of_entries(row, column, values, *names)

    @classmethod
    def _of_entries(
        cls,
        row: NDArray[np.int64],
        column: NDArray[np.int64],
        values: NDArray[np.float64],
        users: tuple[str, ...],
        items: tuple[str, ...],
    ) -> Ratings:
        """Ratings from valid entries, refusing a user who rates an item twice."""
        there = values > 0
        row, column, values = row[there], column[there], values[there]
        order = np.lexsort((column, row))
        row, column, values = row[order], column[order], values[order]
        again = np.flatnonzero((np.diff(row) == 0) & (np.diff(column) == 0))
        if len(again):
            at = again[0]
            raise InputError(
                f"user {users[row[at]]!r} rates item {items[column[at]]!r} twice: give each rating once, "
                "or merge them (repeats last or mean)"
            )
        indptr = np.zeros(len(users) + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=len(users)), out=indptr[1:])
        return cls(csr_array((values, column, indptr), shape=(len(users), len(items))), users, items)

    @property
    def n_users(self) -> int:
        """How many users, with or without ratings."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """How many items."""
        return len(self.items)

    @property
    def n_ratings(self) -> int:
        """How many ratings."""
        return int(self.matrix.nnz)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(n_items) how many users rated each item: its popularity."""
        return np.asarray(np.bincount(self.matrix.indices, minlength=self.n_items), dtype=np.int64)

    @cached_property
    def by_popularity(self) -> NDArray[np.int64]:
        """(n_items) the items, most rated first; of equal ones the smaller number first."""
        return np.argsort(-self.counts, kind="stable")

    @cached_property
    def activity(self) -> NDArray[np.int64]:
        """(n_users) how many items each user rated."""
        return np.asarray(np.diff(self.matrix.indptr), dtype=np.int64)

    @cached_property
    def binary(self) -> csr_array:
        """The same entries, each 1: who rated what, whatever the rating."""
        matrix = self.matrix
        return csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {user: row for row, user in enumerate(self.users)}

    def row(self, user: Hashable) -> int:
        """The row number of a user given by id; raises UnknownUserError."""
        try:
            return self._rows[str(user)]
        except KeyError:
            raise UnknownUserError(f"no user {str(user)!r} among the {self.n_users} users of these ratings") from None

    def for_users(self, users: Sequence[Hashable]) -> Ratings:
        """The ratings of these users, in this order: a row each, empty for users without ratings.

        Ratings of others are left out, and so are items that only others rated. Use it to bring ratings into the order of a
        graph's rows or of a tree's leaves.
        """
        names = _ids(users, len(users), "user")
        rows = np.array([self._rows.get(name, -1) for name in names], dtype=np.int64)
        if not (rows >= 0).any():
            raise InputError(f"none of the {len(names)} users, such as {next(iter(names), '')!r}, has ratings: check the ids")
        known = self.matrix[rows[rows >= 0]]
        activity = np.zeros(len(names), np.int64)
        activity[rows >= 0] = np.diff(known.indptr)
        rated = np.bincount(known.indices, minlength=self.n_items) > 0
        column = (np.cumsum(rated) - 1)[known.indices]
        taken = tuple(self.items[item] for item in np.flatnonzero(rated).tolist())
        indptr = np.append(0, np.cumsum(activity))
        return Ratings(csr_array((known.data, column, indptr), shape=(len(names), len(taken))), names, taken)

    def normalised(self, way: Normalisation) -> Ratings:
        """The ratings as numbers up to 1, as in the paper.

        way: "max" divides by the user's largest (implicit counts such as plays), "stars" by 5 (explicit scores).
        """
        matrix = self.matrix
        if way == "stars":
            if matrix.nnz and matrix.data.max() > MOST_STARS:
                raise InputError(
                    f"the largest rating is {matrix.data.max():g}, above {MOST_STARS:g} stars: normalise counts by 'max'"
                )
            values = matrix.data / MOST_STARS
        elif way == "max":
            owner = np.repeat(np.arange(self.n_users), self.activity)
            largest = np.zeros(self.n_users)
            np.maximum.at(largest, owner, matrix.data)
            values = matrix.data / largest[owner]
        else:
            raise InputError(f"normalisation {way!r} is unknown: use 'max' for counts or 'stars' for scores up to 5")
        return Ratings(csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape), self.users, self.items)

    def keep(self, chosen: NDArray[np.bool_]) -> Ratings:
        """The same users and items with only some of the ratings.

        chosen: (n_ratings) which ratings stay, in the order of `matrix.data`.
        """
        indptr = np.append(0, np.cumsum(chosen))[self.matrix.indptr]
        kept = (self.matrix.data[chosen], self.matrix.indices[chosen], indptr)
        return Ratings(csr_array(kept, shape=self.matrix.shape), self.users, self.items)

    def __repr__(self) -> str:
        return f"Ratings({self.n_users} users, {self.n_items} items, {self.n_ratings} ratings)"


def _merge_repeats(
    row: NDArray[np.int64], column: NDArray[np.int64], values: NDArray[np.float64], repeats: Repeats
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """The ratings with one entry for each user and item."""
    order = np.lexsort((column, row))  # stable: of equal ones, later ratings come later
    row, column, values = row[order], column[order], values[order]
    last = np.append((np.diff(row) != 0) | (np.diff(column) != 0), True)
    if repeats == "mean":
        group = np.append(0, np.cumsum(last[:-1]))
        values = (np.bincount(group, values) / np.bincount(group))[group]
    return row[last], column[last], values[last]


def _column(frame: Any, name: str) -> NDArray[Any]:
    """One column of a frame as an array."""
    try:
        column = frame[name]
    except Exception:  # pyarrow, pandas, polars and dicts each raise their own
        named = (getattr(frame, attribute, None) for attribute in ("column_names", "columns", "keys"))
        names = next((each for each in named if each is not None), None)  # no `or`: an index of pandas is neither true nor false
        if names is None:
            raise InputError(f"no column {name!r} in {type(frame).__name__!r}: give a table, or a dict of columns") from None
        names = names() if callable(names) else names
        raise InputError(f"the frame has no column {name!r}: it has {', '.join(map(str, names)) or 'none'}") from None
    return np.asarray(column)  # every kind of column says how to become an array


def _numbers(column: NDArray[Any], name: str) -> NDArray[np.float64]:
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"column {name!r} holds something that is not a number ({error}): give one number a rating") from None


def _number_ids(column: NDArray[Any], name: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """The place of each entry's id among the different ids in order of first appearance, and these ids as text."""
    if column.dtype.kind == "f":  # whole numbers that passed through a frame with gaps
        if not (np.isfinite(column) & (column == np.round(column))).all():
            raise InputError(f"column {name!r} holds ids that are missing or fractions: give every rating an id")
        column = column.astype(np.int64)
    if column.dtype.kind == "O":
        if any(entry is None or entry != entry for entry in column.tolist()):
            raise InputError(f"column {name!r} holds missing ids: give every rating an id")
        column = column.astype(str)
    ids, first, place = np.unique(column, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(ids), np.int64)
    rank[order] = np.arange(len(ids))
    return rank[place], tuple(map(str, ids[order].tolist()))


def _ids(ids: Sequence[Hashable] | None, count: int, what: str) -> tuple[str, ...]:
    if ids is None:
        return tuple(map(str, range(count)))
    if isinstance(ids, str):
        raise InputError(f"{what}s must be a sequence of ids, not the one text {ids!r}: pass a list")
    names = tuple(map(str, ids))
    if len(names) != count:
        raise InputError(f"{len(names)} {what} ids for {count} {what}s: give one each")
    if len(set(names)) < len(names):
        raise InputError(f"{len(names) - len(set(names))} {what} ids occur more than once: each {what} needs its own")
    return names


def _check_values(values: NDArray[np.float64], where: Any) -> None:
    wrong = ~np.isfinite(values) | (values < 0)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InputError(f"{where(at)}: the rating is {values[at]:g}: give a finite number of at least 0, where 0 is no rating")
