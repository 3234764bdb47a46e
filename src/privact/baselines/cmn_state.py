"""From a contact graph and a tree to the arrays that the chain of CMN works on, and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privact.baselines._cmn import NOTHING, UNKNOWN, ChainState
from privact.baselines.likelihood import lowest_common_nodes, require_same_users
from privact.learn.search._swaps import random_children
from privact.network.graph import ContactGraph
from privact.tree.hct import HierarchicalClusterTree

TABLE = 2**16
"""Up to this many pairs of users across a node, logarithms come from a table. Trees under log C_M have few nodes with more."""


def state_of(graph: ContactGraph, tree: HierarchicalClusterTree) -> ChainState:
    """The chain's state at a given tree."""
    require_same_users(tree, graph)
    n = graph.n_users
    nodes = 2 * n - 1
    ends = graph.edges()
    first, following, across = _crossing_lists(lowest_common_nodes(tree, ends[:, 0], ends[:, 1]), nodes)
    leaves = np.full(n, -1, np.int32)
    return ChainState(
        left=np.concatenate((leaves, tree.left)),
        right=np.concatenate((leaves, tree.right)),
        parent=tree.parent.copy(),
        size=tree.size.copy(),
        across=across,
        partial=np.full(nodes, UNKNOWN, np.int64),
        gains=np.full((nodes, 2), np.nan),
        ends=ends.astype(np.int32),
        first=first,
        following=following,
        marks=np.zeros(n, np.int64),
        clock=np.zeros(1, np.int64),
        waiting=np.empty(n, np.int32),
        entropies=_entropies(min(TABLE, n * n // 4 + 1)),
    )


def random_start(graph: ContactGraph, rng: np.random.Generator) -> HierarchicalClusterTree:
    """A tree that knows nothing: two clusters drawn at random are joined until one is left."""
    left, right = random_children(graph.n_users, rng)
    return HierarchicalClusterTree.from_children(left, right, graph.users)


def tree_of(state: ChainState, graph: ContactGraph) -> HierarchicalClusterTree:
    """The tree that a chain has arrived at, with the ids of the graph's users."""
    return HierarchicalClusterTree.from_children(state.left[graph.n_users :], state.right[graph.n_users :], graph.users)


def _crossing_lists(meets: NDArray[np.int64], nodes: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """The first edge of each node's list, the edge after each edge, and the length of each list.

    meets: the node that each edge crosses.
    """
    by_node = np.argsort(meets, kind="stable").astype(np.int32)
    across = np.bincount(meets, minlength=nodes).astype(np.int64, copy=False)
    begin = np.cumsum(across) - across
    first = np.full(nodes, NOTHING, np.int32)
    first[across > 0] = by_node[begin[across > 0]]
    following = np.full(len(meets), NOTHING, np.int32)
    same = meets[by_node[1:]] == meets[by_node[:-1]]
    following[by_node[:-1][same]] = by_node[1:][same]
    return first, following, across


def _entropies(length: int) -> NDArray[np.float64]:
    """k log k for k below a length."""
    k = np.arange(length, dtype=np.float64)
    return np.asarray(k * np.log(np.maximum(k, 1.0)))
