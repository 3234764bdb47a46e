"""Validation of dense matrices of dissimilarities or similarities between users."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError
from privact.tree.embedding import LARGEST


def as_matrix(matrix: ArrayLike, name: str, most: int = 5_000) -> NDArray[np.float64]:
    """A dense symmetric matrix of non-negative numbers; its diagonal is never used and set to zero.

    name: of the argument, for the error. most: users that it may have.
    """
    try:
        given = np.asarray(matrix)
        if given.dtype.kind not in "iufb":
            raise TypeError
        square = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} does not hold numbers in rows of equal length: give an (n, n) array") from None
    if square.ndim == 1:
        raise InputError(f"{name} has shape {square.shape}, not (n, n): scipy.spatial.distance.squareform makes it square")
    if square.ndim != 2 or square.shape[0] != square.shape[1]:
        raise InputError(f"{name} has shape {square.shape}, not (n, n): give one row and one column a user")
    if not 2 <= len(square) <= most:
        raise InputError(f"{name} has {len(square)} users, outside 2 to {most}: give vectors instead of a matrix")
    _refuse(~(np.abs(square) < LARGEST), square, name, f"not a finite number below {LARGEST:g}: fill or drop such users")
    if name == "dissimilarity" and square.diagonal().max() > 1e-6 * square.max():
        warnings.warn(
            "the diagonal of dissimilarity is not 0: it is ignored; similarities are given as similarity=", stacklevel=4
        )
    np.fill_diagonal(square, 0.0)
    _refuse(square < 0.0, square, name, "below 0: give non-negative numbers")
    uneven = ~np.isclose(square, square.T, rtol=1e-9, atol=0.0)
    if uneven.any():
        row, column = np.argwhere(uneven)[0]
        raise InputError(
            f"{name}[{row}, {column}] is {square[row, column]:g} but [{column}, {row}] is {square[column, row]:g}: "
            "make it symmetric, for example (M + M.T) / 2"
        )
    return np.asarray((square + square.T) / 2.0)


def _refuse(wrong: NDArray[np.bool_], square: NDArray[np.float64], name: str, why: str) -> None:
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InputError(f"{name}[{row}, {column}] is {square[row, column]:g}, {why}")
