"""The compiled twin of swaps.py: local swaps, chains and climbs over flat arrays.

Additions inside a dot product may be reordered by the compiler. Embeddings keep their points on a binary grid, so that up
to thousands of users every sum is exact and the order cannot matter; beyond that the last bits may depend on the
processor's vector width. No other fast-math.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class SearchState(NamedTuple):
    """A tree under search, and every number that a local swap needs.

    Leaves are 0..n-1, internal nodes n..2n-2, the root 2n-2; arrays indexed by node have 2n-1 rows.

    left, right: children of a node, -1 at a leaf.
    parent: the node above, -1 at the root.
    size: number of users below a node.
    sums: sum of the points of the users below a node.
    across: W between the two children of a node.
    partial: W between a node's left child and the node's sibling; NaN while unknown.
    weights, constant: of the embedding.
    rounding: how far rounding may put W off, for each pair of users across; a smaller gain is no gain.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    parent: NDArray[np.int32]
    size: NDArray[np.int32]
    sums: NDArray[np.float64]
    across: NDArray[np.float64]
    partial: NDArray[np.float64]
    weights: NDArray[np.float64]
    constant: float
    rounding: float


@njit(cache=True, fastmath={"reassoc"})
def dot(a, b, weights):  # type: ignore[no-untyped-def]
    """Weighted dot product, in whatever order of additions is fastest."""
    total = 0.0
    for t in range(weights.shape[0]):
        total += weights[t] * a[t] * b[t]
    return total


@njit(cache=True, inline="always")
def between(state, a, b):  # type: ignore[no-untyped-def]
    """W(A, B): the sum of dissimilarities across two clusters."""
    pairs = float(state.size[a]) * float(state.size[b])
    return state.constant * pairs - dot(state.sums[a], state.sums[b], state.weights)


@njit(cache=True)
def random_children(n, rng):  # type: ignore[no-untyped-def]
    """The children of each internal node of a random tree: two clusters drawn at random are joined until one is left."""
    left = np.empty(n - 1, np.int32)
    right = np.empty(n - 1, np.int32)
    roots = np.empty(n, np.int32)
    for i in range(n):
        roots[i] = i
    for i in range(n - 1):
        last = n - 1 - i
        a = int(rng.random() * (last + 1))
        left[i] = roots[a]
        roots[a] = roots[last]
        b = int(rng.random() * last)
        right[i] = roots[b]
        roots[b] = n + i
    return left, right


@njit(cache=True, inline="always")
def sibling_of(state, node):  # type: ignore[no-untyped-def]
    """The other child of the node above."""
    above = state.parent[node]
    return state.right[above] if state.left[above] == node else state.left[above]


@njit(cache=True, inline="always")
def upward(left, right, root):  # type: ignore[no-untyped-def]
    """Internal nodes so that children come before parents, without recursion."""
    n_internal = (left.shape[0] - 1) // 2
    n = n_internal + 1
    found = np.empty(n_internal, np.int32)
    stack = np.empty(n_internal + 1, np.int32)
    top = 0
    stack[0] = root
    top = 1
    at = n_internal
    while top > 0:
        top -= 1
        node = stack[top]
        at -= 1
        found[at] = node
        if left[node] >= n:
            stack[top] = left[node]
            top += 1
        if right[node] >= n:
            stack[top] = right[node]
            top += 1
    return found


@njit(cache=True)
def fill(state):  # type: ignore[no-untyped-def]
    """Parents, sizes, sums and W of every node from the children and the leaves' points; returns the cost."""
    n = (state.left.shape[0] + 1) // 2
    cost = 0.0
    state.parent[2 * n - 2] = -1
    for node in upward(state.left, state.right, 2 * n - 2):
        a = state.left[node]
        b = state.right[node]
        state.parent[a] = node
        state.parent[b] = node
        state.size[node] = state.size[a] + state.size[b]
        pa = state.sums[a]
        pb = state.sums[b]
        out = state.sums[node]
        for t in range(out.shape[0]):
            out[t] = pa[t] + pb[t]
        state.across[node] = between(state, a, b)
        state.partial[node] = np.nan
        cost += state.size[node] * state.across[node]
    return cost


@njit(cache=True)
def total_cost(state):  # type: ignore[no-untyped-def]
    """Dasgupta's cost from the kept W: sum over nodes of size times W."""
    n = (state.left.shape[0] + 1) // 2
    cost = 0.0
    for node in range(n, 2 * n - 1):
        cost += state.size[node] * state.across[node]
    return cost


