"""The hierarchical random graph: a tree with a probability at each node, from which whole graphs can be drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.baselines.likelihood import edge_counts, lowest_common_nodes, pair_counts
from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["HierarchicalRandomGraph", "as_pairs"]


@dataclass(frozen=True, eq=False)
class HierarchicalRandomGraph:
    """A law of graphs: two users are linked, independently, with the probability of the lowest node that holds both.

    tree: the users and their clusters.
    probabilities: (n-1) pi of internal node n+i, from 0 to 1.
    """

    tree: HierarchicalClusterTree
    probabilities: NDArray[np.float64]

    def __post_init__(self) -> None:
        pi = self.probabilities
        if pi.shape != (self.tree.n_users - 1,):
            raise InputError(f"probabilities have shape {pi.shape}: give one for each of {self.tree.n_users - 1} internal nodes")
        if not ((pi >= 0.0) & (pi <= 1.0)).all():
            wrong = pi[~((pi >= 0.0) & (pi <= 1.0))][0]
            raise InputError(f"probability {wrong} of a node is outside 0 to 1")

    @classmethod
    def fit(cls, tree: HierarchicalClusterTree, graph: ContactGraph) -> HierarchicalRandomGraph:
        """The most likely probabilities on a tree: E / LR, the share of linked pairs across each node."""
        return cls(tree, edge_counts(tree, graph) / pair_counts(tree))

    @property
    def expected_edges(self) -> float:
        """How many edges a drawn graph has on average."""
        return float(self.probabilities @ pair_counts(self.tree))

    def link_probabilities(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """(q) how likely each pair of users is linked.

        pairs: (q, 2) leaf numbers of different users.
        """
        rows = as_pairs(pairs, self.tree.n_users)
        return self.probabilities[lowest_common_nodes(self.tree, rows[:, 0], rows[:, 1]) - self.tree.n_users]

    def draw(self, random_state: int | np.random.Generator | None = None) -> ContactGraph:
        """A graph from this law, in time proportional to users and drawn edges; row i is leaf i.

        random_state: seed or generator.
        """
        from privact.baselines._random_graph import draw_edges

        left, right, _, size, order, start = self.tree.layout
        edges = draw_edges(left, right, size, order, start, self.probabilities, np.random.default_rng(random_state))
        users = self.tree.users
        return ContactGraph.from_edges(edges, users=range(self.tree.n_users) if users is None else list(users))


def as_pairs(pairs: ArrayLike, n_users: int) -> NDArray[np.int64]:
    """(q, 2) leaf numbers of different users, or one clear error."""
    rows = np.asarray(pairs)
    if rows.size == 0:
        return np.empty((0, 2), np.int64)
    if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
        raise InputError(f"pairs have shape {rows.shape} and type {rows.dtype}: give a (q, 2) array of leaf numbers")
    if rows.min() < 0 or rows.max() >= n_users:
        wrong = rows.min() if rows.min() < 0 else rows.max()
        raise InputError(f"pairs name leaf {wrong}, outside 0 to {n_users - 1}")
    same = rows[:, 0] == rows[:, 1]
    if same.any():
        raise InputError(f"pair {int(np.argmax(same))} is leaf {rows[np.argmax(same), 0]} with itself: pairs are of two users")
    return rows.astype(np.int64)
