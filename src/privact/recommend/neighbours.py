"""N(u): the users whose ratings are used in place of a user's contacts, as a sparse matrix of users by users."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from privact.errors import InputError
from privact.tree.ancestry import find_nearest
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["as_neighbours", "draw_random_neighbours", "find_tree_neighbours"]


def find_tree_neighbours(tree: HierarchicalClusterTree, m: ArrayLike) -> csr_array:
    """(n, n) 1 where a user is among the m nearest of another in the tree: the paper's N(u), row u.

    Users without ratings are included, as they are among contacts; they contribute nothing.

    tree: row i is leaf i.
    m: number of neighbours, one for each leaf or one for all; in the paper, the degree in the user's own report. Clipped to
        1 .. n - 1; a tree of one user has no neighbours.
    """
    wanted = _how_many(m, tree.n_users)
    return _of_rows([find_nearest(tree, leaf, count).leaves for leaf, count in enumerate(wanted.tolist())], tree.n_users)


def draw_random_neighbours(n_users: int, m: ArrayLike, rng: int | np.random.Generator) -> csr_array:
    """(n, n) m other users drawn at random for each user: the control for tree neighbours.

    m: how many, as for `tree_neighbours`.
    rng: a seed or a generator; decides everything.
    """
    draw = np.random.default_rng(rng).choice
    wanted = np.minimum(_how_many(m, n_users), n_users - 1)
    others = (draw(n_users - 1, count, replace=False) for count in wanted.tolist())
    return _of_rows([drawn + (drawn >= user) for user, drawn in enumerate(others)], n_users)


def as_neighbours(matrix: Any, n_users: int) -> csr_array:
    """Any square matrix of users by users as neighbours: 1 where it has an entry, 0 on the diagonal.

    matrix: sparse or dense, whatever SciPy makes a `csr_array` of; row i is user i.
    """
    try:
        given = csr_array(matrix)
    except (TypeError, ValueError):
        raise InputError(
            f"neighbours are {type(matrix).__name__!r}: give a matrix of users by users, such as the graph's to_scipy()"
        ) from None
    if given.shape != (n_users, n_users):
        raise InputError(f"neighbours have shape {given.shape} but there are {n_users} users: give one row and column each")
    entries = given.tocoo()
    there = (entries.data != 0) & (entries.row != entries.col)
    row, column = entries.row[there], entries.col[there]
    return csr_array((np.ones(len(row)), (row, column)), shape=(n_users, n_users))


def _how_many(m: ArrayLike, n_users: int) -> NDArray[np.int64]:
    given = np.asarray(m, dtype=np.float64)
    if given.shape not in ((), (n_users,)) or not np.isfinite(given).all():
        raise InputError(f"m has shape {given.shape}: give one finite number, or one for each of {n_users} users")
    return np.broadcast_to(np.clip(np.rint(given), 1, max(1, n_users - 1)), n_users).astype(np.int64)


def _of_rows(rows: list[NDArray[Any]], n_users: int) -> csr_array:
    indptr = np.append(0, np.cumsum([len(row) for row in rows]))
    columns = np.concatenate([np.empty(0, np.int64), *(np.sort(row) for row in rows)]).astype(np.int64)
    return csr_array((np.ones(len(columns)), columns, indptr), shape=(n_users, n_users))
