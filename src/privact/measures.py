"""How good a tree is on a network that is known: measures that take what `PrivaCT.fit` takes, and scorers for model selection.

For research: whoever can call these holds the contacts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError
from privact.estimator import PrivaCT
from privact.network.graph import ContactGraph
from privact.network.graph_inputs import GraphInput, as_graph
from privact.query.link_prediction import find_community_sizes
from privact.query.quality import measure_contact_share
from privact.tree import cost
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

__all__ = [
    "WholeGraph",
    "align_contacts",
    "dasgupta_cost",
    "score_negative_loss",
    "score_share_of_contacts",
    "share_of_contacts",
]


def dasgupta_cost(
    tree: HierarchicalClusterTree,
    graph: GraphInput = None,
    *,
    vectors: Embedding | ArrayLike | None = None,
    dissimilarity: ArrayLike | None = None,
    similarity: ArrayLike | None = None,
    clip: bool = True,
) -> float:
    """Dasgupta's cost of a tree, exact: of a graph, where good trees keep it low, or of dissimilarities, where it is high.

    graph: anything that `PrivaCT.fit` takes. The cost is the sum, over all contacts, of the number of users in the smallest
        cluster that holds both: Dasgupta's original, for which contacts are similarities of 1.
    vectors: instead, (n, K) degree vectors, whose dissimilarity is max(1, L1 distance), or an `Embedding`. This is the cost
        that the search maximises.
    dissimilarity, similarity: instead, a symmetric matrix.
    clip: whether identical whole-number vectors count 1, as in the paper, or 0.

    >>> from privact import HierarchicalClusterTree, dasgupta_cost
    >>> dasgupta_cost(HierarchicalClusterTree.from_nested((("ann", "bob"), "eve")), [("ann", "bob"), ("bob", "eve")])
    5.0
    """
    _require_tree(tree)
    if isinstance(graph, Embedding):
        graph, vectors = None, graph
    if graph is None:
        return cost.dasgupta_cost(tree, vectors, dissimilarity=dissimilarity, similarity=similarity, clip=clip)
    if any(other is not None for other in (vectors, dissimilarity, similarity)):
        raise InputError("a graph and something else were given: give exactly one of graph, vectors, dissimilarity, similarity")
    edges = align_contacts(tree, as_graph(graph)).edges()
    return float(find_community_sizes(tree, edges[:, 0], edges[:, 1]).sum())


def share_of_contacts(tree: HierarchicalClusterTree, graph: GraphInput) -> float:
    """The share of true contacts among each user's nearest users, as many as the user has contacts; mean over users.

    A random tree has about the mean number of contacts divided by the number of users. graph: what `PrivaCT.fit` takes.
    """
    _require_tree(tree)
    return measure_contact_share(tree, align_contacts(tree, as_graph(graph)).to_scipy())


def score_share_of_contacts(estimator: PrivaCT, X: GraphInput, y: Any = None) -> float:
    """`share_of_contacts` of a fitted model, as a scorer for `GridSearchCV(scoring=...)`; higher is better."""
    return share_of_contacts(estimator.tree_, X)


def score_negative_loss(estimator: PrivaCT, X: GraphInput, y: Any = None) -> float:
    """Minus the share of Dasgupta's cost that noise takes from a fitted model, as a scorer; 0 is no loss.

    Both costs are of the exact counts in the model's own bins: that of its tree, and that of the tree which the same settings
    learn without noise.
    """
    from privact.simulate.reports import degree_vectors

    graph = align_contacts(estimator.tree_, as_graph(X))
    settings = estimator.get_params() | {"epsilon": None, "bins": estimator.bins_, "n_bins": estimator.n_bins_, "random_state": 0}
    exact = degree_vectors(graph, estimator.bins_, estimator.n_bins_)
    best = cost.dasgupta_cost(PrivaCT(**settings).fit(graph).tree_, exact)
    return cost.dasgupta_cost(estimator.tree_, exact) / best - 1.0


class WholeGraph:
    """One split that trains and scores on everybody, for `GridSearchCV(cv=WholeGraph())`.

    Leaving users out of a graph changes the graph, so folds of users measure another network. Scores say how well the tree
    knows the contacts that the reports were made from.
    """

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Everybody, twice."""
        everybody = np.arange(X.shape[0] if hasattr(X, "shape") else len(X))
        yield everybody, everybody

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """One."""
        return 1


def _require_tree(tree: object) -> None:
    if not isinstance(tree, HierarchicalClusterTree):
        way_out = "model.tree_" if hasattr(tree, "fit") else "a tree, then the graph"
        raise InputError(
            f"{type(tree).__name__} is no tree: give {way_out}; HierarchicalClusterTree.from_linkage makes one of SciPy's linkage"
        )


def align_contacts(tree: HierarchicalClusterTree, graph: ContactGraph) -> ContactGraph:
    """The graph with rows in the order of the tree's leaves; users of one who are not in the other are refused."""
    if tree.users is None:
        if graph.n_users != tree.n_users:
            raise InputError(f"the graph has {graph.n_users} users but the tree {tree.n_users}: give the graph it is from")
        return graph
    names = tree.users.names()
    if graph.names == tuple(names):
        return graph
    leaf_of = {name: leaf for leaf, name in enumerate(names)}
    odd = next((user for user in graph.users if str(user) not in leaf_of), None)
    if odd is not None:
        raise InputError(f"user {odd!r} of the graph is not in the tree of {tree.n_users} users: give the graph it is from")
    leaves = np.array([leaf_of[name] for name in graph.names], np.int64)
    return ContactGraph.from_rows(leaves[graph.edges()], users=list(tree.users))
