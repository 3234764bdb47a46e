"""The compiled twin of `plain_steps`: searches in widening rings around users and, where those grow large, around targets."""

from __future__ import annotations

import numpy as np
from numba import njit

UNKNOWN = -1
"""A search around a target was given up."""

UNREACHABLE = -2
"""No path leads from a target to the user."""


@njit(cache=True, nogil=True)
def count_steps(indptr, contacts, users, first, targets, visits, two, found, steps):  # type: ignore[no-untyped-def]
    """How many of each user's targets are two steps away, how many can be reached, and how many steps that takes in all.

    indptr, contacts: the graph. users: (q) whose targets they are; those of user i are targets[first[i]:first[i + 1]].
    visits: contacts visited around a user before their targets are searched from; doubled while targets are missing. The last
    rings hold nearly everybody, so meeting half way visits far fewer contacts than one search does.
    two, found, steps: (q) results.
    """
    n_users = indptr.shape[0] - 1
    seen = np.full(n_users, -1, np.int32)
    wanted = np.full(n_users, -1, np.int32)
    queue = np.empty(n_users, np.int32)
    passed = np.full(n_users, -1, np.int64)
    back_queue = np.empty(n_users, np.int32)
    searches = 0
    for i in range(users.shape[0]):
        missing = first[i + 1] - first[i]
        for t in range(first[i], first[i + 1]):
            wanted[targets[t]] = i
        queue[0] = users[i]
        seen[users[i]] = i
        at, end, distance = 0, 1, 0
        two[i] = found[i] = steps[i] = 0
        budget, spent = visits, 0
        while missing > 0 and at < end:
            ring_end = end
            distance += 1
            while at < ring_end:
                user = queue[at]
                at += 1
                spent += indptr[user + 1] - indptr[user]
                for entry in range(indptr[user], indptr[user + 1]):
                    other = contacts[entry]
                    if seen[other] != i:
                        seen[other] = i
                        queue[end] = other
                        end += 1
                        if wanted[other] == i:
                            wanted[other] = -1
                            missing -= 1
                            found[i] += 1
                            steps[i] += distance
                            two[i] += distance == 2
            if spent < budget or missing == 0:
                continue
            room = budget // missing + 1
            for t in range(first[i], first[i + 1]):
                if wanted[targets[t]] != i:
                    continue
                back = _search_back(indptr, contacts, targets[t], seen, i, passed, searches, back_queue, room)
                searches += 1
                if back == UNKNOWN:
                    continue
                wanted[targets[t]] = -1
                missing -= 1
                if back != UNREACHABLE:
                    found[i] += 1
                    steps[i] += distance + back
                    two[i] += distance + back == 2
            budget *= 2


@njit(cache=True, nogil=True)
def _search_back(indptr, contacts, target, seen, mark, passed, search, queue, visits):  # type: ignore[no-untyped-def]
    """Steps from a target to the nearest user who is seen, which is one of the outermost ring around the user.

    seen: `mark` where a user is seen. passed, queue: working memory; search: a number that none of `passed` has yet.
    visits: after so many contacts the search is given up.
    """
    queue[0] = target
    passed[target] = search
    at, end, distance, spent = 0, 1, 0, 0
    while at < end:
        ring_end = end
        distance += 1
        while at < ring_end:
            user = queue[at]
            at += 1
            spent += indptr[user + 1] - indptr[user]
            if spent > visits:
                return UNKNOWN
            for entry in range(indptr[user], indptr[user + 1]):
                other = contacts[entry]
                if seen[other] == mark:
                    return distance
                if passed[other] != search:
                    passed[other] = search
                    queue[end] = other
                    end += 1
    return UNREACHABLE
