"""Compiled: take a subtree out of the tree, find where it raises the cost most, and put it back there.

The value of a place is what the moved users X and everything their presence enlarges add to Dasgupta's cost. For X put
in above node v of the tree without X, with m = |X|,

    value(v) = sum over u strictly above v of  m W(u) + (|u| + m) W(X, the child of u away from v)   +   (|v| + m) W(X, v)

so walking down the tree towards the child with the lower average dissimilarity to X gives the value of every place on
the way for one dot product a level. Ties go down and to the smaller side, so that users who look the same end up in
shallow trees. swaps.py holds the plain definition that tests hold this to.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from privact.learn.search._swaps import between, sibling_of


@njit(cache=True, fastmath={"reassoc"})
def toward(state, scaled, m, b):  # type: ignore[no-untyped-def]
    """W(X, B) for X given by the sum of its points times the weights, and its size."""
    sums = state.sums[b]
    total = 0.0
    for t in range(scaled.shape[0]):
        total += scaled[t] * sums[t]
    return state.constant * m * state.size[b] - total


@njit(cache=True)
def walk_down(state, scaled, m, start, w, above, best, where, levels):  # type: ignore[no-untyped-def]
    """Walk down from `start` towards X; returns where the walk ended with its w and above, then the best place and its value.

    scaled: the sum of X's points times the weights. m: |X|. w: W(X, start).
    above: the part of value(start) that the nodes above it add. best, where: the best so far.
    levels: how far down to go at most.
    """
    n = (state.left.shape[0] + 1) // 2
    v = start
    for _ in range(levels):
        if v < n:
            break
        a = state.left[v]
        b = state.right[v]
        w_a = toward(state, scaled, m, a)
        w_b = w - w_a
        shared = above + m * state.across[v]
        whole = state.size[v] + m
        above_a = shared + whole * w_b
        above_b = shared + whole * w_a
        value_a = above_a + (state.size[a] + m) * w_a
        value_b = above_b + (state.size[b] + m) * w_b
        far_a = w_a * state.size[b]
        far_b = w_b * state.size[a]
        if far_a < far_b or (far_a == far_b and state.size[a] <= state.size[b]):
            if value_b > best:
                best = value_b
                where = b
            if value_a >= best:
                best = value_a
                where = a
            v = a
            w = w_a
            above = above_a
        else:
            if value_a > best:
                best = value_a
                where = a
            if value_b >= best:
                best = value_b
                where = b
            v = b
            w = w_b
            above = above_b
    return v, w, above, where, best


@njit(cache=True)
def descend(state, scaled, m, start, w, above, best, where, levels):  # type: ignore[no-untyped-def]
    """Walk down from `start` towards X; returns the best place on the way and its value. Arguments as for walk_down."""
    _, _, _, where, best = walk_down(state, scaled, m, start, w, above, best, where, levels)
    return where, best


@njit(cache=True)
def best_place(state, x, height, path, off, scaled):  # type: ignore[no-untyped-def]
    """Where X, which is in the tree, would stand best: the place, its value, the value of staying, and the top of the search.

    height: how many levels above X the search may start, and then go down again twice. path, off, scaled: room to work in.
    """
    m = float(state.size[x])
    for t in range(scaled.shape[0]):
        scaled[t] = state.weights[t] * state.sums[x, t]
    levels = 0
    child = x
    u = state.parent[x]
    while u != -1 and levels < height:
        path[levels] = u
        if levels == 0:
            off[0] = state.across[u]
        else:
            off[levels] = toward(state, scaled, m, state.right[u] if state.left[u] == child else state.left[u])
        levels += 1
        child = u
        u = state.parent[u]
    s = sibling_of(state, x)
    here = (state.size[s] + m) * off[0]
    below = off[0]  # W(X, everything under the current path node but X)
    for i in range(1, levels):
        here += m * (state.across[path[i]] - off[i]) + state.size[path[i]] * off[i]
        below += off[i]
    top = path[levels - 1]
    if levels == 1:
        where, best = descend(state, scaled, m, s, off[0], 0.0, here, s, 2 * height)
        return where, best, here, top
    where = top
    best = state.size[top] * below
    above = 0.0
    for i in range(levels - 1, 0, -1):
        u = path[i]
        inside = path[i - 1]
        outside = state.right[u] if state.left[u] == inside else state.left[u]
        w_out = off[i]
        w_in = below - w_out
        size_in = state.size[inside] - m
        if i == 1:
            inside = s  # without X its parent is gone and the sibling stands in the parent's place
            w_in = off[0]
            size_in = float(state.size[s])
        shared = above + m * (state.across[u] - w_out)
        whole = float(state.size[u])
        above_out = shared + whole * w_in
        above_in = shared + whole * w_out
        value_out = above_out + (state.size[outside] + m) * w_out
        value_in = above_in + (size_in + m) * w_in
        if value_out > best:
            best = value_out
            where = outside
        if value_in > best:
            best = value_in
            where = inside
        if w_out * size_in < w_in * state.size[outside]:
            where, best = descend(state, scaled, m, outside, w_out, above_out, best, where, 2 * height)
            return where, best, here, top
        below = w_in
        above = above_in
    where, best = descend(state, scaled, m, s, off[0], above, best, where, 2 * height)
    return where, best, here, top


@njit(cache=True)
def move_contents(state, source, target):  # type: ignore[no-untyped-def]
    """Let node `target` be what node `source` was: its children, size, sums and W."""
    state.left[target] = state.left[source]
    state.right[target] = state.right[source]
    state.parent[state.left[target]] = target
    state.parent[state.right[target]] = target
    state.size[target] = state.size[source]
    for t in range(state.sums.shape[1]):
        state.sums[target, t] = state.sums[source, t]
    state.across[target] = state.across[source]
    state.partial[target] = state.partial[source]


@njit(cache=True)
def detach(state, x, stop):  # type: ignore[no-untyped-def]
    """Take X out; its sibling takes its parent's place. Returns the node number that is free now.

    stop: the node from which on upwards nothing is changed, because X comes back below it; -1 for none.
    """
    root = state.left.shape[0] - 1
    parent = state.parent[x]
    sibling = sibling_of(state, x)
    child = parent
    u = state.parent[parent]
    while u != stop:
        outside = state.right[u] if state.left[u] == child else state.left[u]
        state.across[u] -= between(state, x, outside)
        state.size[u] -= state.size[x]
        for t in range(state.sums.shape[1]):
            state.sums[u, t] -= state.sums[x, t]
        state.partial[u] = np.nan
        state.partial[outside] = np.nan
        child = u
        u = state.parent[u]
    if parent == root:
        move_contents(state, sibling, root)
        return sibling
    above = state.parent[parent]
    if state.left[above] == parent:
        state.left[above] = sibling
    else:
        state.right[above] = sibling
    state.parent[sibling] = above
    state.partial[sibling] = np.nan
    return parent


@njit(cache=True)
def attach(state, x, where, free, stop):  # type: ignore[no-untyped-def]
    """Put X in above node `where`, with `free` as the number of the new node. stop: as for detach."""
    root = state.left.shape[0] - 1
    if where == root:
        move_contents(state, root, free)
        where = free
        join = root
    else:
        join = free
        above = state.parent[where]
        if state.left[above] == where:
            state.left[above] = join
        else:
            state.right[above] = join
        state.parent[join] = above
    state.left[join] = where
    state.right[join] = x
    state.parent[where] = join
    state.parent[x] = join
    state.size[join] = state.size[where] + state.size[x]
    for t in range(state.sums.shape[1]):
        state.sums[join, t] = state.sums[where, t] + state.sums[x, t]
    state.across[join] = between(state, where, x)
    state.partial[join] = np.nan
    state.partial[where] = np.nan
    state.partial[x] = np.nan
    child = join
    u = state.parent[join]
    while u != stop:
        outside = state.right[u] if state.left[u] == child else state.left[u]
        state.across[u] += between(state, x, outside)
        state.size[u] += state.size[x]
        for t in range(state.sums.shape[1]):
            state.sums[u, t] += state.sums[x, t]
        state.partial[u] = np.nan
        state.partial[outside] = np.nan
        child = u
        u = state.parent[u]


@njit(cache=True)
def regraft(state, nodes, height):  # type: ignore[no-untyped-def]
    """Offer each node of a list its best place once; returns how many moved and the cost gained."""
    n = (state.left.shape[0] + 1) // 2
    root = 2 * n - 2
    path = np.empty(min(height, n), np.int32)
    off = np.empty(min(height, n))
    scaled = np.empty_like(state.weights)
    moved = 0
    gained = 0.0
    for x in nodes:
        if x == root or (state.parent[x] == root and sibling_of(state, x) < n):
            continue
        where, best, here, top = best_place(state, x, height, path, off, scaled)
        least = state.rounding * float(state.size[x]) * float(state.size[top]) ** 2
        if best - here <= least or where == sibling_of(state, x):
            continue
        stop = state.parent[top]
        attach(state, x, where, detach(state, x, stop), stop)
        moved += 1
        gained += best - here
    return moved, gained


@njit(cache=True)
def go_nearer(state, scaled, node, most):  # type: ignore[no-untyped-def]
    """From a node down to the nearer side until it has at most `most` users, or is a leaf of the state."""
    n = (state.left.shape[0] + 1) // 2
    while state.size[node] > most and node >= n:
        left, right = state.left[node], state.right[node]
        to_left = toward(state, scaled, 1.0, left) * state.size[right]
        node = left if to_left <= toward(state, scaled, 1.0, right) * state.size[left] else right
    return node


@njit(cache=True)
def best_siblings(state, points, most):  # type: ignore[no-untyped-def]
    """The node that each point would join best, of at most `most` users: from a larger one down to its nearer side."""
    root = state.left.shape[0] - 1
    out = np.empty(points.shape[0], np.int64)
    for i in range(points.shape[0]):
        scaled = state.weights * points[i]
        w = toward(state, scaled, 1.0, root)
        out[i], _ = descend(state, scaled, 1.0, root, w, 0.0, (state.size[root] + 1.0) * w, root, state.left.shape[0])
        out[i] = go_nearer(state, scaled, out[i], most)
    return out
