"""Trees as SciPy's linkage matrix Z."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError, TreeError
from privact.tree.arrays import TreeArrays


def write_linkage(tree: TreeArrays, heights: ArrayLike | None = None) -> NDArray[np.float64]:
    """SciPy's Z with monotone heights; see `HierarchicalClusterTree.to_linkage`."""
    n_users = tree.n_users
    if heights is None:
        height = tree.size[n_users:].astype(np.float64)
    else:
        height = np.array(heights, np.float64)
        if height.shape != (n_users - 1,) or not np.all(np.isfinite(height)) or np.any(height < 0):
            raise InputError(f"heights must be {n_users - 1} finite numbers of at least 0, one per internal node")
        height = _raise_to_children(tree, height)
    # Stable, so that of equal heights children stay before parents: they have smaller numbers.
    rows = np.argsort(height, kind="stable")
    number = np.arange(tree.n_nodes)
    number[n_users + rows] = np.arange(n_users, tree.n_nodes)
    left, right = number[tree.left[rows]], number[tree.right[rows]]
    columns = np.minimum(left, right), np.maximum(left, right), height[rows], tree.size[n_users + rows]
    return np.column_stack(columns).astype(np.float64, copy=False)


def read_linkage(linkage: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The left and right children in SciPy's Z, of internal nodes in the order of its rows."""
    try:
        matrix = np.asarray(linkage, np.float64)
    except (TypeError, ValueError):
        raise TreeError("a linkage matrix is numbers only") from None
    if matrix.ndim != 2 or matrix.shape[1] != 4:
        raise TreeError(f"a linkage matrix has 4 columns and a row per merge, not shape {matrix.shape}")
    pairs = matrix[:, :2]
    formed = len(matrix) + 1 + np.arange(len(matrix))[:, None]
    wrong = ~((pairs >= 0) & (pairs < formed) & (pairs == np.floor(pairs)))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise TreeError(
            f"row {row} of the linkage joins {pairs[row, column]:g}: clusters known there are 0 to {formed[row, 0] - 1}"
        )
    children = pairs.astype(np.int64)
    return children[:, 0], children[:, 1]


def _raise_to_children(tree: TreeArrays, height: NDArray[np.float64]) -> NDArray[np.float64]:
    """Heights as the running maximum from the leaves up."""
    raised = [0.0] * tree.n_users + height.tolist()
    for node, left, right in zip(range(tree.n_users, tree.n_nodes), tree.left.tolist(), tree.right.tolist(), strict=True):
        raised[node] = max(raised[node], raised[left], raised[right])
    return np.array(raised[tree.n_users :])
