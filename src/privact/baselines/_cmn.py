"""The compiled twin of cmn_plain.py: a Metropolis-Hastings chain over trees under log C_M, on flat arrays.

Each node keeps the list of the edges that cross it. A swap at node {A, B} with sibling C needs to know which of the edges
that cross the node above lead into A and which into B, and one walk through that list tells, once the users of the smaller
of A and B are marked. Lists hold every edge once and smaller halves add up to at most (n / 2) log2 n users, so a proposal
at a random node visits on average at most 2 edges/n list entries and log2(n) / 2 users, whatever the shape of the tree:
under log C_M it tends to a path, where climbing to a common node would take hundreds of steps.

Every kept number of edges is a whole number and every gain is computed afresh from them, so nothing drifts however long
the chain. No fast-math. The innermost loops spell their tests out: a call with the whole state costs more than the test.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from privact.learn.search._swaps import sibling_of

TIE = 1e-8
"""Smaller differences of log C_M are rounding and count as 0, so that a tie does not depend on the last bit of a logarithm."""

UNKNOWN = -1
"""A number of edges that has yet to be counted."""

NOTHING = -1
"""The end of a list of edges."""


class ChainState(NamedTuple):
    """A tree in the chain, the edges of the contact graph, and every number that a local swap needs.

    Leaves are 0..n-1, internal nodes n..2n-2, the root 2n-2; arrays indexed by node have 2n-1 rows.

    left, right: children of a node, -1 at a leaf.
    parent: the node above, -1 at the root.
    size: number of users below a node.
    across: E, the number of edges between the two children of a node.
    partial: number of edges between a node's left child and the node's sibling; UNKNOWN until counted.
    gains: what log C_M gains if the right (column 0) or the left (column 1) child of a node changes places with the node's
        sibling; column 0 is NaN until they are computed. A proposal that is refused again costs one look-up.
    ends: (edges, 2) the two users of each edge.
    first: the first edge that crosses a node, NOTHING if none does.
    following: (edges) the next edge that crosses the same node, NOTHING at the end.
    marks: (n) when each user was last marked.
    clock: (1) how many times users were marked.
    waiting: (n) room for the nodes still to be visited.
    entropies: k log k for small whole numbers k.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    parent: NDArray[np.int32]
    size: NDArray[np.int32]
    across: NDArray[np.int64]
    partial: NDArray[np.int64]
    gains: NDArray[np.float64]
    ends: NDArray[np.int32]
    first: NDArray[np.int32]
    following: NDArray[np.int32]
    marks: NDArray[np.int64]
    clock: NDArray[np.int64]
    waiting: NDArray[np.int32]
    entropies: NDArray[np.float64]


@njit(cache=True)
def log_term(edges, pairs, entropies):  # type: ignore[no-untyped-def]
    """What one node adds to log C_M: E log pi + (LR - E) log(1 - pi) at pi = E / LR, 0 where all or none are linked."""
    if edges == 0 or edges == pairs:
        return 0.0
    if pairs < entropies.shape[0]:
        return entropies[edges] + entropies[pairs - edges] - entropies[pairs]
    share = edges / pairs
    return edges * np.log(share) + (pairs - edges) * np.log1p(-share)


@njit(cache=True)
def mark_users(state, cluster):  # type: ignore[no-untyped-def]
    """Mark the users below a node, and only them; returns the mark."""
    n = (state.left.shape[0] + 1) // 2
    state.clock[0] += 1
    mark = state.clock[0]
    state.waiting[0] = cluster
    top = 1
    while top > 0:
        top -= 1
        node = state.waiting[top]
        while node >= n:
            state.waiting[top] = state.right[node]
            top += 1
            node = state.left[node]
        state.marks[node] = mark
    return mark


@njit(cache=True)
def smaller_child(state, node):  # type: ignore[no-untyped-def]
    """The child with fewer users, the left one of equals."""
    a = state.left[node]
    b = state.right[node]
    return a if state.size[a] <= state.size[b] else b


@njit(cache=True)
def count_partial(state, node):  # type: ignore[no-untyped-def]
    """Number of edges between a node's left child and the node's sibling."""
    above = state.parent[node]
    if state.across[above] == 0:
        return 0
    smaller = smaller_child(state, node)
    mark = mark_users(state, smaller)
    found = 0
    edge = state.first[above]
    while edge != NOTHING:
        if state.marks[state.ends[edge, 0]] == mark or state.marks[state.ends[edge, 1]] == mark:
            found += 1
        edge = state.following[edge]
    return found if smaller == state.left[node] else state.across[above] - found


