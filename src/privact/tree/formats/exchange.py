"""Trees as other tools write them: nested pairs, JSON, SciPy linkage. None of it recursive."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError, TreeError
from privact.tree.hct import HierarchicalClusterTree
from privact.tree.users import number_leaves

JSON_FORMAT = "privact-hct"
JSON_VERSION = 1


def from_nested(nested: Any, users: Sequence[str] | None = None) -> HierarchicalClusterTree:
    """A tree from pairs of pairs of leaf numbers or ids; see the tree's method."""
    found = [nested]
    pairs: list[tuple[int, int]] = []  # where in `found` the two halves of each pair are
    names: list[str | int] = []
    node_of: list[int] = []  # leaves counted from 0, internal nodes from -1 downwards
    for item in found:  # grows while it is read
        if isinstance(item, (tuple, list)):
            if len(item) != 2:
                raise TreeError(f"a node has {len(item)} children: every node of a full binary tree is a leaf or a pair")
            pairs.append((len(found), len(found) + 1))
            node_of.append(-len(pairs))
            found.extend(item)
        else:
            names.append(int(item) if isinstance(item, np.integer) else item)
            node_of.append(len(names) - 1)
    leaves, ids = number_leaves(names, users)
    drawn = np.array(node_of)
    node = np.where(drawn >= 0, leaves[np.maximum(drawn, 0)], len(names) - 1 - drawn)
    children = node[np.array(pairs, np.int64).reshape(-1, 2)]
    return HierarchicalClusterTree.from_children(children[:, 0], children[:, 1], ids)


def to_json(tree: HierarchicalClusterTree) -> str:
    """One line of flat JSON, so that depth does not matter; see the tree's method."""
    content = {
        "format": JSON_FORMAT,
        "version": JSON_VERSION,
        "parameters": dict(tree.parameters),
        "users": None if tree.users is None else list(tree.users),
        "left": tree.left.tolist(),
        "right": tree.right.tolist(),
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> HierarchicalClusterTree:
    """A tree from `to_json`'s text; internal nodes may be numbered in any way."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TreeError(f"this is not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != JSON_FORMAT:
        raise TreeError(f'this JSON is not a tree: it needs "format": "{JSON_FORMAT}" beside "left" and "right"')
    if content.get("version") != JSON_VERSION:
        raise TreeError(
            f"this JSON is version {content.get('version')!r}; this privact reads version {JSON_VERSION}: update privact"
        )
    users, parameters = content.get("users"), content.get("parameters", {})
    if not isinstance(users, list | None) or not isinstance(parameters, dict):
        raise TreeError('in this JSON "users" must be a list or null, and "parameters" an object')
    for side in ("left", "right"):
        if not isinstance(content.get(side), list):
            raise TreeError(f'this JSON has no list "{side}" with one child per internal node')
    return HierarchicalClusterTree.from_children(content["left"], content["right"], users, parameters)


def to_linkage(tree: HierarchicalClusterTree, heights: ArrayLike | None = None) -> NDArray[np.float64]:
    """SciPy's Z with monotone heights; see the tree's method."""
    n_users = tree.n_users
    if heights is None:
        height = tree.size[n_users:].astype(np.float64)
    else:
        height = np.array(heights, np.float64)
        if height.shape != (n_users - 1,) or not np.all(np.isfinite(height)) or np.any(height < 0):
            raise InputError(f"heights must be {n_users - 1} finite numbers of at least 0, one per internal node")
        height = _raised_to_children(tree, height)
    # Stable, so that of equal heights children stay before parents: they have smaller numbers.
    rows = np.argsort(height, kind="stable")
    number = np.arange(tree.n_nodes)
    number[n_users + rows] = np.arange(n_users, tree.n_nodes)
    left, right = number[tree.left[rows]], number[tree.right[rows]]
    columns = np.minimum(left, right), np.maximum(left, right), height[rows], tree.size[n_users + rows]
    return np.column_stack(columns).astype(np.float64, copy=False)


def from_linkage(linkage: ArrayLike, users: Sequence[str] | None = None) -> HierarchicalClusterTree:
    """A tree from SciPy's Z; see the tree's method."""
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
    return HierarchicalClusterTree.from_children(children[:, 0], children[:, 1], users)


def _raised_to_children(tree: HierarchicalClusterTree, height: NDArray[np.float64]) -> NDArray[np.float64]:
    """Heights as the running maximum from the leaves up."""
    raised = [0.0] * tree.n_users + height.tolist()
    for node, left, right in zip(range(tree.n_users, tree.n_nodes), tree.left.tolist(), tree.right.tolist(), strict=True):
        raised[node] = max(raised[node], raised[left], raised[right])
    return np.array(raised[tree.n_users :])
