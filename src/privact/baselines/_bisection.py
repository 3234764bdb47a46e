"""The compiled twin of bisection.py: one densest cut after the other, over slices of one array of users."""

from __future__ import annotations

import numpy as np
from numba import njit

from privact.learn.search._swaps import dot

TURNS = 2
"""How often the direction of a cut is multiplied by the users' products: turns it towards the leading eigenvector."""


@njit(cache=True)
def bisect(points, weights, constant, least, rng):  # type: ignore[no-untyped-def]
    """The children of each internal node of the tree that cuts every cluster in two, the root last.

    points, weights, constant: of the embedding.
    least: the gain in average dissimilarity below which nobody is moved across a cut.
    rng: draws the random start of each cut.
    """
    n = points.shape[0]
    left = np.empty(n - 1, np.int32)
    right = np.empty(n - 1, np.int32)
    members = np.arange(n)
    own = np.empty(n)
    for x in range(n):
        own[x] = dot(points[x], points[x], weights)
    first = np.empty(n, np.int64)  # a stack of clusters still to cut: members[first:last] is below internal node `node`
    last = np.empty(n, np.int64)
    node = np.empty(n, np.int64)
    first[0], last[0], node[0] = 0, n, n - 2
    top, unused = 1, n - 3
    while top > 0:
        top -= 1
        begin, end, at = first[top], last[top], node[top]
        middle = begin + cut(points, weights, constant, least, own, members[begin:end], rng)
        for side in range(2):
            low, high = (begin, middle) if side == 0 else (middle, end)
            child = members[low]
            if high - low > 1:
                child = n + unused
                first[top], last[top], node[top] = low, high, unused
                top += 1
                unused -= 1
            if side == 0:
                left[at] = child
            else:
                right[at] = child
    return left, right


@njit(cache=True)
def cut(points, weights, constant, least, own, members, rng):  # type: ignore[no-untyped-def]
    """Reorder the members of a cluster so that one side of the best cut found comes first; returns how many that are."""
    m = members.shape[0]
    if m == 2:
        return 1
    total = np.zeros(points.shape[1])
    for k in range(m):
        add(total, points[members[k]], 1.0)
    to_all = np.empty(m)
    for k in range(m):
        to_all[k] = dot(points[members[k]], total, weights)

    direction = np.zeros(points.shape[1])
    far, farthest = most_distant(points, weights, own, members, to_all)
    add(direction, points[far], 1.0)
    add(direction, points[farthest], -1.0)
    score = scores(points, weights, members, direction)
    best = sweep(points, weights, constant, own, members, to_all, score)
    density = improve(points, weights, constant, least, own, members, total, to_all, best)

    for _ in range(TURNS):
        mean = score.sum()
        direction[:] = 0.0
        for k in range(m):
            add(direction, points[members[k]], m * score[k] - mean)
        score = scores(points, weights, members, direction)
    side = sweep(points, weights, constant, own, members, to_all, score)
    found = improve(points, weights, constant, least, own, members, total, to_all, side)
    if found > density:
        best, density = side, found

    side = np.empty(m, np.bool_)
    for k in range(m):
        side[k] = rng.random() < 0.5
    side[0], side[m - 1] = True, False  # nobody on one side would be no cut
    found = improve(points, weights, constant, least, own, members, total, to_all, side)
    if found > density:
        best, density = side, found

    inside, outside = members[best], members[~best]
    members[: inside.shape[0]] = inside
    members[inside.shape[0] :] = outside
    return inside.shape[0]


@njit(cache=True)
def improve(points, weights, constant, least, own, members, total, to_all, side):  # type: ignore[no-untyped-def]
    """Move single users across a cut while the average dissimilarity across rises; returns where it ends.

    side: whether each member is on the first side; changed in place.
    to_all: product of each member with the sum of all members, `total`.
    """
    m = members.shape[0]
    a = 0
    inside = np.zeros(total.shape[0])
    for k in range(m):
        if side[k]:
            a += 1
            add(inside, points[members[k]], 1.0)
    across = 0.0
    moved = True
    while moved:
        moved = False
        across = constant * a * (m - a) - dot(inside, total - inside, weights)  # anew, so that errors do not add up
        for k in range(m):
            after = a - 1 if side[k] else a + 1
            if after == 0 or after == m:
                continue
            x = members[k]
            to_inside = dot(points[x], inside, weights)
            to_outside = to_all[k] - to_inside
            if side[k]:
                gain = constant * (a - 1 - (m - a)) - (to_inside - own[x]) + to_outside
            else:
                gain = constant * (m - a - 1 - a) - (to_outside - own[x]) + to_inside
            if (across + gain) / (after * (m - after)) > across / (a * (m - a)) + least:
                add(inside, points[x], -1.0 if side[k] else 1.0)
                side[k] = not side[k]
                a = after
                across += gain
                moved = True
    return across / (a * (m - a))


@njit(cache=True)
def sweep(points, weights, constant, own, members, to_all, score):  # type: ignore[no-untyped-def]
    """The best of the cuts between users of lower and of higher score."""
    m = members.shape[0]
    order = np.argsort(score, kind="mergesort")
    below = np.zeros(points.shape[1])
    across, best, size = 0.0, -np.inf, 1
    for i in range(m - 1):
        k = order[i]
        x = members[k]
        to_below = dot(points[x], below, weights)
        across += constant * (m - 1 - 2 * i) - (to_all[k] - own[x] - to_below) + to_below
        density = across / ((i + 1) * (m - 1 - i))
        if density > best:
            best, size = density, i + 1
        add(below, points[x], 1.0)
    side = np.zeros(m, np.bool_)
    side[order[:size]] = True
    return side


@njit(cache=True)
def most_distant(points, weights, own, members, to_all):  # type: ignore[no-untyped-def]
    """The user who differs most from everybody, and the user who differs most from that one."""
    far = members[0]
    lowest = np.inf
    for k in range(members.shape[0]):
        if to_all[k] - own[members[k]] < lowest:
            far, lowest = members[k], to_all[k] - own[members[k]]
    farthest = far
    lowest = np.inf
    for k in range(members.shape[0]):
        product = dot(points[members[k]], points[far], weights)
        if members[k] != far and product < lowest:
            farthest, lowest = members[k], product
    return far, farthest


@njit(cache=True)
def scores(points, weights, members, direction):  # type: ignore[no-untyped-def]
    """How far each member lies in a direction."""
    out = np.empty(members.shape[0])
    for k in range(members.shape[0]):
        out[k] = dot(points[members[k]], direction, weights)
    return out


@njit(cache=True)
def add(total, point, times):  # type: ignore[no-untyped-def]
    """total += times * point."""
    for t in range(total.shape[0]):
        total[t] += times * point[t]
