"""New leaves in an existing tree: what late joiners need."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError
from privact.tree.arrays import TreeArrays


def graft_leaves(
    tree: TreeArrays, siblings: ArrayLike, users: Sequence[Hashable] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Hashable] | None]:
    """The left and right children and the ids of the tree with new leaves; see `HierarchicalClusterTree.with_leaves`."""
    beside = np.asarray(siblings)
    n_old, n_new = tree.n_users, len(beside) if beside.ndim else 0
    if beside.ndim != 1 or (n_new and beside.dtype.kind not in "iu"):
        raise InputError(f"siblings must be a flat array of node numbers, not {beside.dtype} of shape {beside.shape}")
    outside = (beside < 0) | (beside >= tree.n_nodes)
    if outside.any():
        raise InputError(f"node {beside[np.argmax(outside)]} is not in this tree: its nodes are 0 to {tree.n_nodes - 1}")
    if (users is not None) != (tree.users is not None):
        raise InputError("new users need ids exactly when the tree has ids" + (": pass users" if users is None else ""))
    if users is not None and len(users) != n_new:
        raise InputError(f"{len(users)} user ids for {n_new} new leaves: pass one each")
    everyone = None if tree.users is None or users is None else [*tree.users, *users]

    beside = beside.astype(np.int64)
    graft = np.arange(n_new, dtype=np.int64) + tree.n_nodes + n_new  # the new internal nodes come after the old
    # Of several grafts beside one node each stands on the one before; the last takes the node's place.
    by_node = np.argsort(beside, kind="stable")
    again = np.concatenate(([False], np.diff(beside[by_node]) == 0))[:n_new]
    below = _shift(beside, n_old, n_new)
    below[by_node[again]] = graft[by_node[np.flatnonzero(again) - 1]]
    top = _shift(np.arange(tree.n_nodes), n_old, n_new)
    last = ~np.append(again[1:], False)[:n_new]
    top[beside[by_node[last]]] = graft[by_node[last]]

    left = np.concatenate((top[tree.left], below))
    right = np.concatenate((top[tree.right], np.arange(n_old, n_old + n_new)))
    return left, right, everyone


def _shift(nodes: NDArray[np.int64], n_old: int, n_new: int) -> NDArray[np.int64]:
    """Old node numbers after making room for new leaves behind the old leaves."""
    return np.where(nodes < n_old, nodes, nodes + n_new)
