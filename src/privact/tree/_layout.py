"""Compiled kernels of the canonical drawing; their plain twins are in layout.py."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Int32Array = NDArray[np.int32]


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def walk_down(left: Int32Array, right: Int32Array, root: int) -> Int32Array:
    """Internal nodes reached from the root, parents before children."""
    n_users = len(left) + 1
    reached = np.empty(n_users - 1, np.int32)
    reached[0] = root
    read, written = 0, 1
    while read < written:
        i = reached[read] - n_users
        read += 1
        if left[i] >= n_users:
            reached[written] = left[i]
            written += 1
        if right[i] >= n_users:
            reached[written] = right[i]
            written += 1
    return reached[:written]


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def draw_in_order(left: Int32Array, right: Int32Array, top_down: Int32Array) -> tuple[Int32Array, ...]:
    """The six arrays of `Layout` from children in any numbering."""
    n_users = len(left) + 1
    n_nodes = 2 * n_users - 1
    lower, upper = np.empty(n_users - 1, np.int32), np.empty(n_users - 1, np.int32)
    old_size, smallest = np.ones(n_nodes, np.int32), np.empty(n_nodes, np.int32)
    for leaf in range(n_users):
        smallest[leaf] = leaf
    for k in range(n_users - 2, -1, -1):
        node = top_down[k]
        a, b = left[node - n_users], right[node - n_users]
        if smallest[b] < smallest[a]:
            a, b = b, a
        lower[node - n_users], upper[node - n_users] = a, b
        old_size[node] = old_size[a] + old_size[b]
        smallest[node] = smallest[a]

    new_left, new_right = np.empty(n_users - 1, np.int32), np.empty(n_users - 1, np.int32)
    parent, size, start = np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int32)
    order = np.empty(n_users, np.int32)
    number = smallest  # no longer needed, and as long as what is
    for leaf in range(n_users):
        number[leaf] = leaf
    root = top_down[0]
    number[root] = n_nodes - 1
    parent[n_nodes - 1], size[n_nodes - 1], start[n_nodes - 1] = -1, n_users, 0
    for k in range(n_users - 1):
        node = top_down[k]
        a, b = lower[node - n_users], upper[node - n_users]
        here = number[node]
        # In postorder the internal nodes below the right child come last, just before their parent.
        if b >= n_users:
            number[b] = here - 1
        if a >= n_users:
            number[a] = here - old_size[b]
        new_left[here - n_users], new_right[here - n_users] = number[a], number[b]
        parent[number[a]], parent[number[b]] = here, here
        size[number[a]], size[number[b]] = old_size[a], old_size[b]
        start[number[a]], start[number[b]] = start[here], start[here] + old_size[a]
    for leaf in range(n_users):
        order[start[leaf]] = leaf
    return new_left, new_right, parent, size, order, start
