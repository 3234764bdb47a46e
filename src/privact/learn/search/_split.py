"""The compiled twin of split.py: split clusters from the top down, every split at or above the balance floor.

Directions are rounded to a binary grid, as points are, so that scores are exact sums and users have the same order on every
machine.

Compilation is most of the first fit. So loops stand where slices would be assigned, which costs numba a second, functions
that only kernels call have no wrapper for Python, and those called in one place are inlined there before types are inferred.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from privact.learn.search._stable_order import sort_by_score

CANDIDATES = 256
"""An order of more users is cut on trial at about this many places, then at all places near the best of them."""

STEPS = 6
"""How often users are ordered again along the direction that the last cut gives."""

POWER = 3
"""Steps of the power iteration towards the first principal component."""

SAMPLE = 512
"""The first principal component of a large cluster is sought on evenly spaced users, at least this many."""

TRIED = 2
"""How often users are ordered along a second direction before it is given up, unless that is better than the first."""

FINE = 2.0**20
"""Directions are multiples of 1 / FINE of their largest number."""


@njit(cache=True, no_cpython_wrapper=True, fastmath={"reassoc"})
def score_of(point, direction):  # type: ignore[no-untyped-def]
    """The score of a user: how far its point lies along a direction."""
    total = 0.0
    for t in range(direction.shape[0]):
        total += point[t] * direction[t]
    return total


@njit(cache=True, no_cpython_wrapper=True)
def round_direction(direction):  # type: ignore[no-untyped-def]
    """Scale a direction to numbers up to 1 and round them, so that scores are exact."""
    most = 0.0
    for number in direction:
        most = max(most, abs(number))
    if most > 0.0 and np.isfinite(most):
        for t in range(direction.shape[0]):
            direction[t] = np.rint(direction[t] / most * FINE) / FINE
    else:
        for t in range(direction.shape[0]):
            direction[t] = 0.0


@njit(cache=True, no_cpython_wrapper=True, fastmath={"reassoc"})
def _products(first, whole, weights):  # type: ignore[no-untyped-def]
    """Weighted products of a sum of points with itself and with the sum of all."""
    square = 0.0
    cross = 0.0
    for t in range(weights.shape[0]):
        scaled = weights[t] * first[t]
        square += scaled * first[t]
        cross += scaled * whole[t]
    return square, cross


@njit(cache=True)
def best_cut(points, weights, constant, own, users, total, least, outlook, first, before):  # type: ignore[no-untyped-def]
    """The best place to cut users in a given order: its value and how many come before it; 0 where none is allowed.

    own: of each user, the weighted square of its point. total: the sum of the users' points. least: users on each side.
    outlook: see `split_value`. first: working memory. before: becomes the sum of the points before the cut.
    Of equal cuts the most even one is taken.
    """
    k = users.shape[0]
    owned = 0.0
    lowest = np.inf
    for x in users:
        owned += own[x]
        lowest = min(lowest, constant - own[x])
    base = constant - lowest  # a constant changes no comparison; without it users with the same points do not differ
    whole, _ = _products(total, total, weights)
    everything = 0.5 * (base * k * (k - 1.0) - (whole - owned))
    scale = abs(base) * k * k * k + k * abs(whole)
    same = 1e-12 * (scale if outlook >= 0.0 else abs(whole) + owned)
    step = max(1, k // CANDIDATES)
    best = -np.inf
    where = 0
    begin, end, mine = 0, k - least, 0.0
    for t in range(first.shape[0]):
        first[t] = 0.0
    for close in range(2 if step > 1 else 1):  # every step-th place, then all places near the best of them
        following = begin + 1 if close else least
        skipped = 1 if close else step
        around = mine
        for i in range(begin, end):
            x = users[i]
            around += own[x]
            for t in range(first.shape[0]):
                first[t] += points[x, t]
            a = i + 1
            if a < least or (a < following and a < k - least):
                continue
            following = a + skipped
            b = k - a
            square, cross = _products(first, total, weights)
            rest = whole - 2.0 * cross + square
            if outlook < 0.0:
                found = square / a + rest / b
            else:
                inside = 0.5 * (base * a * (a - 1.0) - (square - around))
                outside = 0.5 * (base * b * (b - 1.0) - (rest - (owned - around)))
                found = k * (everything - inside - outside) + outlook * ((a + 1.0) * inside + (b + 1.0) * outside)
            if where == 0 or found > best + same or (found >= best - same and min(a, b) > min(where, k - where)):
                best = found
                where = a
                mine = around
                for t in range(first.shape[0]):
                    before[t] = first[t]
        if close == 0 and step > 1:  # go back to so many places before the best one
            begin, end = max(0, where - step), min(k - least, where + step)
            for t in range(first.shape[0]):
                first[t] = before[t]
            for i in range(begin, where):
                mine -= own[users[i]]
                for t in range(first.shape[0]):
                    first[t] -= points[users[i], t]
    return best, where


@njit(cache=True, no_cpython_wrapper=True)
def turn_direction(weights, k, cut, before, total, outlook, direction):  # type: ignore[no-untyped-def]
    """Turn a direction to where users gain most by being behind the cut rather than before it, given who is where now.

    k: users. cut: how many are before the cut. before, total: sums of the points before the cut, and of all.
    """
    if outlook < 0.0:
        losing, gaining = 1.0 / cut, 1.0 / (k - cut)
    else:
        losing, gaining = k - outlook * (cut + 1.0), k - outlook * (k - cut + 1.0)
    for t in range(direction.shape[0]):
        direction[t] = weights[t] * (gaining * (total[t] - before[t]) - losing * before[t])
    round_direction(direction)


@njit(cache=True, no_cpython_wrapper=True)
def find_principal(points, weights, own, users, total, k, direction, room):  # type: ignore[no-untyped-def]
    """Find a direction near the first principal component of some users, starting at the one who is farthest from the mean.

    total, k: the sum of the points of all users, and how many they are.
    """
    for t in range(direction.shape[0]):
        direction[t] = weights[t] * total[t]
    farthest = users[0]
    most = -np.inf
    for x in users:
        distance = own[x] - 2.0 * score_of(points[x], direction) / k
        if distance > most:
            most = distance
            farthest = x
    for t in range(direction.shape[0]):
        direction[t] = weights[t] * (points[farthest, t] - total[t] / k)
    round_direction(direction)
    for _ in range(POWER):
        mean = score_of(total, direction) / k
        for t in range(room.shape[0]):
            room[t] = 0.0
        for x in users:
            score = score_of(points[x], direction) - mean
            for t in range(room.shape[0]):
                room[t] += score * points[x, t]
        for t in range(room.shape[0]):
            direction[t] = weights[t] * room[t]
        round_direction(direction)


@njit(cache=True, inline="always")
def split_cluster(  # type: ignore[no-untyped-def]
    points, weights, constant, own, users, least, outlook, best_direction, total, direction, room, before
):
    """Put a cluster's users in the order of its best split; returns how many come first and the highest score among them.

    users: reordered in place. best_direction: becomes the direction of the scores. total, direction, room,
        before: working memory.
    """
    k = users.shape[0]
    for t in range(total.shape[0]):
        total[t] = 0.0
    given = np.empty(k, np.int64)
    for i in range(k):
        x = users[i]
        given[i] = x
        for t in range(total.shape[0]):
            total[t] += points[x, t]
    score = np.empty(k)
    score_room = np.empty(k)
    ordered = np.empty(k, np.int64)
    user_room = np.empty(k, np.int64)
    best = -np.inf
    where = 0
    parting = 0.0
    starts = 2 if outlook >= 0.0 else 1
    for start in range(starts):
        if start < starts - 1:  # users who differ most come first
            for t in range(direction.shape[0]):
                direction[t] = weights[t] * total[t]
            round_direction(direction)
        else:
            find_principal(points, weights, own, given[:: max(1, k // SAMPLE)], total, k, direction, room)
        last = -np.inf
        for step in range(STEPS):
            for i in range(k):
                ordered[i] = given[i]
                score[i] = score_of(points[given[i]], direction)
            sort_by_score(score, ordered, score_room, user_room)
            found, cut = best_cut(points, weights, constant, own, ordered, total, least, outlook, room, before)
            # of equally good splits that of the principal component: users may all score the same along the first direction
            if where == 0 or found > best or (start > 0 and found >= best - 1e-12 * abs(best)):
                best = found
                where = cut
                for i in range(k):
                    users[i] = ordered[i]
                for t in range(direction.shape[0]):
                    best_direction[t] = direction[t]
                parting = score[cut - 1]
            if (step > 0 and not found > last) or (start > 0 and step >= TRIED - 1 and found < best):
                break
            last = found
            turn_direction(weights, k, cut, before, total, outlook, direction)
    return where, parting


@njit(cache=True)
def split_all(points, weights, constant, floor, outlook, stop, directions, partings):  # type: ignore[no-untyped-def]
    """Split all users from the top down; returns the children of each internal node, children before parents, the root last.

    floor, outlook: by the size of a cluster. stop: clusters of at most this many users are halved in their order.
    directions, partings: where there are rows, row i becomes the direction and the score that split node n + i.
    """
    n = points.shape[0]
    width = weights.shape[0]
    own = np.empty(n)
    order = np.empty(n, np.int64)
    for x in range(n):
        order[x] = x
        own[x] = 0.0
        for t in range(width):
            own[x] += weights[t] * points[x, t] * points[x, t]
    left = np.empty(n - 1, np.int32)
    right = np.empty(n - 1, np.int32)
    begin = np.empty(n, np.int64)
    end = np.empty(n, np.int64)
    name = np.empty(n, np.int64)
    begin[0], end[0], name[0] = 0, n, n - 2
    waiting = 1
    unused = n - 3
    total = np.empty(width)
    direction = np.empty(width)
    best_direction = np.empty(width)
    room = np.empty(width)
    before = np.empty(width)
    while waiting > 0:
        waiting -= 1
        a, b, node = begin[waiting], end[waiting], name[waiting]
        k = b - a
        if k <= max(2, stop):
            cut = k // 2
        else:
            cut, parting = split_cluster(
                points, weights, constant, own, order[a:b], floor[k], outlook[k], best_direction, total, direction, room, before
            )
            if directions.shape[0] > 0:
                for t in range(width):
                    directions[node, t] = best_direction[t]
                partings[node] = parting
        for side in range(2):
            p, q = (a, a + cut) if side == 0 else (a + cut, b)
            if q - p == 1:
                child = order[p]
            else:
                child = n + unused
                begin[waiting], end[waiting], name[waiting] = p, q, unused
                waiting += 1
                unused -= 1
            if side == 0:
                left[node] = child
            else:
                right[node] = child
    return left, right
