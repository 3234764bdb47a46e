"""Trees as nested pairs, such as (("ann", "bob"), "eve"); without recursion, however deep the tree."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import TreeError
from privact.tree.user_ids import UserIds, number_leaves


def read_nested(
    nested: Any, users: Sequence[Hashable] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], UserIds | None]:
    """The children of each internal node, and the ids of the leaves; see `HierarchicalClusterTree.from_nested`."""
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
    return children[:, 0], children[:, 1], ids
