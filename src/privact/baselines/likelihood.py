"""log C_M: how likely a hierarchical random graph on a given tree is to be the given contact graph.

In that model (Clauset, Moore, Newman 2008; section 3.1 of the paper) two users know each other with the probability pi of
the lowest node that holds both. At the best pi, the share E / LR of linked pairs across each node, the likelihood is

    log C_M = sum over nodes of  E log pi + (LR - E) log(1 - pi),        0 log 0 = 0,

never above 0; higher is better.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["edge_counts", "log_likelihood", "lowest_common_nodes", "pair_counts", "require_same_users"]


def log_likelihood(tree: HierarchicalClusterTree, graph: ContactGraph) -> float:
    """log C_M of a tree given the whole graph, in time O(n log n + edges).

    tree: any tree over the users of the graph, leaf i being row i.
    """
    edges, pairs = edge_counts(tree, graph), pair_counts(tree)
    mixed = (edges > 0) & (edges < pairs)  # where all or none are linked, the likelihood is 1
    linked, unlinked = edges[mixed], (pairs - edges)[mixed]
    share = linked / pairs[mixed]
    return float(np.sum(linked * np.log(share) + unlinked * np.log1p(-share)))


def edge_counts(tree: HierarchicalClusterTree, graph: ContactGraph) -> NDArray[np.int64]:
    """(n-1) E of each internal node: how many edges lead from its left users to its right users."""
    require_same_users(tree, graph)
    ends = graph.edges()
    meets = lowest_common_nodes(tree, ends[:, 0], ends[:, 1])
    return np.bincount(meets - tree.n_users, minlength=tree.n_users - 1).astype(np.int64, copy=False)


def pair_counts(tree: HierarchicalClusterTree) -> NDArray[np.int64]:
    """(n-1) LR of each internal node: how many pairs of users it parts."""
    return np.asarray(tree.size[tree.left].astype(np.int64) * tree.size[tree.right])


def lowest_common_nodes(
    tree: HierarchicalClusterTree, first: NDArray[np.integer], second: NDArray[np.integer]
) -> NDArray[np.int64]:
    """The smallest node that holds both users of each pair of different leaves.

    It is the highest of the nodes that join neighbours between the two places in leaf order, so two overlapping runs from
    a table of maxima give it.
    """
    from privact.tree._cost import range_maxima

    places = np.sort(np.column_stack((tree.start[first], tree.start[second])), axis=1)
    if len(places) == 0:
        return np.empty(0, np.int64)
    table = range_maxima(np.asarray(tree.joins, dtype=np.int64))
    row = np.frexp(places[:, 1] - places[:, 0])[1] - 1  # the longest run of 2^row joins that fits between the places
    highest = np.maximum(table[row, places[:, 0]], table[row, places[:, 1] - (1 << row)])
    return np.asarray(highest, dtype=np.int64)


def require_same_users(tree: HierarchicalClusterTree, graph: ContactGraph) -> None:
    """Refuse a tree whose leaves are not the rows of the graph."""
    if tree.n_users != graph.n_users:
        raise InputError(f"the tree has {tree.n_users} users but the graph {graph.n_users}: give a tree over the graph's users")
    if tree.users is not None and tree.users != graph.users:
        leaf = next(i for i, (a, b) in enumerate(zip(tree.users, graph.users, strict=True)) if a != b)
        raise InputError(
            f"leaf {leaf} is user {tree.users[leaf]!r} but row {leaf} of the graph is {graph.users[leaf]!r}: "
            "give both the same users in the same order"
        )
