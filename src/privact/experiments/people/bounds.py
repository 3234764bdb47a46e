"""Lists that are not private: what exact contacts allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

__all__ = ["list_bounds"]

STAY = 0.85
"""The chance that a walk of personalised PageRank goes on."""

STEPS = 12
"""Steps of the walk; the chance that it goes further is 14 %."""

Scorer = Callable[[NDArray[np.int64]], NDArray[np.float64]]


def list_bounds(known: csr_array) -> Iterator[tuple[str, Scorer]]:
    """The name of each list, and a function that scores all users for some.

    known: (n, n) the contacts that devices know.
    """
    degree = np.diff(known.indptr).astype(np.float64)
    rare = diags_array(1.0 / np.log(np.maximum(degree, 2.0)))
    walk = (diags_array(1.0 / np.maximum(degree, 1.0)) @ known).tocsr()
    yield "common neighbours", lambda rows: (known[rows] @ known).toarray()
    yield "Adamic-Adar", lambda rows: (known[rows] @ rare @ known).toarray()
    yield "personalised PageRank", lambda rows: _walk(walk, rows)


def _walk(walk: csr_array, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """(q, n) how often a walk that starts at each user, and always starts again, is at all users."""
    start = np.zeros((walk.shape[0], len(rows)))
    start[rows, np.arange(len(rows))] = 1.0
    back, visits, here = walk.T.tocsr(), np.zeros_like(start), start
    for _ in range(STEPS):
        here = STAY * (back @ here)
        visits += here
    return np.asarray(visits.T)
