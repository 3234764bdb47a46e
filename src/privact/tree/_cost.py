"""Loops over the internal nodes of a tree, for cost.py; compiled where NumPy has no word for them."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def add_products(running, first, middle, last, weight, out):  # type: ignore[no-untyped-def]
    """out[node] += weight * (sum over its left users) * (sum over its right users), from running sums in leaf order."""
    for node in range(first.shape[0]):
        split = running[middle[node]]
        out[node] += weight * (split - running[first[node]]) * (running[last[node]] - split)


@njit(cache=True, nogil=True)
def add_pairs(places, weight, highest, pairs):  # type: ignore[no-untyped-def]
    """pairs[node] += weight * (how many pairs of a set of users part at that internal node).

    places: places of the users in leaf order, rising.
    highest: range maxima of the nodes that join neighbouring places; the highest node between two places joins both.

    The node that joins neighbours i and i+1 of the set parts those back to the last higher join from those up to the next
    higher one, so one pass with a stack of falling joins finds them all.
    """
    count = places.shape[0]
    n = pairs.shape[0] + 1
    join = np.empty(count, np.int64)
    reach = np.empty(count, np.int64)  # how many users lie left of a gap, back to the last higher join
    stack = np.empty(count, np.int64)
    top = 0
    for gap in range(count - 1):
        join[gap] = maximum(highest, places[gap], places[gap + 1])
        while top > 0 and join[stack[top - 1]] < join[gap]:
            top -= 1
            closed = stack[top]
            pairs[join[closed] - n] += weight * reach[closed] * (gap - closed)
        reach[gap] = gap - (stack[top - 1] if top > 0 else -1)
        stack[top] = gap
        top += 1
    while top > 0:
        top -= 1
        closed = stack[top]
        pairs[join[closed] - n] += weight * reach[closed] * (count - 1 - closed)


@njit(cache=True, nogil=True)
def add_group_pairs(places, bounds, highest, pairs):  # type: ignore[no-untyped-def]
    """As add_pairs for each group of users, places[bounds[i]:bounds[i + 1]]."""
    for i in range(bounds.shape[0] - 1):
        if bounds[i + 1] - bounds[i] > 1:
            add_pairs(places[bounds[i] : bounds[i + 1]], 1.0, highest, pairs)


def range_maxima(values: NDArray[np.int64]) -> NDArray[np.int32]:
    """Row j holds the maximum of each run of 2^j values; whole rows at a time, so there is nothing to compile."""
    n = len(values)
    table = np.empty((max(n.bit_length(), 1), n), np.int32)
    table[0] = values
    for j in range(1, len(table)):
        half, runs = 1 << (j - 1), n - (1 << j) + 1
        np.maximum(table[j - 1, :runs], table[j - 1, half : half + runs], out=table[j, :runs])
    return table


@njit(cache=True, nogil=True)
def maximum(table, first, last):  # type: ignore[no-untyped-def]
    """The maximum of values[first:last]."""
    row = 0
    while (1 << (row + 1)) <= last - first:
        row += 1
    return max(table[row, first], table[row, last - (1 << row)])
