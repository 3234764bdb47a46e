"""How good the neighbourhoods of a tree are: how many of a user's nearest users are true contacts, and how far the others are.

For experiments that know the contacts: nothing here may be computed where contacts are private. A number means little alone, so
it belongs beside two controls: `random_tree`, and a tree that was learned from the number of contacts alone (one bin).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.query.link_prediction import measure_link_auc
from privact.query.paths import steps_to
from privact.tree.hct import HierarchicalClusterTree

__all__ = [
    "TreeQuality",
    "draw_random_tree",
    "find_near_users",
    "measure_contact_share",
    "measure_contact_shares",
    "measure_tree_quality",
]

MOST_SEARCHED = 5_000
"""From how many users at most paths are searched: evenly spaced ones, where there are more."""

LEAST_SEARCHED, SEARCH_WORK = 500, 1_000_000_000
"""Fewer in a large network, where one search may visit every contact: a limit on all visits, and the fewest users."""


@dataclass(frozen=True)
class TreeQuality:
    """What a tree knows about contacts. Near users are a user's m nearest in the tree, m the user's degree.

    share_of_contacts: the share of true contacts among the near users; mean over users who have contacts.
    share_of_two_hop: the share of contacts of contacts among them, who are not contacts themselves.
    mean_path: how many steps through contacts near users are away, those who can be reached; mean over users.
    auc: the chance that two contacts are nearer in the tree than two others, see `link_auc`.
    searched: over how many users the two-hop share and the mean path are means: all, or evenly spaced ones of many.
    """

    share_of_contacts: float
    share_of_two_hop: float
    mean_path: float
    auc: float
    searched: int


def measure_tree_quality(tree: HierarchicalClusterTree, adjacency: Any) -> TreeQuality:
    """Judge a tree by the contacts.

    adjacency: symmetric SciPy sparse matrix, row i for leaf i; two users are contacts where it has an entry.
    """
    share = measure_contact_share(tree, adjacency)
    indptr, contacts = _rows(tree, adjacency)
    with_contacts = np.flatnonzero(np.diff(indptr))
    most = min(MOST_SEARCHED, max(LEAST_SEARCHED, SEARCH_WORK // max(1, len(contacts))))
    users = with_contacts[:: -(-len(with_contacts) // most)]
    first, near = find_near_users(tree, users, np.diff(indptr)[users])
    steps = steps_to(indptr, contacts, users, first, near)
    reached = steps.found > 0
    owner = np.repeat(np.arange(tree.n_users), np.diff(indptr))
    once = owner < contacts
    return TreeQuality(
        share,
        float((steps.two / np.diff(first)).mean()),
        float((steps.total[reached] / steps.found[reached]).mean()) if reached.any() else float("nan"),
        measure_link_auc(tree, owner[once], contacts[once]),
        len(users),
    )


def find_near_users(
    tree: HierarchicalClusterTree, users: NDArray[np.integer[Any]], m: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The nearest users of many leaves at once, as `tree.nearest` gives them but in no order.

    users: (q) leaves. m: (q) how many of each; all others where they are fewer.

    Returns where each user's begin, (q + 1), and all of them one after the other.
    """
    wanted = np.zeros(tree.n_users, np.int64)
    wanted[users] = np.minimum(m, tree.n_users - 1)
    inner, ring_start, ring_taken = (found[users] for found in _reach(tree, wanted))
    inside = tree.size[inner].astype(np.int64)
    count = inside + ring_taken  # one too many: the user
    owner = np.repeat(np.arange(len(users)), count)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    ring = offset >= inside[owner]
    start = tree.ring_order.start
    place = np.where(ring, ring_start[owner] + offset - inside[owner], start[inner][owner] + offset)
    near = tree.ring_order.order[place]
    first = np.append(0, np.cumsum(count - 1))
    return first, near[near != np.asarray(users)[owner]]


def measure_contact_share(tree: HierarchicalClusterTree, adjacency: Any) -> float:
    """The share of true contacts among a user's m nearest users, m the user's degree; mean over users who have contacts.

    tree: the tree to judge.
    adjacency: symmetric SciPy sparse matrix, row i for leaf i; two users are contacts where it has an entry.
    """
    shares = measure_contact_shares(tree, adjacency)
    if np.isnan(shares).all():
        raise InputError("the graph has no contacts, so no share of them can be found: give a graph with at least one")
    return float(np.nanmean(shares))


def measure_contact_shares(tree: HierarchicalClusterTree, adjacency: Any) -> NDArray[np.float64]:
    """(n) the same for each user by leaf, NaN where a user has no contacts.

    The nearest users are those of `tree.nearest`: where the last ring is larger than needed, its first users in the tree's
    `ring_order` count. The work is one step up or one look-up per contact, whatever the size of the tree.
    """
    indptr, contacts = _rows(tree, adjacency)
    degree = np.diff(indptr)
    inner, ring_start, ring_taken = _reach(tree, degree)

    owner = np.repeat(np.arange(tree.n_users), degree)
    start = tree.ring_order.start
    place = start[contacts].astype(np.int64)
    inside = place - start[inner][owner]
    in_ring = place - ring_start[owner]
    found = ((inside >= 0) & (inside < tree.size[inner][owner])) | ((in_ring >= 0) & (in_ring < ring_taken[owner]))
    hits = np.bincount(owner[found], minlength=tree.n_users)
    shares = np.full(tree.n_users, np.nan)
    np.divide(hits, degree, out=shares, where=degree > 0)
    return shares


def draw_random_tree(n_users: int, rng: np.random.Generator, users: Sequence[Hashable] | None = None) -> HierarchicalClusterTree:
    """A tree that knows nothing: two clusters drawn at random are joined until one is left.

    n_users: how many users.
    rng: decides everything.
    users: their ids.
    """
    from privact.learn.search._swaps import random_children

    left, right = random_children(n_users, rng)
    return HierarchicalClusterTree.from_children(left, right, users)


def _reach(
    tree: HierarchicalClusterTree, degree: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """What the `degree` nearest users of each leaf are: all of one node, and the first few of the ring around it.

    Returns for each leaf the largest node around it that is not too large, where in `ring_order` the ring begins that its
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
    start = tree.ring_order.start
    before = start[inner] != start[outer]  # the sibling lies before the node, not after it
    ring_start = np.where(before, start[outer], start[inner] + tree.size[inner]).astype(np.int64)
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
