"""How good the neighbourhoods of a tree are: how many of a user's nearest users are true contacts.

For experiments that know the contacts: nothing here may be computed where contacts are private. A number means little alone, so
it belongs beside two controls: `random_tree`, and a tree that was learned from the number of contacts alone (one bin).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["contact_shares", "random_tree", "share_of_contacts"]


def share_of_contacts(tree: HierarchicalClusterTree, adjacency: Any) -> float:
    """The share of true contacts among a user's m nearest users, m the user's degree; mean over users who have contacts.

    tree: the tree to judge.
    adjacency: symmetric SciPy sparse matrix, row i for leaf i; two users are contacts where it has an entry.
    """
    shares = contact_shares(tree, adjacency)
    if np.isnan(shares).all():
        raise InputError("the graph has no contacts, so no share of them can be found: give a graph with at least one")
    return float(np.nanmean(shares))


def contact_shares(tree: HierarchicalClusterTree, adjacency: Any) -> NDArray[np.float64]:
    """(n) the same for each user by leaf, NaN where a user has no contacts.

    The nearest users are those of `tree.nearest`, in its order: where the last ring is larger than needed, its first users in
    leaf order count. The work is one step up or one look-up per contact, whatever the size of the tree.
    """
    indptr, contacts = _rows(tree, adjacency)
    degree = np.diff(indptr)
    inner, ring_start, ring_taken = _reach(tree, degree)

    owner = np.repeat(np.arange(tree.n_users), degree)
    place = tree.start[contacts].astype(np.int64)
    inside = place - tree.start[inner][owner]
    in_ring = place - ring_start[owner]
    found = ((inside >= 0) & (inside < tree.size[inner][owner])) | ((in_ring >= 0) & (in_ring < ring_taken[owner]))
    hits = np.bincount(owner[found], minlength=tree.n_users)
    shares = np.full(tree.n_users, np.nan)
    np.divide(hits, degree, out=shares, where=degree > 0)
    return shares


def random_tree(n_users: int, rng: np.random.Generator, users: Sequence[str] | None = None) -> HierarchicalClusterTree:
    """A tree that knows nothing: two clusters drawn at random are joined until one is left.

    n_users: how many users.
    rng: decides everything.
    users: their ids.
    """
    from privact.tree._kernels import random_children

    left, right = random_children(n_users, rng)
    return HierarchicalClusterTree.from_children(left, right, users)


def _reach(
    tree: HierarchicalClusterTree, degree: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """What the `degree` nearest users of each leaf are: all of one node, and the first few of the ring around it.

    Returns for each leaf the largest node around it that is not too large, where in the leaf order the ring begins that its
    sibling is, and how many of the ring are taken.
    """
    inner = np.arange(tree.n_users)
    climbing = np.flatnonzero(degree > 0)
    while len(climbing):  # at most as often as the largest degree: every step adds at least one user
        above = tree.parent[inner[climbing]]
        fits = tree.size[above] <= degree[climbing] + 1
        climbing, above = climbing[fits], above[fits]
        inner[climbing] = above
        climbing = climbing[above != tree.root]
    outer = np.where(inner == tree.root, inner, tree.parent[inner])
    before = tree.start[inner] != tree.start[outer]  # the sibling lies before the node, not after it
    ring_start = np.where(before, tree.start[outer], tree.start[inner] + tree.size[inner]).astype(np.int64)
    return inner, ring_start, np.maximum(degree + 1 - tree.size[inner], 0)


def _rows(tree: HierarchicalClusterTree, adjacency: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Row pointers and column numbers of the adjacency without its diagonal, checked to fit the tree."""
    if tuple(adjacency.shape) != (tree.n_users, tree.n_users):
        raise InputError(
            f"the adjacency has shape {tuple(adjacency.shape)} but the tree {tree.n_users} users: give one row a leaf"
        )
    entries = adjacency.tocoo()
    apart = (entries.row != entries.col) & (entries.data != 0)
    rows, columns = entries.row[apart], entries.col[apart]
    order = np.argsort(rows, kind="stable")
    indptr = np.zeros(tree.n_users + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=tree.n_users), out=indptr[1:])
    return indptr, columns[order]
