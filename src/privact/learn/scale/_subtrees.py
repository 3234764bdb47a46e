"""Compiled walks over a tree given by its children, children before parents."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def sizes_of(left, right):  # type: ignore[no-untyped-def]
    """How many users are below each node."""
    n = left.shape[0] + 1
    size = np.ones(2 * n - 1, np.int32)
    for i in range(n - 1):
        size[n + i] = size[left[i]] + size[right[i]]
    return size


@njit(cache=True)
def labels_below(left, right, label, most):  # type: ignore[no-untyped-def]
    """The label of each user: that of the one node on its way up which has a label below `most`.

    label: one per node, -1 for none; nodes above the labelled ones have other labels.
    """
    n = left.shape[0] + 1
    found = label.copy()
    for i in range(n - 2, -1, -1):
        mine = found[n + i]
        if 0 <= mine < most:
            found[left[i]] = mine
            found[right[i]] = mine
    return found[:n]
