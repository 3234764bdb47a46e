"""Half a step of implicit alternating least squares: the systems of many rows at once, compiled, and the readable twin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def rated_systems(indptr, indices, first, last, other, weights, extra, shared, systems, right):  # type: ignore[no-untyped-def]
    """Fill (rows, f, f) systems and (rows, f) right sides for rows first to last.

    A system is `shared` plus extra * weight * v v' for the vector v of each rated column; a right side is the sum of
    (1 + extra) * weight * v.
    """
    factors = other.shape[1]
    for row in range(first, last):  # only the lower triangle is summed
        system = systems[row - first]
        system[:] = shared
        side = right[row - first]
        side[:] = 0.0
        for place in range(indptr[row], indptr[row + 1]):
            column = indices[place]
            vector = other[column]
            weight = weights[column]
            for a in range(factors):
                scaled = extra * weight * vector[a]
                side[a] += (1.0 + extra) * weight * vector[a]
                for b in range(a + 1):
                    system[a, b] += scaled * vector[b]
        for a in range(factors):
            for b in range(a):
                system[b, a] = system[a, b]


def half_step_plain(rated: Any, other: Floats, weights: Floats, extra: float, ridge: float) -> Floats:
    """The same half step as the formula reads, one row at a time: what tests hold the compiled one to."""
    found = np.zeros((rated.shape[0], other.shape[1]))
    shared = (other * weights[:, None]).T @ other + ridge * np.eye(other.shape[1])
    for row in range(rated.shape[0]):
        columns = rated.indices[rated.indptr[row] : rated.indptr[row + 1]]
        vectors, weight = other[columns], weights[columns]
        system = shared + extra * (vectors * weight[:, None]).T @ vectors
        found[row] = np.linalg.solve(system, (1.0 + extra) * (vectors * weight[:, None]).sum(axis=0))
    return found


def half_step(rated: Any, other: Floats, weights: Floats, extra: float, ridge: float) -> Floats:
    """The rows' factors that fit best given the columns'.

    rated: (rows, columns) CSR. other: (columns, f). weights: (columns,) how many items or users a column stands for.
    extra: by how much a rated pair counts more than an unrated one. ridge: of the factors.
    """
    from privact.recommend.cores import run_on_all_cores, split_into_blocks

    factors = other.shape[1]
    shared = (other * weights[:, None]).T @ other + ridge * np.eye(factors)
    found = np.empty((rated.shape[0], factors))

    def solve(rows: slice) -> None:
        systems = np.empty((rows.stop - rows.start, factors, factors))
        right = np.empty((rows.stop - rows.start, factors))
        rated_systems(rated.indptr, rated.indices, rows.start, rows.stop, other, weights, extra, shared, systems, right)
        found[rows] = np.linalg.solve(systems, right[:, :, None])[:, :, 0]

    run_on_all_cores(solve, split_into_blocks(rated.shape[0], factors * factors))
    return found
