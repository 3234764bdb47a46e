"""Community rates: how likely a user is to have an item, from every community around the user, from closest to everybody.

A small hierarchical model. Walk down the tree from the root to a user's leaf. The rate of an item among everybody is its
popularity. The rate in a community is the share of its n rated members who have the item, shrunk towards the rate in the
community around it, of N rated members:

    rate = a * share + (1 - a) * rate around,   a = n / (n + strength / log(N / n))

That is the posterior mean if, from one community to the next inside it, rates move by a variance proportional to log(N / n):
what a walk of many small steps down a lopsided tree adds up to does not depend on how many steps it was cut into.

A rate is linear in the ratings: the rate of an item is the sum over users of a weight, times whether they have the item. These
weights depend only on the smallest community that two users share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privact.tree.ancestry import path_up
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["STRENGTH", "community_path", "community_weights"]

STRENGTH = 3000.0
"""How strongly a community is held to the one around it, in users; infinity makes every rate the popularity."""


def community_weights(
    tree: HierarchicalClusterTree, leaves: NDArray[np.int64], rated: NDArray[np.bool_], strength: float = STRENGTH
) -> NDArray[np.float64]:
    """(q, n) how much each user's ratings count for some users: rows sum to 1; nobody counts for oneself.

    leaves: (q) leaves of the users to serve.
    rated: (n) who has ratings; others have weight 0. If nobody else has, so has everyone.
    strength: see STRENGTH.
    """
    weights = np.zeros((len(leaves), tree.n_users))
    in_order = rated[tree.order]
    before = np.append(0, np.cumsum(in_order))
    for line, leaf in zip(weights, leaves.tolist(), strict=True):
        nodes, members = community_path(tree, leaf, before, bool(rated[leaf]))
        if not len(nodes):
            continue
        each = _shares(members, strength) / members
        # Communities are nested slices of the leaf order: add each where it begins and take it away where it ends.
        steps = np.zeros(tree.n_users + 1)
        np.add.at(steps, tree.start[nodes], each)
        np.subtract.at(steps, tree.start[nodes] + tree.size[nodes], each)
        line[tree.order] = np.where(in_order, np.cumsum(steps[:-1]), 0.0)
        line[leaf] = 0.0
    return np.maximum(weights, 0.0, out=weights)  # a sum of differences may end a hair below 0


def community_path(
    tree: HierarchicalClusterTree, leaf: int, before: NDArray[np.int64], itself_rated: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The communities around a leaf that differ in rated members, smallest first, and how many others in each have ratings.

    before: (n + 1) how many of the first places of the leaf order have ratings.
    itself_rated: whether the leaf has ratings, which do not count for itself.
    """
    nodes = path_up(tree, leaf, tree.n_users).astype(np.int64)
    start = tree.start[nodes].astype(np.int64)
    members = before[start + tree.size[nodes]] - before[start] - int(itself_rated)
    grown = np.append(members[:1], np.diff(members)) > 0
    return nodes[grown], members[grown].astype(np.float64)


def _shares(members: NDArray[np.float64], strength: float) -> NDArray[np.float64]:
    """How much the own share of each community counts in the rate at the smallest; they sum to 1."""
    shrink = np.ones(len(members))
    shrink[:-1] = members[:-1] / (members[:-1] + strength / np.log(members[1:] / members[:-1]))
    return np.asarray(shrink * np.append(1.0, np.cumprod(1.0 - shrink[:-1])))
