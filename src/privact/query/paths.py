"""How many steps through contacts a user's nearest users in the tree are away: for experiments that know the contacts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.integer[Any]]


class Steps(NamedTuple):
    """How far the targets of some users are, one entry a user.

    two: how many of the targets are exactly two steps away: contacts of contacts.
    found: how many can be reached at all.
    total: steps to all of those together.
    """

    two: NDArray[np.int64]
    found: NDArray[np.int64]
    total: NDArray[np.int64]


VISITS = 4096
"""Contacts visited around a user before paths are also searched from the other end."""


def steps_to(
    indptr: IntArray, contacts: IntArray, users: IntArray, first: IntArray, targets: IntArray, visits: int = VISITS
) -> Steps:
    """Count the steps from each user to each of their targets.

    indptr, contacts: contacts of user i are contacts[indptr[i]:indptr[i + 1]].
    users: (q) from whom. first, targets: to whom; those of users[i] are targets[first[i]:first[i + 1]], all different, never
        the user.
    visits: see `count_steps`; the result does not depend on it.
    """
    from privact.query._paths import count_steps

    counted = Steps(*(np.zeros(len(users), np.int64) for _ in range(3)))
    count_steps(indptr, contacts, users, first, targets, visits, *counted)
    return counted


def plain_steps(indptr: IntArray, contacts: IntArray, users: IntArray, first: IntArray, targets: IntArray) -> Steps:
    """The same in plain Python, to read and to hold the compiled twin to."""
    lists: tuple[list[int], list[int], list[int]] = ([], [], [])
    for i, user in enumerate(users.tolist()):
        wanted = set(targets[first[i] : first[i + 1]].tolist())
        distance = {user: 0}
        ring = [user]
        while ring:
            around = [int(other) for one in ring for other in contacts[indptr[one] : indptr[one + 1]]]
            steps = distance[ring[0]] + 1
            ring = [other for other in dict.fromkeys(around) if other not in distance]
            distance |= dict.fromkeys(ring, steps)
        reached = [distance[target] for target in wanted if target in distance]
        for values, value in zip(lists, (reached.count(2), len(reached), sum(reached)), strict=True):
            values.append(value)
    return Steps(*(np.array(values, np.int64) for values in lists))
