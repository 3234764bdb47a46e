"""The expectation maximisation of exposure models in blocks of rows; its literal twin is `exposure_plain`.

No loop visits a pair. For a block of rows the exposures are one matrix product and a pass over it, and all their normal
equations are another: the products of two factors of an item are a row of length f (f + 1) / 2, so that the block's exposures
times these rows are the upper triangles of all the block's f x f systems.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.recommend.cores import run_on_all_cores, split_into_blocks
from privact.recommend.exposure._kernel import expose
from privact.recommend.exposure.exposure_settings import ExposureSettings
from privact.recommend.exposure.priors import Floats, PopularityPrior


def expectation_maximisation(
    rated: Any,
    rated_by: Any,
    weights: Floats,
    prior: PopularityPrior,
    settings: ExposureSettings,
    users: Floats,
    items: Floats,
    iterations: int,
) -> tuple[Floats, Floats]:
    """Improve the factors, and the prior in place, for some iterations.

    rated: (n, m) CSR, 1 where the user has the item. rated_by: its transpose, CSR.
    weights: (m,) how many items each column stands for.
    users, items: (n, f) and (m, f) factors to start from.
    """
    for _ in range(iterations):
        users, items = _iterate(rated, rated_by, weights, prior, settings, users, items)
    return users, items


def _iterate(
    rated: Any,
    rated_by: Any,
    weights: Floats,
    prior: PopularityPrior,
    settings: ExposureSettings,
    users: Floats,
    items: Floats,
) -> tuple[Floats, Floats]:
    """New factors of users, then of items, then the prior, each from exposures under the newest of the others."""
    of_users = _of_users(rated, users, items, prior, settings)
    users = _regress(rated, items, weights, settings.user_ridge / settings.precision, of_users)
    before = _to_items(rated_by, users, items, prior, settings)
    alone = np.ones(len(users), users.dtype)
    items = _regress(rated_by, users, alone, settings.item_ridge / settings.precision, lambda block: before(block).T)
    after = _to_items(rated_by, users, items, prior, settings)
    run_on_all_cores(lambda block: prior.learn(block, after(block)), split_into_blocks(len(items), len(users)))
    return users, items


def exposures(preferences: Floats, prior: PopularityPrior, users: slice, items: slice, settings: ExposureSettings) -> Floats:
    """The probability of exposure of some users to some items where there is no rating, in place of the preferences.

    It is N(0; preference) favour / (N(0; preference) favour + against): who would have liked it and did not rate it was
    hardly exposed. In single precision it is compiled; in double precision it is as it reads.
    """
    if preferences.dtype == np.float32:
        steepness = np.float32(-0.5 * settings.precision * np.log2(np.e))
        against = prior.against[items] / np.float32(settings.peak)
        parts = prior.base[items], prior.gain[users], prior.slope[items], prior.near
        expose(preferences, steepness, *parts, users.start, items.start, against)
        return preferences
    seen = settings.peak * np.exp(-0.5 * settings.precision * preferences**2) * prior.favour(users, items)
    return np.asarray(seen / (seen + prior.against[items]))


Seen = Callable[[slice], Floats]
"""From a block to its exposures."""


def _of_users(rated: Any, users: Floats, items: Floats, prior: PopularityPrior, settings: ExposureSettings) -> Seen:
    """From a block of users to their exposures, (block, n_items)."""

    def seen(block: slice) -> Floats:
        found = exposures(users[block] @ items.T, prior, block, slice(0, len(items)), settings)
        found[_cells(rated, block)] = 1.0
        return found

    return seen


def _to_items(rated_by: Any, users: Floats, items: Floats, prior: PopularityPrior, settings: ExposureSettings) -> Seen:
    """From a block of items to all users' exposures to them, (n_users, block)."""

    def seen(block: slice) -> Floats:
        found = exposures(users @ items[block].T, prior, slice(0, len(users)), block, settings)
        found[_cells(rated_by, block)[::-1]] = 1.0
        return found

    return seen


def _regress(rated: Any, other: Floats, weights: Floats, ridge: float, seen: Seen) -> Floats:
    """The rows' factors that fit ratings best where the row was exposed, given the columns' factors."""
    n_rows, n_columns = rated.shape
    factors = other.shape[1]
    upper, diagonal = np.triu_indices(factors), np.arange(factors)
    products = other[:, upper[0]] * other[:, upper[1]] * weights[:, None]
    right = np.asarray(rated @ (other * weights[:, None]), np.float64)
    found = np.empty((n_rows, factors), other.dtype)

    def solve(rows: slice) -> None:
        triangles = seen(rows) @ products
        systems = np.empty((len(triangles), factors, factors))
        systems[:, upper[0], upper[1]] = triangles
        systems[:, upper[1], upper[0]] = triangles
        systems[:, diagonal, diagonal] += ridge
        found[rows] = np.linalg.solve(systems, right[rows, :, None])[:, :, 0]

    run_on_all_cores(solve, split_into_blocks(n_rows, n_columns))
    return found


def _cells(rated: Any, rows: slice) -> tuple[NDArray[Any], NDArray[Any]]:
    """Where a block of rows has ratings: row within the block, column."""
    first, last = rated.indptr[rows.start], rated.indptr[rows.stop]
    row = np.repeat(np.arange(rows.stop - rows.start), np.diff(rated.indptr[rows.start : rows.stop + 1]))
    return row, rated.indices[first:last]
