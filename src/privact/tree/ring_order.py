"""The order in which users who are equally near are listed: the larger cluster first.

The leaf order of the drawing puts the cluster of the smallest leaf first, so it follows the file that users were read from.
Here the larger of two sides comes first, and only equal sides keep the order of the drawing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from privact.tree.layout import Int32Array, Layout

__all__ = ["RingOrder", "order_by_size"]


class RingOrder(NamedTuple):
    """Another drawing of a tree, in which the larger child is on the left.

    order: (n) the leaves from left to right. start: (2n-1) where each node's leaves begin in `order`.
    """

    order: Int32Array
    start: Int32Array


def order_by_size(tree: Layout) -> RingOrder:
    """Draw a tree with the larger child of each node on the left, in O(n) whatever the depth.

    A node begins where its parent begins, plus the size of the sibling if that comes first; so it begins at the sum of such sizes
    over itself and all nodes above it. In postorder the internal nodes below and including v are the size[v] - 1 up to v, so each
    internal node adds its number to one stretch of internal nodes.
    """
    n = len(tree.order)
    if n == 1:
        return RingOrder(tree.order, tree.start)
    swapped = tree.size[tree.right] > tree.size[tree.left]
    first, second = np.where(swapped, tree.right, tree.left), np.where(swapped, tree.left, tree.right)
    before = np.zeros(2 * n - 1, np.int64)
    before[second] = tree.size[first]
    inner = np.arange(n - 1)
    steps = np.zeros(n, np.int64)
    np.add.at(steps, inner - tree.size[n:] + 2, before[n:])
    steps[1:] -= before[n:]
    begins = np.cumsum(steps[:-1])
    start = np.concatenate((before[:n] + begins[tree.parent[:n] - n], begins)).astype(np.int32)
    order = np.empty(n, np.int32)
    order[start[:n]] = np.arange(n, dtype=np.int32)
    return RingOrder(order, start)
