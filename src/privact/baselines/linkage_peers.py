"""Other ways to learn a tree, all called alike: linkages, recursive bisection, our own searches, and chance.

`TREE_LEARNERS` work on users as an embedding or as vectors. Fed with reports they are as private as the reports: all of it is
post-processing. `GRAPH_LEARNERS` work on the contact graph itself: they are NOT private, and show what is lost without it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from privact.baselines._points import points_of
from privact.baselines.bisection import bisection
from privact.errors import InputError, MissingExtraError
from privact.learn.limits import LIMITS, Limits
from privact.learn.search.learn_tree import learn_tree
from privact.learn.search.searches import SEARCHES
from privact.network.graph import ContactGraph
from privact.query.quality import draw_random_tree
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["GRAPH_LEARNERS", "TREE_LEARNERS", "GraphLearner", "TreeLearner", "bisection", "linkage", "louvain", "paris"]

Method = Literal["average", "complete", "single", "ward"]
RandomState = int | np.random.Generator | None


class TreeLearner(Protocol):
    """From users to a tree."""

    def __call__(self, users: Embedding | ArrayLike, random_state: RandomState = None) -> HierarchicalClusterTree:
        """Learn the tree.

        users: an `Embedding`, or (n, K) degree vectors, whose dissimilarity is the L1 distance; at least two users.
        random_state: seed or generator; the same seed gives the same tree. Learners that leave nothing to chance ignore it.
        """


GraphLearner = Callable[..., HierarchicalClusterTree]
"""From a ContactGraph, and an optional random_state, to a tree. Not private."""


def linkage(
    users: Embedding | ArrayLike, random_state: RandomState = None, *, method: Method, limits: Limits = LIMITS
) -> HierarchicalClusterTree:
    """The tree that joins the two nearest clusters again and again, through fastcluster.

    users, random_state: see `TreeLearner`. All pairs of users are kept, so at most 20,000 users are taken.
    method: what is near: the average, the largest (complete) or the smallest (single) dissimilarity of two clusters, or the
        growth of the sum of squares (ward). Ward needs Euclidean distances: it gets the square roots of the dissimilarities,
        which are such. (d = constant - <x, y>, so the points, each made equally long by a coordinate of its own, are
        sqrt(2 d) apart.)
    """
    import fastcluster

    points = points_of(users)
    if len(points) > limits.linkage:
        raise InputError(
            f"{method} linkage keeps all pairs and takes at most {limits.linkage:,} users, not {len(points):,}: "
            "use 'linkage+gentree'"
        )
    condensed = points.condensed()
    if method == "ward":
        np.sqrt(np.maximum(condensed, 0.0, out=condensed), out=condensed)
    merges = fastcluster.linkage(condensed, method=method, preserve_input=False)
    return HierarchicalClusterTree.from_children(merges[:, 0].astype(np.int32), merges[:, 1].astype(np.int32))


def paris(graph: ContactGraph, random_state: RandomState = None) -> HierarchicalClusterTree:
    """The tree of Paris (Bonald et al., 2018), from the contact graph itself: NOT private.

    Paris joins the two clusters with most contacts between them beside their numbers of contacts. It cannot work on reports: it
    needs similarities that are zero for most pairs, and gets the adjacency matrix. Parts without a contact between them are
    joined last.

    graph: who knows whom; at least one contact.
    random_state: ignored, nothing is left to chance.
    """
    return _learn_from_graph(graph, "Paris", reorder=False)


def louvain(graph: ContactGraph, random_state: RandomState = None) -> HierarchicalClusterTree:
    """The tree of Louvain's communities and of those inside and around them, from the contact graph itself: NOT private.

    Communities are joined as Louvain aggregates them. scikit-network's class raises IndexError where Louvain finds one community
    only, so it is for benchmarks and not among `GRAPH_LEARNERS`.

    graph: who knows whom; at least one contact.
    random_state: ignored, users are visited in their order.
    """
    return _learn_from_graph(graph, "LouvainHierarchy")


def _learn_from_graph(graph: ContactGraph, name: str, **options: Any) -> HierarchicalClusterTree:
    """The tree of a hierarchy of scikit-network. name: its class. options: of its constructor."""
    if not isinstance(graph, ContactGraph):
        raise InputError(f"{name} works on a ContactGraph, not on a {type(graph).__name__}: give the graph itself")
    if graph.n_edges == 0:
        raise InputError(f"the graph of {graph.n_users} users has no contacts: give at least one")
    try:
        hierarchy: Any = import_module("sknetwork.hierarchy")
    except ImportError:
        raise MissingExtraError("scikit-network", "graph", name) from None
    from scipy.sparse import csr_matrix

    contacts = np.ones(len(graph.indices))
    rows = graph.indptr.astype(np.int32)  # its kernels take 32-bit indices only
    adjacency = csr_matrix((contacts, graph.indices.copy(), rows), shape=(graph.n_users, graph.n_users))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of its own call to SciPy, where somebody has no contacts
        merges = getattr(hierarchy, name)(**options).fit_predict(adjacency)
    return HierarchicalClusterTree.from_children(merges[:, 0].astype(np.int32), merges[:, 1].astype(np.int32), graph.users)


def _search(
    users: Embedding | ArrayLike, random_state: RandomState = None, *, search: str, balance: float | None = None
) -> HierarchicalClusterTree:
    """The tree of one of our own searches; balance as in `learn_tree`."""
    return learn_tree(points_of(users), search=search, balance=balance, random_state=random_state)


def _draw_tree(users: Embedding | ArrayLike, random_state: RandomState = None) -> HierarchicalClusterTree:
    """A tree that knows only how many users there are."""
    return draw_random_tree(len(points_of(users)), np.random.default_rng(random_state))


TREE_LEARNERS: dict[str, TreeLearner] = {
    **{search: partial(_search, search=search) for search in SEARCHES},
    "linkage+gentree, unrestricted": partial(_search, search="linkage+gentree", balance=0.0),
    "average": partial(linkage, method="average"),
    "complete": partial(linkage, method="complete"),
    "single": partial(linkage, method="single"),
    "ward": partial(linkage, method="ward"),
    "bisection": bisection,
    "random": _draw_tree,
}
"""Every way to learn a tree from vectors, by name; all take (users, random_state=None)."""

GRAPH_LEARNERS: dict[str, GraphLearner] = {"paris": paris}
"""Every way to learn a tree from contacts themselves, by name; all take (graph, random_state=None). Not private."""
