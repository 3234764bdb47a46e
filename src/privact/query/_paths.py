"""The compiled twin of `plain_steps`: searches in widening rings around some users, each ended when its targets are found."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_steps(indptr, contacts, users, first, targets, two, found, steps):  # type: ignore[no-untyped-def]
    """How many of each user's targets are two steps away, how many can be reached, and how many steps that takes in all.

    indptr, contacts: the graph. users: (q) whose targets they are; those of user i are targets[first[i]:first[i + 1]].
    two, found, steps: (q) results.
    """
    n_users = indptr.shape[0] - 1
    seen = np.full(n_users, -1, np.int32)
    wanted = np.full(n_users, -1, np.int32)
    queue = np.empty(n_users, np.int32)
    for i in range(users.shape[0]):
        missing = first[i + 1] - first[i]
        for t in range(first[i], first[i + 1]):
            wanted[targets[t]] = i
        queue[0] = users[i]
        seen[users[i]] = i
        at, end, ring_end, distance = 0, 1, 1, 0
        two[i] = found[i] = steps[i] = 0
        while at < end and missing > 0:
            user = queue[at]
            at += 1
            for entry in range(indptr[user], indptr[user + 1]):
                other = contacts[entry]
                if seen[other] != i:
                    seen[other] = i
                    queue[end] = other
                    end += 1
                    if wanted[other] == i:
                        missing -= 1
                        found[i] += 1
                        steps[i] += distance + 1
                        two[i] += distance == 1
            if at == ring_end:
                ring_end = end
                distance += 1
