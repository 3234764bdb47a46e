"""A start for many users: average linkage of a sample, then everybody else joins where they raise the cost most.

The tree doubles in size between two rounds of local swaps, so that it is near a local optimum all the way up. No pair
of users is ever visited: memory is linear in the number of users.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from privact.tree._kernels import SearchState, between, climb
from privact.tree._regraft import insert
from privact.tree.embedding import Embedding
from privact.tree.linkage import average_linkage
from privact.tree.state import empty_state

SAMPLE = 2_000
"""How many users the first tree is learned on."""


def grow(embedding: Embedding, rng: np.random.Generator, progress: Callable[[int], None]) -> SearchState:
    """The state of a tree over all users.

    progress: is told how many users are in the tree.
    """
    n = len(embedding)
    order = rng.permutation(n)
    state = _planted(embedding.take(order), min(SAMPLE, n))
    users = min(SAMPLE, n)
    while users < n:
        joining = min(users, n - users)
        insert(state, users, joining)
        users += joining
        climb(state, np.append(np.arange(n, n + users - 2), 2 * n - 2), 2**62)
        progress(users)
    return _renumbered(state, order)


def _planted(embedding: Embedding, first: int) -> SearchState:
    """A state over all leaves whose tree holds only the first of them; its root is the last node."""
    n = len(embedding)
    state = empty_state(embedding)
    nodes = np.append(np.arange(n, n + first - 2), 2 * n - 2)
    left, right = average_linkage(embedding.take(np.arange(first)))
    for node, a, b in zip(nodes, left, right, strict=True):
        a, b = (int(x) if x < first else int(nodes[x - first]) for x in (a, b))
        state.left[node], state.right[node] = a, b
        state.parent[a] = state.parent[b] = node
        state.size[node] = state.size[a] + state.size[b]
        state.sums[node] = state.sums[a] + state.sums[b]
        state.across[node] = between(state, a, b)
    return state


def _renumbered(state: SearchState, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> SearchState:
    """The same tree with leaf i called order[i]."""
    n = len(order)
    names = np.append(order, np.arange(n, 2 * n - 1)).astype(np.int32)
    state.left[n:] = names[state.left[n:]]
    state.right[n:] = names[state.right[n:]]
    for array in (state.parent, state.partial, state.sums):
        array[order] = array[:n].copy()
    return state
