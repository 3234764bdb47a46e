"""Compiled loops of random_graph_model.py and link_prediction.py."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def draw_edges(left, right, size, order, start, probabilities, rng):  # type: ignore[no-untyped-def]
    """Link each pair of users with the probability of the node that parts them; returns the linked pairs.

    The pairs across a node are numbered, and the gap from one linked pair to the next has a geometric law: only linked
    pairs are visited.
    """
    n = order.shape[0]
    edges = np.empty((2 * n + 16, 2), np.int64)
    count = 0
    for i in range(n - 1):
        if not probabilities[i] > 0.0:
            continue
        rights = np.int64(size[right[i]])
        pairs = size[left[i]] * rights
        log_unlinked = np.log1p(-probabilities[i])  # -inf at probability 1, where every gap is 0
        first = start[n + i]
        middle = start[right[i]]
        pair = np.int64(0)
        while True:
            gap = np.log(1.0 - rng.random()) / log_unlinked
            if gap >= pairs - pair:
                break
            pair += np.int64(gap)
            if count == edges.shape[0]:
                larger = np.empty((2 * count, 2), np.int64)
                larger[:count] = edges
                edges = larger
            edges[count, 0] = order[first + pair // rights]
            edges[count, 1] = order[middle + pair % rights]
            count += 1
            pair += 1
    return edges[:count]


@njit(cache=True)
def add_row(order, place, joins, probabilities, scores):  # type: ignore[no-untyped-def]
    """Add to the score of every other user the probability of the lowest node shared with the user at a place.

    Going away from the place in leaf order, that node is the highest join passed so far.
    """
    n = order.shape[0]
    highest = 0
    for other in range(place + 1, n):
        highest = max(highest, joins[other - 1])
        scores[order[other]] += probabilities[highest - n]
    highest = 0
    for other in range(place - 1, -1, -1):
        highest = max(highest, joins[other])
        scores[order[other]] += probabilities[highest - n]
