"""Where newcomers belong in a tree of very many users, with one part of it in memory at a time.

The tree is cut into parts, its largest clusters of at most `Limits.part` users. Above them are the sums of points of whole
parts. A newcomer walks down through the top to a part and through that part to a user; parts that no newcomer comes to are not
looked at. Points lie on a grid, so that sums are exact and the places are those of a walk through the whole tree.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.limits import LIMITS, Limits
from privact.learn.scale.population import Population, split_range
from privact.learn.search._swaps import SearchState, fill
from privact.learn.search.balance import FEW
from privact.learn.search.search_state import empty_state
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["PlaceFinder"]

Nodes = NDArray[np.int64]


class _Piece(NamedTuple):
    """A connected piece of a tree as a state of its own.

    state: its leaves are users or whole parts. nodes: the node of the tree that each node of the state is.
    """

    state: SearchState
    nodes: Nodes

    def find(self, nodes: NDArray[np.integer[Any]]) -> Nodes:
        """The numbers in the state of some nodes of the tree that are in the piece."""
        order = np.argsort(self.nodes)
        return order[np.searchsorted(self.nodes, nodes, sorter=order)]


class PlaceFinder:
    """A learned tree, ready for newcomers.

    tree: its parameter `balance` says whether it was learned under a floor.
    population: its users, by leaf; their points are made a part at a time.
    """

    def __init__(self, tree: HierarchicalClusterTree, population: Population, limits: Limits = LIMITS) -> None:
        self._tree = tree
        self._population = population
        self._together = limits.routed
        self._most = FEW - 1 if tree.parameters.get("balance") else tree.n_users
        self._large = np.flatnonzero(tree.size > limits.part)
        self._parts = np.array([tree.root])
        self._top: _Piece | None = None
        if len(self._large):
            below = np.concatenate([side[self._large - tree.n_users] for side in (tree.left, tree.right)])
            parts = below[tree.size[below] <= limits.part]
            self._parts = parts[np.argsort(tree.start[parts])].astype(np.int64)
            sums = [self._embed(part).points.sum(axis=0, dtype=np.float64) for part in self._parts.tolist()]
            weighed = self._population.take(tree.order[:1])
            self._top = self._cut(self._parts, self._large, replace(weighed, points=np.stack(sums), counts=None))

    def find(self, newcomers: Population) -> Nodes:
        """The node of the tree that each newcomer joins best."""
        blocks = split_range(0, len(newcomers), self._together)
        found = [self._find_some(newcomers.take(np.arange(first, last)).points.astype(np.float64)) for first, last in blocks]
        return np.concatenate([np.empty(0, np.int64), *found])

    def _find_some(self, points: NDArray[np.float64]) -> Nodes:
        from privact.learn._place_finder import begin_walks, go_all_nearer, go_on

        walks, places = np.empty((len(points), 3)), np.full(len(points), self._tree.root, np.int64)
        ends = np.zeros(len(points), np.int64)  # the part that each walk comes to
        if self._top is not None:
            begin_walks(self._top.state, points, walks)
            ends, found = go_on(self._top.state, points, walks)
            places = np.where(found < 0, places, self._top.nodes[found])
        for part in np.unique(ends).tolist():
            some, piece = np.flatnonzero(ends == part), self._open(part)
            if self._top is None:
                begin_walks(piece.state, points, walks)
            _, found = go_on(piece.state, points[some], walks[some])
            places[some] = np.where(found < 0, places[some], piece.nodes[found])
        return self._go_nearer(points, places, go_all_nearer)

    def _go_nearer(self, points: NDArray[np.float64], places: Nodes, go: Any) -> Nodes:
        """From places with too many users down to the nearer side; the best place may be in another part than the walk's end."""
        if self._top is not None:
            some = np.flatnonzero(np.isin(places, self._large) & (self._tree.size[places] > self._most))
            places[some] = self._top.nodes[go(self._top.state, points[some], self._top.find(places[some]), self._most)]
        left = np.flatnonzero(self._tree.size[places] > self._most)
        parts = np.searchsorted(self._tree.start[self._parts], self._tree.start[places[left]], side="right") - 1
        for part in np.unique(parts).tolist():
            some, piece = left[parts == part], self._open(part)
            places[some] = piece.nodes[go(piece.state, points[some], piece.find(places[some]), self._most)]
        return places

    def _open(self, part: int) -> _Piece:
        """A part with the points of its users."""
        tree, node = self._tree, int(self._parts[part])
        first, last = int(tree.start[node]), int(tree.start[node] + tree.size[node])
        inner = tree.n_users + np.flatnonzero((tree.start[tree.n_users :] >= first) & (_ends(tree) <= last))
        inner = np.append(inner[inner != node], node) if last - first > 1 else inner[:0]
        return self._cut(tree.order[first:last].astype(np.int64), inner, self._embed(node))

    def _embed(self, node: int) -> Embedding:
        """The points of the users below a node, in the order of leaves."""
        first = int(self._tree.start[node])
        return self._population.take(self._tree.order[first : first + int(self._tree.size[node])])

    def _cut(self, leaves: Nodes, inner: Nodes, embedding: Embedding) -> _Piece:
        """The piece between some nodes and the node above all of them.

        leaves: nodes of the tree that end the piece. inner: the nodes between, the highest last. embedding: sums of points.
        """
        piece = _Piece(empty_state(embedding), np.concatenate([leaves, inner]))
        state, n = piece.state, self._tree.n_users
        state.size[: len(leaves)] = self._tree.size[leaves]
        if len(inner):
            state.left[len(leaves) :] = piece.find(self._tree.left[inner - n])
            state.right[len(leaves) :] = piece.find(self._tree.right[inner - n])
            fill(state)
        return piece


def _ends(tree: HierarchicalClusterTree) -> Nodes:
    """Where each internal node's users end in the order of leaves."""
    return np.asarray(tree.start[tree.n_users :] + tree.size[tree.n_users :], np.int64)
