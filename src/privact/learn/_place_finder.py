"""Compiled: newcomers walk down a part of a tree, each from where the walk through the part above has ended."""

from __future__ import annotations

import numpy as np
from numba import njit

from privact.learn.search._regrafts import go_nearer, toward, walk_down


@njit(cache=True)
def begin_walks(state, points, walks):  # type: ignore[no-untyped-def]
    """Let every newcomer stand at the root: (q, 3) w, above and best of a walk; see walk_down."""
    root = state.left.shape[0] - 1
    for i in range(points.shape[0]):
        w = toward(state, state.weights * points[i], 1.0, root)
        walks[i, 0], walks[i, 1], walks[i, 2] = w, 0.0, (state.size[root] + 1.0) * w


@njit(cache=True)
def go_on(state, points, walks):  # type: ignore[no-untyped-def]
    """Walk every newcomer from the root of a state to one of its leaves; returns that leaf, and the best place found here.

    walks: (q, 3) as begin_walks has them, changed to where the walks end. The best place is -1 where none here is better.
    """
    root = state.left.shape[0] - 1
    ends, places = np.empty(len(points), np.int64), np.empty(len(points), np.int64)
    for i in range(points.shape[0]):
        w, above, best = walks[i]
        scaled = state.weights * points[i]
        end, w, above, place, best = walk_down(state, scaled, 1.0, root, w, above, best, -1, state.left.shape[0])
        walks[i, 0], walks[i, 1], walks[i, 2] = w, above, best
        ends[i], places[i] = end, place
    return ends, places


@njit(cache=True)
def go_all_nearer(state, points, nodes, most):  # type: ignore[no-untyped-def]
    """go_nearer for every newcomer, from its own node."""
    out = np.empty(len(nodes), np.int64)
    for i in range(len(nodes)):
        out[i] = go_nearer(state, state.weights * points[i], nodes[i], most)
    return out
