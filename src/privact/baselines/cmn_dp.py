"""CMN-DP: the hierarchical random graph of a whole contact graph under edge differential privacy (Xiao, Chen, Tan 2014).

Central model: a trusted curator sees every edge, and what it releases hides any one of them. Two steps add up to epsilon:

1. The tree is drawn by the exponential mechanism with log C_M as utility, P(T) proportional to
   exp(epsilon_tree log C_M(T) / (2 sensitivity)): the chain of CMN at temperature 2 sensitivity / epsilon_tree. The factor 2
   is needed because one edge raises log C_M of some trees and lowers it for others.
2. The edge counts E of that tree get discrete Laplace noise with epsilon_counts, are clamped to 0..LR and divided by LR.
   One edge crosses exactly one node, so it changes one count by one: sensitivity 1.

How much one edge changes log C_M. It changes E of one node with m = LR pairs, and that node's part of log C_M,
f(E) = E log(E/m) + (m-E) log(1 - E/m) = -m H(E/m), is convex in E and symmetric under E -> m-E. The steps of a convex
function rise, so f(E+1) - f(E) is largest in size at the ends, E = 0 and E = m-1, where it is

    f(0) - f(1) = log m + (m-1) log(m / (m-1))  <  log m + 1.

This rises with m, and no node parts more than m = floor(n/2) ceil(n/2) pairs: the root of a balanced tree does, so the value
there is exact, and at most log(n^2/4) + 1 = ln(0.680 n^2) = 2 ln n - 0.386. PrivaCT's authors used ln(0.75 n^2), which is
safe but never reached: larger by 0.099 for large n, as if epsilon were 0.7 % less at n = 1,843.

What "converged" must mean. The exponential mechanism's promise belongs to the stationary law. A chain that was run until
its law is within total variation t of the stationary law, on every graph, gives only (epsilon_tree, delta) with
delta = (1 + e^epsilon_tree) t. No useful bound on t is known for this chain, and a trace of log C_M that has become flat, as
it does here within some hundred sweeps, proves none: whoever needs the pure promise cannot get it from this baseline. Two
more conditions: the start must not come from the graph, and when to stop must not either, so the number of sweeps is fixed
beforehand and there is no stopping rule here. The trace is for experiments: it is exact and must not be released.

This is a simulation: floating point, NumPy's generator and a seed make the noise unfit to protect anybody.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from privact.baselines.cmn import require_users, run_sweeps, whole_number
from privact.baselines.cmn_state import random_start, state_of, tree_of
from privact.baselines.likelihood import edge_counts, pair_counts
from privact.errors import InputError
from privact.learn.search.gentree import SWEEPS
from privact.network.graph import ContactGraph
from privact.progress import Progress
from privact.simulate.reports import simulated_noise
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["CMNDPResult", "learn_cmn_dp", "log_likelihood_sensitivity"]

Sensitivity = Literal["exact", "authors"]


@dataclass(frozen=True, eq=False)
class CMNDPResult:
    """What CMN-DP releases, and for experiments how it got there.

    tree: drawn with epsilon_tree.
    noisy_edge_counts: (n-1) E of each internal node with noise, clamped to 0..LR; None if no epsilon was left for them.
    epsilon_tree, epsilon_counts: what was spent on each.
    sensitivity: how much one edge was taken to change log C_M.
    log_likelihood_trace: log C_M at the start and after each sweep. Exact, so never to be released.
    accepted, proposed: how many swaps were taken, of how many.
    """

    tree: HierarchicalClusterTree
    noisy_edge_counts: NDArray[np.int64] | None
    epsilon_tree: float
    epsilon_counts: float
    sensitivity: float
    log_likelihood_trace: NDArray[np.float64]
    accepted: int
    proposed: int

    @property
    def log_likelihood(self) -> float:
        """log C_M of the tree, at the exact best pi. Never to be released."""
        return float(self.log_likelihood_trace[-1])


def log_likelihood_sensitivity(n_users: int, kind: Sensitivity = "exact") -> float:
    """The most that one edge can change log C_M of a tree over this many users.

    kind: "exact", as derived above, or "authors", their ln(0.75 n^2).
    """
    if kind == "authors":
        return math.log(0.75 * n_users**2)
    if kind != "exact":
        raise InputError(f"sensitivity {kind!r} is unknown: use 'exact' or 'authors'")
    pairs = (n_users // 2) * (n_users - n_users // 2)
    return 0.0 if pairs < 2 else math.log(pairs) - (pairs - 1) * math.log1p(-1.0 / pairs)


def learn_cmn_dp(
    graph: ContactGraph,
    epsilon: float,
    sweeps: int = SWEEPS,
    *,
    tree_share: float = 0.5,
    sensitivity: Sensitivity = "exact",
    random_state: int | np.random.Generator | None = None,
    start: HierarchicalClusterTree | None = None,
    progress: Progress | None = None,
) -> CMNDPResult:
    """A tree and noisy edge counts, private per edge in the central model as far as the chain has converged.

    graph: the whole contact graph, of at least 3 users.
    epsilon: the promise per edge, over tree and counts together.
    sweeps: how long the chain runs, n proposed swaps each; must not be chosen by looking at the graph.
    tree_share: share of epsilon that the tree gets; 1 leaves nothing for the counts, and none are released.
    sensitivity: "exact" or "authors", see `log_likelihood_sensitivity`.
    random_state: seed or generator; the same seed gives the same result.
    start: the tree to begin with, random unless given; must not come from the graph.
    progress: called with (what is done, how much, of how much).
    """
    require_users(graph)
    if not 0.0 < epsilon < math.inf:
        raise InputError(f"epsilon {epsilon!r} is not a number above 0: 1 is usual")
    if not 0.0 < tree_share <= 1.0:
        raise InputError(f"tree_share {tree_share!r} is outside 0 to 1: give the share of epsilon for the tree, 0.5 for half")
    change = log_likelihood_sensitivity(graph.n_users, sensitivity)
    epsilon_tree = epsilon * tree_share
    epsilon_counts = epsilon - epsilon_tree
    temperatures = np.full(whole_number("sweeps", sweeps, 0), 2.0 * change / epsilon_tree)
    rng = np.random.default_rng(random_state)
    state = state_of(graph, random_start(graph, rng) if start is None else start)
    trace, accepted, _ = run_sweeps(state, temperatures, rng, None, progress)
    tree = tree_of(state, graph)
    noisy = None
    if epsilon_counts > 0.0:
        counts = edge_counts(tree, graph) + simulated_noise(graph.n_users - 1, epsilon_counts, rng)
        noisy = np.clip(counts, 0, pair_counts(tree))
    proposed = graph.n_users * len(temperatures)
    return CMNDPResult(tree, noisy, epsilon_tree, epsilon_counts, change, np.array(trace), accepted, proposed)