@njit(cache=True)
def round_gain(gain):  # type: ignore[no-untyped-def]
    """A gain, or 0 where it is nothing but rounding."""
    return 0.0 if abs(gain) < TIE else gain


@njit(cache=True)
def find_gains(state, node):  # type: ignore[no-untyped-def]
    """Compute what log C_M gains by either swap at a node: {A, B} with C becomes {A, C} with B, or {B, C} with A."""
    above = state.parent[node]
    if state.partial[node] == UNKNOWN:
        state.partial[node] = count_partial(state, node)
    a = np.int64(state.size[state.left[node]])
    b = np.int64(state.size[state.right[node]])
    c = np.int64(state.size[above]) - a - b
    ab = state.across[node]
    ac = state.partial[node]
    bc = state.across[above] - ac
    table = state.entropies
    now = log_term(ab, a * b, table) + log_term(ac + bc, (a + b) * c, table)
    state.gains[node, 0] = round_gain(log_term(ac, a * c, table) + log_term(ab + bc, (a + c) * b, table) - now)
    state.gains[node, 1] = round_gain(log_term(bc, b * c, table) + log_term(ab + ac, (b + c) * a, table) - now)


@njit(cache=True)
def swap(state, node, right_moves):  # type: ignore[no-untyped-def]
    """Exchange a child of a node, whose partial is known, with the node's sibling."""
    above = state.parent[node]
    c = sibling_of(state, node)
    ab = state.across[node]
    ac = state.partial[node]
    bc = state.across[above] - ac
    stays = state.left[node] if right_moves else state.right[node]
    moves = state.right[node] if right_moves else state.left[node]
    deal_edges(state, node, stays)
    if right_moves:
        state.right[node] = c
        state.across[node] = ac
        state.across[above] = ab + bc
        state.partial[node] = ab
    else:
        state.left[node] = c
        state.across[node] = bc
        state.across[above] = ab + ac
        state.partial[node] = ac
    if state.left[above] == c:
        state.left[above] = moves
    else:
        state.right[above] = moves
    state.parent[c] = node
    state.parent[moves] = above
    state.size[node] = state.size[stays] + state.size[c]
    state.gains[node, 0] = np.nan
    for spoilt in (above, stays, moves, c):
        state.partial[spoilt] = UNKNOWN
        state.gains[spoilt, 0] = np.nan


@njit(cache=True)
def deal_edges(state, node, stays):  # type: ignore[no-untyped-def]
    """Bring the lists of edges in order before a swap.

    Edges between the two children of the node cross the node above from now on, edges between the child that stays and the
    sibling cross the node, and edges between the other child and the sibling go on crossing the node above.
    """
    above = state.parent[node]
    edge = state.first[above]
    state.first[above] = state.first[node]
    state.first[node] = NOTHING
    if edge == NOTHING:
        return
    smaller = smaller_child(state, node)
    mark = mark_users(state, smaller)
    while edge != NOTHING:
        after = state.following[edge]
        in_smaller = state.marks[state.ends[edge, 0]] == mark or state.marks[state.ends[edge, 1]] == mark
        crosses = node if in_smaller == (smaller == stays) else above
        state.following[edge] = state.first[crosses]
        state.first[crosses] = edge
        edge = after


@njit(cache=True)
def run_chain(state, steps, temperature, rng):  # type: ignore[no-untyped-def]
    """Metropolis-Hastings: propose one of two swaps at a random node, take it with min(1, exp(gain / temperature)).

    Returns how many swaps were taken.
    """
    n = (state.left.shape[0] + 1) // 2
    taken = 0
    for _ in range(steps):
        draw = int(rng.random() * (2 * (n - 2)))
        node = n + draw // 2
        if np.isnan(state.gains[node, 0]):
            find_gains(state, node)
        gain = state.gains[node, draw % 2]
        if gain < 0.0 and (temperature <= 0.0 or rng.random() >= np.exp(gain / temperature)):
            continue
        swap(state, node, draw % 2 == 0)
        taken += 1
    return taken


@njit(cache=True)
def total_likelihood(state):  # type: ignore[no-untyped-def]
    """log C_M from the kept numbers of edges."""
    n = (state.left.shape[0] + 1) // 2
    total = 0.0
    for node in range(n, 2 * n - 1):
        pairs = np.int64(state.size[state.left[node]]) * state.size[state.right[node]]
        total += log_term(state.across[node], pairs, state.entropies)
    return total
