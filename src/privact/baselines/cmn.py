"""CMN: learn the tree of a hierarchical random graph from a whole contact graph (Clauset, Moore, Newman 2008).

The chain proposes the local swaps of GenTree and takes one with probability min(1, exp(gain of log C_M / temperature)). At
temperature 1 it samples trees from their posterior under a uniform prior over trees (with pi at its best); lower
temperatures look for the tree of highest likelihood. Nothing here is private: every step looks at edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privact.baselines._cmn import ChainState, run_chain, total_likelihood
from privact.baselines.cmn_state import random_start, state_of, tree_of
from privact.errors import InputError
from privact.learn.search.gentree import SWEEPS, schedule
from privact.network.graph import ContactGraph
from privact.progress import Progress
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["WINDOW", "CMNResult", "learn_cmn"]

WINDOW = 250
"""The chain has settled when log C_M was on average no higher in the last WINDOW sweeps than in the WINDOW before them."""


@dataclass(frozen=True, eq=False)
class CMNResult:
    """Where a chain has ended and how it got there.

    tree: the last tree, with the ids of the graph's users.
    log_likelihood_trace: log C_M at the start and after each sweep, so that entry s belongs to s n proposals.
    accepted: how many proposals were taken.
    proposed: how many there were.
    settled: whether the chain ended because log C_M no longer rose, rather than with its last sweep.
    """

    tree: HierarchicalClusterTree
    log_likelihood_trace: NDArray[np.float64]
    accepted: int
    proposed: int
    settled: bool

    @property
    def log_likelihood(self) -> float:
        """log C_M of the tree."""
        return float(self.log_likelihood_trace[-1])


def learn_cmn(
    graph: ContactGraph,
    sweeps: int = SWEEPS,
    *,
    random_state: int | np.random.Generator | None = None,
    temperature: float | Sequence[float] = 1.0,
    start: HierarchicalClusterTree | None = None,
    window: int | None = WINDOW,
    progress: Progress | None = None,
) -> CMNResult:
    """Run the chain of CMN and return the tree that it ends at.

    graph: the whole contact graph, of at least 3 users.
    sweeps: how long at most; a sweep is n proposed swaps.
    random_state: seed or generator; the same seed gives the same tree.
    temperature: a number (1 samples the posterior, 0 only climbs), (hot, cold) to cool geometrically, or one a sweep.
    start: the tree to begin with; by default two clusters drawn at random are joined until one is left.
    window: the chain ends early once it has settled (see WINDOW) at a temperature that no longer changes; None never does.
    progress: called with (what is done, how much, of how much).
    """
    require_users(graph)
    temperatures = schedule(temperature, whole_number("sweeps", sweeps, 0))
    if window is not None:
        whole_number("window", window, 1)
    rng = np.random.default_rng(random_state)
    state = state_of(graph, random_start(graph, rng) if start is None else start)
    trace, accepted, settled = run_sweeps(state, temperatures, rng, window, progress)
    proposed = graph.n_users * (len(trace) - 1)
    return CMNResult(tree_of(state, graph), np.array(trace), accepted, proposed, settled)


def run_sweeps(
    state: ChainState,
    temperatures: NDArray[np.float64],
    rng: np.random.Generator,
    window: int | None,
    progress: Progress | None,
) -> tuple[list[float], int, bool]:
    """One sweep at each temperature; returns log C_M at the start and after each, how many were taken, and if it settled."""
    n = (len(state.left) + 1) // 2
    trace = [float(total_likelihood(state))]
    accepted = 0
    changes = np.flatnonzero(np.diff(temperatures))
    steady_from = int(changes[-1]) + 1 if len(changes) else 0  # from this sweep on the temperature stays what it is
    for sweep, temperature in enumerate(temperatures):
        accepted += run_chain(state, n, temperature, rng)
        trace.append(float(total_likelihood(state)))
        if progress is not None:
            progress("swapping", sweep + 1, len(temperatures))
        if window is not None and sweep + 1 - steady_from >= 2 * window and _no_longer_rises(trace, window):
            return trace, accepted, True
    return trace, accepted, False


def _no_longer_rises(trace: list[float], window: int) -> bool:
    return float(np.mean(trace[-window:])) <= float(np.mean(trace[-2 * window : -window]))


def require_users(graph: ContactGraph) -> None:
    """Refuse a graph too small for a local swap."""
    if graph.n_users < 3:
        raise InputError(f"the graph has {graph.n_users} users, but a chain over trees needs at least 3")


def whole_number(name: str, value: int, least: int) -> int:
    """A whole number that is large enough, or one clear error."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} {value!r} is not a whole number >= {least}")
    return int(value)
