"""Trees as objects of networkx and pandas, which are imported only here and only when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import MissingExtraError
from privact.tree.arrays import TreeArrays
from privact.tree.clusters import leaf_depths

__all__ = ["make_networkx", "make_pandas"]


def make_networkx(tree: TreeArrays) -> Any:
    """A networkx DiGraph from parents to children; see the tree's method `to_networkx`."""
    try:
        import networkx
    except ImportError:
        raise MissingExtraError("networkx", "graph", "a networkx graph") from None
    graph = networkx.DiGraph()
    n = tree.n_users
    users = tree.users_of(np.arange(n, dtype=np.int32))
    for node, size in enumerate(tree.size.tolist()):
        graph.add_node(node, size=size)
    for leaf, user in enumerate(users if isinstance(users, list) else users.tolist()):
        graph.nodes[leaf]["user"] = user
    for node, left, right in zip(range(n, tree.n_nodes), tree.left.tolist(), tree.right.tolist(), strict=True):
        graph.add_edge(node, left)
        graph.add_edge(node, right)
    return graph


def make_pandas(tree: TreeArrays, cuts: Mapping[str, NDArray[np.int64]]) -> Any:
    """A pandas frame with a row a user; see the tree's method `to_pandas`. cuts: columns to add."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas", "graph", "a data frame") from None
    leaves = np.arange(tree.n_users, dtype=np.int32)
    place = tree.start[: tree.n_users]
    columns: dict[str, Any] = {"leaf": leaves, "place": place, "depth": leaf_depths(tree), "parent": tree.parent[: tree.n_users]}
    columns |= cuts
    users = tree.users_of(leaves)
    return pandas.DataFrame(columns, index=pandas.Index(list(users), name="user"))
