"""The part of a tree that some of its users span: what a large tree says about a sample that other methods can cluster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privact.tree.hct import HierarchicalClusterTree

__all__ = ["restrict_tree"]


def restrict_tree(tree: HierarchicalClusterTree, leaves: NDArray[np.int64]) -> HierarchicalClusterTree:
    """The tree over some leaves alone, in which each pair parts before the same others; leaf i is leaves[i].

    Between neighbours in the leaf order the node that joins them is the highest of the joins between their places. Those
    nodes, the higher above the lower, are the inner nodes of the small tree.
    """
    by_place = np.argsort(tree.start[leaves], kind="stable")
    places = tree.start[leaves][by_place]
    joins = np.maximum.reduceat(tree.joins[: places[-1]], places[:-1]).tolist()
    m = len(leaves)
    left, right = by_place[:-1].copy(), by_place[1:].copy()
    falling: list[int] = []  # gaps between neighbours whose joins fall
    for gap, join in enumerate(joins):
        below = None
        while falling and joins[falling[-1]] < join:
            below = falling.pop()
        if below is not None:
            left[gap] = m + below
        if falling:
            right[falling[-1]] = m + gap
        falling.append(gap)
    return HierarchicalClusterTree.from_children(left, right)
