"""From an embedding and a tree's children to the arrays that a search works on, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privact.learn.scale.population import Population
from privact.learn.search._swaps import SearchState, fill, random_children
from privact.learn.search.search import FoundTree
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

ROUNDING = 1e-13
"""Rounding error of a dot product, as a fraction of the sum of its terms' sizes."""


def empty_state(embedding: Embedding) -> SearchState:
    """A state that knows the users' points and has no tree yet."""
    n = len(embedding)
    nodes = 2 * n - 1
    sums = np.empty((nodes, embedding.points.shape[1]))
    sums[:n] = embedding.points
    return SearchState(
        left=np.full(nodes, -1, np.int32),
        right=np.full(nodes, -1, np.int32),
        parent=np.full(nodes, -1, np.int32),
        size=np.ones(nodes, np.int32),
        sums=sums,
        across=np.zeros(nodes),
        partial=np.full(nodes, np.nan),
        weights=np.ascontiguousarray(embedding.weights, dtype=np.float64),
        constant=float(embedding.constant),
        rounding=ROUNDING * float((np.square(embedding.points) @ np.abs(embedding.weights)).max()),
    )


def state_of(embedding: Embedding, left: NDArray[np.int32], right: NDArray[np.int32]) -> SearchState:
    """The state of a given tree.

    left, right: (n-1) children of internal node n+i; the last is the root.
    """
    n = len(embedding)
    state = empty_state(embedding)
    state.left[n:] = left
    state.right[n:] = right
    fill(state)
    return state


def random_state_of(embedding: Embedding, rng: np.random.Generator) -> SearchState:
    """The state of a random tree: two clusters drawn at random are joined until one is left."""
    return state_of(embedding, *random_children(len(embedding), rng))


def tree_of(state: SearchState, users: Sequence[str] | None = None) -> HierarchicalClusterTree:
    """The tree that a search has arrived at."""
    n = (len(state.left) + 1) // 2
    return HierarchicalClusterTree.from_children(state.left[n:], state.right[n:], users)


def found_tree(state: SearchState, costs: list[float]) -> FoundTree:
    """The tree that a search has arrived at, and its cost along the way, as the search returns them."""
    n = (len(state.left) + 1) // 2
    return FoundTree(state.left[n:], state.right[n:], costs)


def hold_points(population: Population) -> Embedding:
    """The points of all users in memory."""
    return population if isinstance(population, Embedding) else population.take(np.arange(len(population)))
