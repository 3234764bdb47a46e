"""GenTree: the paper's Metropolis-Hastings search over trees (its Algorithm 1), with a temperature.

At temperature T the chain settles in the Boltzmann law: a tree's probability is proportional to exp(cost / T). The paper
has T = 1, at which a network of a thousand users only ever climbs, because single swaps change the cost by millions.
A schedule that starts hot and cools down escapes local optima.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.learn.scale.population import Population
from privact.learn.search._swaps import SearchState, climb, fill, run_chain, total_cost
from privact.learn.search.search import FoundTree, SearchOptions, Temperature
from privact.learn.search.search_state import found_tree, hold_points, random_state_of

SWEEPS = 400
"""Sweeps of the paper's chain; one sweep is n proposed swaps."""

WINDOW = 40
"""The chain stops when this many sweeps in a row have not raised its best cost."""

RECOUNT = 64
"""After this many sweeps every kept sum is counted afresh, so that rounding cannot build up."""


def schedule(temperature: Temperature | None, sweeps: int) -> NDArray[np.float64]:
    """The temperature of each sweep: constant, cooling geometrically from the first to the second, or as listed."""
    if temperature is None:
        temperature = 1.0
    try:
        values = np.atleast_1d(np.asarray(temperature, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or (values < 0).any():
        raise InputError(f"temperature {temperature!r} is not a number >= 0, a (hot, cold) pair or one number a sweep")
    if len(values) == 1:
        return np.full(sweeps, values[0])
    if len(values) == 2:
        if (values <= 0).any():
            raise InputError(f"temperature {temperature!r} cannot cool geometrically through 0: let both ends be above 0")
        return np.geomspace(values[0], values[1], sweeps)
    if len(values) != sweeps:
        raise InputError(f"{len(values)} temperatures for {sweeps} sweeps: give one each, or sweeps={len(values)}")
    return values


def anneal(
    state: SearchState, temperatures: NDArray[np.float64], rng: np.random.Generator, progress: Callable[[int, float], None]
) -> list[float]:
    """Run the chain for one sweep at each temperature; returns the cost after each sweep.

    It stops early when the temperature is no longer changing and WINDOW sweeps have not raised the best cost, or, at
    temperature 0, when no local swap raises the cost any more: a proven local optimum.
    progress: called with the sweep and the cost.
    """
    n = (len(state.left) + 1) // 2
    costs: list[float] = []
    if n < 3:  # one tree only
        return [fill(state)]
    best, since = fill(state), 0
    for sweep, temperature in enumerate(temperatures):
        run_chain(state, n, temperature, rng)
        costs.append(total_cost(state) if (sweep + 1) % RECOUNT else fill(state))
        progress(sweep + 1, costs[-1])
        steady = bool((temperatures[sweep:] == temperature).all())
        since = 0 if costs[-1] > best + 1e-12 * abs(best) or not steady else since + 1
        best = max(best, costs[-1])
        if since >= WINDOW:
            break
        if temperature == 0.0 and steady and climb(state, np.arange(n, 2 * n - 1), 0)[1]:
            break
    costs[-1:] = [fill(state)]
    return costs


def run_chain_of(state: SearchState, options: SearchOptions) -> list[float]:
    """Run the chain as a caller chose its length and temperature; returns the cost after each sweep."""
    temperatures = schedule(options.temperature, SWEEPS if options.sweeps is None else options.sweeps)
    return anneal(state, temperatures, options.rng, lambda sweep, _: options.progress("swapping", sweep, len(temperatures)))


def search_by_chain(population: Population, options: SearchOptions) -> FoundTree:
    """Run the paper's chain from a random tree."""
    state = random_state_of(hold_points(population), options.rng)
    return found_tree(state, [fill(state), *run_chain_of(state, options)])