@njit(cache=True, inline="always")
def gains(state, node):  # type: ignore[no-untyped-def]
    """What the cost gains if the right child, or the left child, of a node changes places with the node's sibling."""
    above = state.parent[node]
    sibling = sibling_of(state, node)
    a = state.left[node]
    b = state.right[node]
    w_ac = state.partial[node]
    if np.isnan(w_ac):
        w_ac = between(state, a, sibling)
        state.partial[node] = w_ac
    w_bc = state.across[above] - w_ac
    kept = state.size[sibling] * state.across[node]
    return kept - state.size[b] * w_ac, kept - state.size[a] * w_bc


@njit(cache=True)
def swap(state, node, right_moves):  # type: ignore[no-untyped-def]
    """Exchange a child of a node with the node's sibling. Three fresh dot products, so no error builds up."""
    above = state.parent[node]
    c = sibling_of(state, node)
    if right_moves:
        stays = state.left[node]
        moves = state.right[node]
        state.right[node] = c
    else:
        stays = state.right[node]
        moves = state.left[node]
        state.left[node] = c
    if state.left[above] == c:
        state.left[above] = moves
    else:
        state.right[above] = moves
    state.parent[c] = node
    state.parent[moves] = above
    state.size[node] = state.size[stays] + state.size[c]
    ps = state.sums[stays]
    pc = state.sums[c]
    out = state.sums[node]
    for t in range(out.shape[0]):
        out[t] = ps[t] + pc[t]
    state.across[node] = between(state, stays, c)
    w_stays = between(state, stays, moves)
    w_c = between(state, c, moves)
    state.across[above] = w_stays + w_c
    state.partial[node] = w_stays if right_moves else w_c
    state.partial[above] = np.nan
    state.partial[stays] = np.nan
    state.partial[moves] = np.nan
    state.partial[c] = np.nan


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
        right_gain, left_gain = gains(state, node)
        right_moves = draw % 2 == 0
        gain = right_gain if right_moves else left_gain
        if gain < 0.0 and (temperature <= 0.0 or rng.random() >= np.exp(gain / temperature)):
            continue
        swap(state, node, right_moves)
        taken += 1
    return taken


@njit(cache=True, inline="always")
def keeps_floor(state, node, floor):  # type: ignore[no-untyped-def]
    """Whether both clusters that a swap changes still split at or above the balance floor: if the right child moves, if the left.

    floor: by size, see balance.py.
    """
    a, b, c = state.size[state.left[node]], state.size[state.right[node]], state.size[sibling_of(state, node)]
    whole = floor[a + b + c]
    right_moves = min(a, c) >= floor[a + c] and min(b, a + c) >= whole
    left_moves = min(b, c) >= floor[b + c] and min(a, b + c) >= whole
    return right_moves, left_moves


@njit(cache=True)
def climb(state, waiting, limit, floor=None):  # type: ignore[no-untyped-def]
    """Take gaining swaps until none is left near the waiting nodes; returns the number taken, and whether none is left.

    waiting: nodes to look at first. limit: the most swaps to take. floor: by the size of a cluster, how many users the smaller
    side of its split keeps; None for no floor. When all internal nodes wait and the list runs empty, the tree is a local optimum,
    because a swap changes the gains of only five nodes and each of those is looked at again.
    """
    n = (state.left.shape[0] + 1) // 2
    root = 2 * n - 2
    listed = np.zeros(2 * n - 1, np.bool_)
    queue = np.empty(n, np.int32)  # a ring: each node is listed at most once
    head = 0
    length = 0
    for node in waiting:
        if node >= n and node != root and not listed[node]:
            queue[(head + length) % n] = node
            length += 1
            listed[node] = True
    taken = 0
    while length > 0:
        node = queue[head]
        head = (head + 1) % n
        length -= 1
        listed[node] = False
        right_gain, left_gain = gains(state, node)
        if floor is not None:
            right_moves, left_moves = keeps_floor(state, node, floor)
            right_gain = right_gain if right_moves else -np.inf
            left_gain = left_gain if left_moves else -np.inf
        above = state.parent[node]
        triples = float(state.size[state.left[node]]) * state.size[state.right[node]] * state.size[sibling_of(state, node)]
        if not max(right_gain, left_gain) > state.rounding * triples:  # also where numbers overflowed to NaN
            continue
        if taken >= limit:
            return taken, False
        c = sibling_of(state, node)
        swap(state, node, right_gain >= left_gain)
        taken += 1
        for other in (node, above, state.left[node], state.right[node], sibling_of(state, node), c):
            if other >= n and other != root and not listed[other]:
                queue[(head + length) % n] = other
                length += 1
                listed[other] = True
    return taken, True
