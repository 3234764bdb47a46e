"""The compiled twin of the matrix product in `similar_reports`, for a few users at a time and without other threads."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True, fastmath={"reassoc"})  # type: ignore[untyped-decorator]
def fill_similar(
    points: NDArray[np.float64],
    directions: NDArray[np.float64],
    offsets: NDArray[np.float64],
    share: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> None:
    """Write (offset + direction . point) * share of every user into the row of each direction.

    points: (n, K). directions: (q, K). offsets: (q). share: (n). weights: (q, n).
    """
    for row in range(len(directions)):
        for user in range(len(points)):
            along = 0.0
            for group in range(points.shape[1]):
                along += directions[row, group] * points[user, group]
            weights[row, user] = (offsets[row] + along) * share[user]
