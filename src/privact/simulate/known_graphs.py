"""Graphs whose best tree is known exactly, to judge searches by.

Dasgupta's cost of a tree, to be maximised, is the sum over pairs x, y of S(x, y) times the number of leaves under their lowest
common ancestor. A third leaf z counts there for two of the three pairs of {x, y, z}: all but the pair that the tree joins first.
So a tree that joins first, in every triple, a pair of least dissimilarity is a best tree. This is how the trees of `cliques`
and `nested_cliques` are known; `path` has its own argument. Other trees may be as good; none is better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.network.graph import ContactGraph

__all__ = ["KnownGraph", "NestedTree", "make_cliques", "make_nested_cliques", "make_path"]

NestedTree: TypeAlias = int | tuple["NestedTree", "NestedTree"]
"""A full binary tree: a leaf number, or a pair of trees."""


@dataclass(frozen=True, eq=False)
class KnownGraph:
    """A small contact graph and a tree that no other tree beats.

    graph: who knows whom.
    tree: one of the trees of greatest Dasgupta cost, leaf i being row i of the graph.
    dissimilarity: (n_users, n_users) the S for which the tree is best; symmetric, zero diagonal.
    bins: the bin of each user whose degree vectors give S = max(1, L1 distance); None where S is not made of degree vectors.
    """

    graph: ContactGraph
    tree: NestedTree
    dissimilarity: NDArray[np.float64]
    bins: NDArray[np.int64] | None

    def __repr__(self) -> str:
        return f"KnownGraph(n_users={self.graph.n_users}, n_edges={self.graph.n_edges})"


def make_cliques(sizes: Sequence[int]) -> KnownGraph:
    """Disjoint cliques.

    S is that of adjacency rows (one bin per user): 2 within a clique, a + b - 2 between cliques of a and b users. In a best
    tree each clique is a cluster, and cliques are joined from the smallest to the largest.

    sizes: users of each clique, at least 2; users are numbered clique by clique.
    """
    if len(sizes) == 0 or any(size != int(size) or size < 2 for size in sizes):
        raise InputError(f"sizes are {tuple(sizes)}: give at least one clique, each a whole number of at least 2 users")
    ends = np.concatenate(([0], np.cumsum(sizes)))
    groups = [range(start, stop) for start, stop in pairwise(ends.tolist())]
    edges = [pair for group in groups for pair in combinations(group, 2)]
    tree = _join([_halve(group) for group in sorted(groups, key=len)])
    return _by_degree_vectors(edges, int(ends[-1]), tree, np.arange(ends[-1]))


def make_nested_cliques(branching: Sequence[int] = (2, 2), size: int = 3, contacts: Sequence[int] | None = None) -> KnownGraph:
    """Cliques in groups in larger groups, the more thinly linked the larger the group.

    S is that of degree vectors with one bin per clique: 1 within a clique (equal vectors), and between cliques it depends only on
    the level at which they part and never rises from coarse to fine: an ultrametric, for which the nesting is a best tree.

    branching: into how many parts the network, then each group, is split, down to cliques; coarsest level first.
    size: users of each clique, at least 2; users are numbered clique by clique.
    contacts: how many contacts each user has in each clique that parts from their own at the coarsest level, ..., at the finest
        level: ascending, below `size`. Half of the next finer number at each level if absent, beginning with half of size - 1.
    """
    if size != int(size) or size < 2:
        raise InputError(f"size is {size}: a clique needs a whole number of at least 2 users")
    if len(branching) == 0 or any(parts != int(parts) or parts < 1 for parts in branching):
        raise InputError(f"branching is {tuple(branching)}: give at least one level, each a whole number of parts of at least 1")
    if contacts is None:
        contacts = [(size - 1) >> (len(branching) - level) for level in range(len(branching))]
    links = [*contacts, size - 1]
    if len(links) != len(branching) + 1 or links[0] < 0 or any(coarse > fine for coarse, fine in pairwise(links)):
        raise InputError(
            f"contacts are {tuple(contacts)}: give {len(branching)} ascending numbers from 0 to {size - 1}, one per level"
        )
    n_cliques = math.prod(branching)
    members = [range(clique * size, (clique + 1) * size) for clique in range(n_cliques)]
    edges = [pair for clique in members for pair in combinations(clique, 2)]
    for one, other in combinations(range(n_cliques), 2):
        reach = links[_find_parting_level(one, other, branching)]
        # Each user is linked to the next `reach` places of the other clique, in a circle: everyone gets the same number.
        edges += [(members[one][place], members[other][(place + step) % size]) for place in range(size) for step in range(reach)]
    clusters = [_halve(clique) for clique in members]
    for parts in reversed(branching):
        clusters = [_join(clusters[start : start + parts]) for start in range(0, len(clusters), parts)]
    return _by_degree_vectors(edges, n_cliques * size, clusters[0], np.repeat(np.arange(n_cliques), size))


def make_path(n_users: int) -> KnownGraph:
    """A chain in which everyone knows the one before and the one after.

    S is 1 between contacts and 2 between others (not made of degree vectors). A cost is then 2 (n^3 - n) / 3 less the sum of
    leaves over contacts, and that sum is least if every cluster is a stretch of the path cut in half, as a cut through a
    stretch of m users costs m, at least one cut is needed, and the least sum is convex in m.

    n_users: at least 2.
    """
    if n_users != int(n_users) or n_users < 2:
        raise InputError(f"n_users is {n_users}: a path needs a whole number of at least 2 users")
    graph = ContactGraph.from_edges(np.array(list(pairwise(range(n_users)))))
    dissimilarity = 2.0 - graph.to_scipy().toarray()
    np.fill_diagonal(dissimilarity, 0.0)
    return KnownGraph(graph, _halve(range(n_users)), dissimilarity, None)


def _by_degree_vectors(edges: list[tuple[int, int]], n_users: int, tree: NestedTree, bins: NDArray[np.int64]) -> KnownGraph:
    graph = ContactGraph.from_edges(np.array(edges, dtype=np.int64).reshape(-1, 2), users=range(n_users))
    vectors = graph.to_scipy() @ np.eye(int(bins.max()) + 1)[bins]
    dissimilarity = np.array([np.maximum(1.0, np.abs(vectors - vector).sum(axis=1)) for vector in vectors])
    np.fill_diagonal(dissimilarity, 0.0)
    return KnownGraph(graph, tree, dissimilarity, bins)


def _find_parting_level(one: int, other: int, branching: Sequence[int]) -> int:
    """The level, coarsest 0, at which two cliques first lie in different parts."""
    below = math.prod(branching)
    for level, parts in enumerate(branching):
        below //= parts
        if one // below != other // below:
            return level
    return len(branching)


def _halve(leaves: range) -> NestedTree:
    """The tree that cuts a stretch of leaves in half, again and again."""
    if len(leaves) == 1:
        return leaves[0]
    middle = len(leaves) // 2
    return (_halve(leaves[:middle]), _halve(leaves[middle:]))


def _join(trees: Sequence[NestedTree]) -> NestedTree:
    """The tree that joins the first two, then the third to them, and so on."""
    return reduce(lambda tree, following: (tree, following), trees)
