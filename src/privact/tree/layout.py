"""The canonical drawing of a full binary tree: any numbering of its nodes -> the one set of flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import TreeError

Int32Array = NDArray[np.int32]

MOST_USERS = 2**30  # node numbers run to twice the number of users and are 32 bits wide
_COMPILED_FROM = 2_000  # users; below this the plain twin is faster than importing numba


class Layout(NamedTuple):
    """The arrays of a canonical tree over n users: leaves 0 to n-1, internal nodes n to 2n-2 in postorder.

    left: (n-1) the child of internal node n+i that holds the smaller smallest leaf.
    right: (n-1) the other child.
    parent: (2n-1) the node above each node, -1 at the root.
    size: (2n-1) how many leaves each node holds.
    order: (n) the leaves from left to right in the drawing.
    start: (2n-1) where each node's leaves begin in `order`.
    """

    left: Int32Array
    right: Int32Array
    parent: Int32Array
    size: Int32Array
    order: Int32Array
    start: Int32Array


def lay_out(left: ArrayLike, right: ArrayLike) -> Layout:
    """Check that children describe one full binary tree, and draw it canonically in O(n) time.

    left, right: the two children of internal node n+i, for n-1 internal nodes numbered in any way.
    """
    first, second = _child_array(left, "left"), _child_array(right, "right")
    if len(first) != len(second):
        raise TreeError(f"left has {len(first)} entries and right {len(second)}: each internal node needs one of both")
    n_users = len(first) + 1
    if n_users == 1:
        nothing, zero = np.empty(0, np.int32), np.zeros(1, np.int32)
        return Layout(nothing, nothing, zero - np.int32(1), zero + np.int32(1), zero, zero)
    root = _find_root(first, second)
    left32, right32 = first.astype(np.int32), second.astype(np.int32)
    if n_users < _COMPILED_FROM:
        walk, draw = walk_down, draw_in_order
    else:
        from privact.tree import _layout

        walk, draw = _layout.walk_down, _layout.draw_in_order
    top_down = walk(left32, right32, root)
    if len(top_down) < n_users - 1:
        missed = np.ones(n_users - 1, np.bool_)
        missed[top_down - n_users] = False
        node = n_users + int(np.argmax(missed))
        raise TreeError(f"internal node {node} is not reached from root {root}: it lies on, or hangs from, a cycle")
    return Layout(*draw(left32, right32, top_down))


def walk_down(left: Int32Array, right: Int32Array, root: int) -> Int32Array:
    """Internal nodes reached from the root, parents before children; plain twin of the compiled kernel."""
    n_users = len(left) + 1
    children = list(zip(left.tolist(), right.tolist(), strict=True))
    reached = [root]
    for node in reached:  # grows while it is read
        reached.extend(child for child in children[node - n_users] if child >= n_users)
    return np.array(reached, np.int32)


def draw_in_order(left: Int32Array, right: Int32Array, top_down: Int32Array) -> tuple[Int32Array, ...]:
    """The six arrays of `Layout` from children in any numbering; plain twin of the compiled kernel."""
    n_users = len(left) + 1
    n_nodes = 2 * n_users - 1
    children = list(zip(left.tolist(), right.tolist(), strict=True))
    size = [1] * n_nodes
    smallest = list(range(n_users)) + [0] * (n_users - 1)
    for node in reversed(top_down.tolist()):
        a, b = sorted(children[node - n_users], key=smallest.__getitem__)
        children[node - n_users] = a, b
        size[node] = size[a] + size[b]
        smallest[node] = smallest[a]

    # A node with s leaves closes a block of s-1 internal nodes in postorder: first those of its left
    # child, then those of its right child, then itself.
    block, begin = [0] * n_nodes, [0] * n_nodes
    out = Layout(*(np.full(length, -1, np.int32) for length in (n_users - 1, n_users - 1, n_nodes, n_nodes, n_users, n_nodes)))

    def number(node: int) -> int:
        return node if node < n_users else n_users + block[node] + size[node] - 2

    for node in top_down.tolist():
        a, b = children[node - n_users]
        block[a], block[b] = block[node], block[node] + size[a] - 1
        begin[a], begin[b] = begin[node], begin[node] + size[a]
        here = number(node)
        out.left[here - n_users], out.right[here - n_users] = number(a), number(b)
        out.parent[number(a)] = out.parent[number(b)] = here
    for node in range(n_nodes):
        out.size[number(node)], out.start[number(node)] = size[node], begin[node]
    out.order[out.start[:n_users]] = np.arange(n_users)
    return tuple(out)


def find_layout_problem(layout: Layout) -> str | None:
    """Why arrays are not a canonical layout, or None if they are; vectorised, for files of unknown origin."""
    left, right, parent, size, order, start = layout
    n_users = len(order)
    n_nodes = 2 * n_users - 1
    if n_users < 1 or [len(array) for array in layout] != [n_users - 1, n_users - 1, n_nodes, n_nodes, n_users, n_nodes]:
        return "its arrays have lengths that do not fit together"
    node = np.arange(n_users, n_nodes, dtype=np.int32)
    if np.any(left < 0) or np.any(right < 0) or np.any(left >= node) or np.any(right >= node):
        return "a child has a larger number than its parent"
    if parent[-1] != -1 or np.any(parent[left] != node) or np.any(parent[right] != node):
        return "children and parents disagree"
    if np.any(size[:n_users] != 1) or np.any(size[n_users:] != size[left].astype(np.int64) + size[right]):
        return "the sizes do not add up"
    if start[-1] != 0 or np.any(start[left] != start[n_users:]) or np.any(start[right] != start[n_users:] + size[left]):
        return "the leaf slices do not nest"
    if np.any(order[start[:n_users]] != np.arange(n_users)):
        return "the leaf order is not the tree's"
    # By induction from the leaves up, the first leaf of each slice is then the smallest of its node.
    if np.any(order[start[left]] >= order[start[right]]):
        return "a left child does not hold the smaller leaf"
    # Between a left child and its parent there is then room for just the internal nodes below the right child.
    if np.any((left >= n_users) & (left != node - size[right])):
        return "internal nodes are not numbered in postorder"
    return None


def _child_array(children: ArrayLike, side: str) -> NDArray[np.int64]:
    try:
        array = np.asarray(children)
    except ValueError:
        raise TreeError(f"{side} must be a flat array of node numbers") from None
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TreeError(f"{side} must be a flat array of node numbers, not {array.dtype} of shape {array.shape}")
    if len(array) >= MOST_USERS:
        raise TreeError(f"{len(array) + 1} users are more than a tree can hold: at most {MOST_USERS}")
    return array.astype(np.int64)


def _find_root(left: NDArray[np.int64], right: NDArray[np.int64]) -> int:
    """The one internal node without a parent, after checking that every other node has exactly one."""
    n_users = len(left) + 1
    n_nodes = 2 * n_users - 1
    for side, children in (("left", left), ("right", right)):
        outside = (children < 0) | (children >= n_nodes)
        if outside.any():
            i = int(np.argmax(outside))
            raise TreeError(
                f"{side} child {children[i]} of internal node {n_users + i} is not a node: nodes are 0 to {n_nodes - 1}"
            )
    parents = np.bincount(np.concatenate((left, right)), minlength=n_nodes)
    if parents.max() > 1:
        node = int(np.argmax(parents > 1))
        above = [n_users + int(i) for i in np.flatnonzero((left == node) | (right == node))]
        where = f"internal nodes {above[0]} and {above[1]}" if len(above) > 1 else f"internal node {above[0]} twice"
        raise TreeError(f"node {node} has two parents: it is a child of {where}")
    root = int(np.argmin(parents))  # 2n-2 child slots hold 2n-2 different nodes, so exactly one is left
    if root < n_users:
        raise TreeError(f"leaf {root} has no parent and every internal node has one: the internal nodes form a cycle")
    return root
