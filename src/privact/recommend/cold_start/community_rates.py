"""Community rates: how likely a user is to have an item, from every community around the user, from the closest to the root.

A small hierarchical model. Walk down the tree from the root to a user's leaf. The rate of an item at the root is its
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

from privact.tree.ancestry import climb_path
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["STRENGTH", "list_community_path", "rate_plainly", "weigh_communities"]

STRENGTH = 3000.0
"""How strongly a community is held to the one around it, in users; infinity makes every rate the popularity."""


def weigh_communities(
    tree: HierarchicalClusterTree, leaves: NDArray[np.int64], rated: NDArray[np.bool_], strength: float = STRENGTH
) -> NDArray[np.float64]:
    """(q, n) weight of each user's ratings for some users: rows sum to 1; a user's own weight is 0.

    leaves: (q) leaves of the users to serve.
    rated: (n) whether a user has ratings; others have weight 0. All weights are 0 if no other user has ratings.
    strength: see STRENGTH.
    """
    from privact.recommend.cold_start._community_rates import fill_weights

    weights = np.zeros((len(leaves), tree.n_users))
    before = np.append(0, np.cumsum(rated[tree.order]))
    layout = tree.parent, tree.start, tree.size, tree.order
    fill_weights(np.asarray(leaves, np.int64), *layout, before, np.asarray(rated), float(strength), weights)
    return weights


def list_community_path(
    tree: HierarchicalClusterTree, leaf: int, before: NDArray[np.int64], itself_rated: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The communities around a leaf that differ in rated members, smallest first, and how many others in each have ratings.

    before: (n + 1) how many of the first places of the leaf order have ratings.
    itself_rated: whether the leaf has ratings, which do not count for itself.
    """
    nodes = climb_path(tree, leaf, tree.n_users).astype(np.int64)
    start = tree.start[nodes].astype(np.int64)
    members = before[start + tree.size[nodes]] - before[start] - int(itself_rated)
    grown = np.append(members[:1], np.diff(members)) > 0
    return nodes[grown], members[grown].astype(np.float64)


def rate_plainly(
    tree: HierarchicalClusterTree, leaf: int, has: NDArray[np.bool_], rated: NDArray[np.bool_], strength: float
) -> float:
    """The rate of one item for one leaf by definition, from the root down: the plain twin of the weights.

    has: (n) whether a user has the item. Returns NaN if no other user has ratings.
    """
    rate, around = np.nan, 0
    for community in reversed(tree.communities(leaf)):
        others = [other for other in community.leaves.tolist() if rated[other] and other != leaf]
        if not others or len(others) == around:
            continue
        share = float(np.mean(has[others]))
        trust = 1.0 if not around else len(others) / (len(others) + strength / np.log(around / len(others)))
        rate = share if not around else trust * share + (1.0 - trust) * rate
        around = len(others)
    return rate
