"""What the explorer draws of a tree, each result small enough for a page whatever the number of users.

Results are dictionaries of plain numbers and text: the aggregator sends them as JSON, and the script of a self-contained page
gives the same ones from the tree inside the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privact.errors import InputError
from privact.query.blocks import STEP, Block, nest_blocks
from privact.query.id_search import find_ids
from privact.query.lookups import MOST, list_members
from privact.query.named_groups import Groups, count_groups, describe_groups
from privact.tree.ancestry import climb_path, find_lowest_common
from privact.tree.clusters import cut_slices, rank_splits
from privact.tree.counts import check_count
from privact.tree.hct import HierarchicalClusterTree
from privact.tree.layout import Int32Array
from privact.tree.user_ids import SEPARATOR

__all__ = ["MOST_LISTED", "compare", "cut_sizes", "members", "rings", "search", "view"]

MOST_LISTED = MOST
"""Most users, clusters or rings in one result."""

_MOST_BLOCKS = 300  # in one view: more could not be told apart on a screen
_ROWS = 5  # in one view: the next closer look shows the rows below
_NAMED = 8  # users of a block
_USUAL_CUT = 20  # clusters
_USUAL_SHARE = 40  # a usual cluster has at least this fraction of all users


def view(
    tree: HierarchicalClusterTree, node: int | None = None, *, highlight: int | None = None, groups: Groups | None = None
) -> dict[str, Any]:
    """A cluster and the clusters inside it, a few rows deep: one picture of the explorer.

    node: the cluster to look at; by default everybody.
    highlight: a leaf whose clusters are drawn however small they are.
    groups: public groups of users; each block then tells which one most of its users are in.
    """
    top = _check_node(tree, tree.root if node is None else node)
    blocks, block_at = nest_blocks(tree, most=_MOST_BLOCKS, n_leaves=_NAMED, highlight=highlight, node=top, most_rows=_ROWS)
    drawn = [_block(tree, block) for block in blocks]
    if groups is not None and groups.names:
        start = int(tree.start[top])
        counts = count_groups(blocks, block_at, tree.order[start : start + int(tree.size[top])], groups)
        for block, largest, of_groups in zip(drawn, counts.argmax(axis=1).tolist(), counts, strict=True):
            if of_groups[largest]:
                share = int(of_groups[largest]) / block["size"]
                block["group"] = {"number": largest, "name": groups.names[largest], "share": share}
    return {
        "node": top,
        "size": int(tree.size[top]),
        "n_users": tree.n_users,
        "above": _above(tree, top),
        "blocks": drawn,
        "groups": [] if groups is None else groups.names,
    }


def members(tree: HierarchicalClusterTree, node: int, first: int = 0, limit: int = 100) -> dict[str, Any]:
    """Users of a cluster, in the order of the drawing.

    first: how many to pass over. limit: how many to list at most.
    """
    node = _check_node(tree, node)
    limit = _check_limit("limit", limit)
    if first < 0:
        raise InputError(f"first = {first} is negative: it is how many users to pass over")
    found = list_members(tree, node, first, limit)
    return {"node": node, "size": found.size, "first": first, "users": _names(tree, found.leaves)}


def search(tree: HierarchicalClusterTree, text: str, limit: int = 20) -> dict[str, Any]:
    """Users whose ids contain a text, whatever its case: the very id first, then ids that begin with it, then the others.

    Only the first `limit` in the tree's order are found, so that a million ids are searched in milliseconds.
    """
    limit = _check_limit("limit", limit)
    wanted = text.strip().lstrip("@")
    if not wanted:
        return {"text": text, "users": []}
    if tree.users is None:
        known = wanted.isascii() and wanted.isdigit() and int(wanted) < tree.n_users
        return {"text": text, "users": [str(int(wanted))] if known else []}
    encoded = wanted.encode("utf-8", "surrogatepass")
    starting = find_ids(tree.users, encoded, limit, at_start=True)
    found = [*starting, *find_ids(tree.users, b"@" + encoded, limit, at_start=True)]
    very = [user for user in found if user.lstrip("@").casefold() == wanted.casefold()]
    if len(starting) == limit:  # the very id may come after them
        very = [*find_ids(tree.users, encoded + SEPARATOR, limit, at_start=True), *very]
    if len(found) < limit:
        found += find_ids(tree.users, encoded, limit)
    return {"text": text, "users": list(dict.fromkeys([*very, *found]))[:limit]}


def rings(tree: HierarchicalClusterTree, leaf: int) -> dict[str, Any]:
    """A user's close communities from the smallest to everybody, each at least a tenth larger than the one inside it.

    A deep tree has far more communities than anybody can look at; growing by a tenth leaves 145 of a million users.
    """
    around = climb_path(tree, leaf, tree.n_users)
    communities = [
        {"node": node, "size": int(tree.size[node]), "users": _names(tree, _first_others(tree, node, leaf))}
        for node in _pick_growing(tree, around, 1.1)
    ]
    return {"user": _names(tree, [leaf])[0], "n_communities": len(around), "communities": communities}


def cut_sizes(
    tree: HierarchicalClusterTree,
    k: int | None = None,
    min_size: int | None = None,
    limit: int = 100,
    groups: Groups | None = None,
) -> dict[str, Any]:
    """The tree cut into k clusters: their sizes, largest first, and a few users of each.

    k: how many; by default 20 of at least a fortieth of all users, or as many as the tree has of them.
    min_size: the fewest users of a cluster; who falls off in a smaller group is in none, see `HierarchicalClusterTree.cut`.
    limit: how many of the clusters to list at most. groups: public groups; each cluster then tells its largest ones.
    """
    limit = _check_limit("limit", limit)
    least = min_size or (max(1, tree.n_users // _USUAL_SHARE) if k is None else 1)
    if k is None:
        k = 1 + len(rank_splits(tree, _USUAL_CUT - 1, check_count("min_size", least)))
    elif k > tree.n_users:
        raise InputError(f"k {k} is more than the {tree.n_users} users of this tree: ask for fewer clusters")
    begins, ends = cut_slices(tree, k, least)
    sizes = ends - begins
    listed = np.argsort(-sizes, kind="stable")[:limit].tolist()
    clusters = []
    for place in listed:
        leaves = tree.order[begins[place] : ends[place]]
        cluster = {"size": len(leaves), "users": _names(tree, leaves[:_NAMED])}
        clusters.append(cluster if groups is None else cluster | {"groups": describe_groups(leaves, groups)})
    return {
        "k": k,
        "min_size": least,
        "clusters": clusters,
        "left_out": {"clusters": len(sizes) - len(listed), "users": int(sizes.sum() - sizes[listed].sum())},
        "in_none": tree.n_users - int(sizes.sum()),
        "groups": [] if groups is None else groups.names,
    }


def compare(tree: HierarchicalClusterTree, a: int, b: int) -> dict[str, Any]:
    """How close the users of two leaves are: the smallest community that holds both."""
    node = find_lowest_common(tree, a, b)
    size = int(tree.size[node])
    return {
        "users": _names(tree, [a, b]),
        "node": int(node),
        "size": size,
        "n_users": tree.n_users,
        "distance": 0 if a == b else size,
        "share": size / tree.n_users,
    }


def _block(tree: HierarchicalClusterTree, block: Block) -> dict[str, Any]:
    return {
        "node": block.node,
        "parent": block.parent,
        "size": block.size,
        "clusters": block.clusters,
        "rows": [block.first_row, block.last_row],
        "begin": block.begin,
        "end": block.end,
        "users": _names(tree, block.leaves),
        "highlight": block.highlight,
    }


def _above(tree: HierarchicalClusterTree, node: int) -> list[dict[str, int]]:
    """The clusters around a node from everybody down, each about a third of the one around it: the way back out."""
    path = climb_path(tree, int(tree.order[tree.start[node]]), tree.n_users)
    way = _pick_growing(tree, path[np.searchsorted(tree.size[path], tree.size[node]) :], STEP)
    return [{"node": above, "size": int(tree.size[above])} for above in reversed(way[1:])]


def _pick_growing(tree: HierarchicalClusterTree, path: Int32Array, factor: float) -> list[int]:
    """The first and last node of a path upwards, and between them only nodes `factor` times larger than the one before."""
    sizes = tree.size[path]
    places = [0]
    while places[-1] < len(path) - 1:
        wanted = int(np.ceil(sizes[places[-1]] * factor))
        places.append(min(int(np.searchsorted(sizes, wanted)), len(path) - 1))
    return [int(path[place]) for place in places]


def _first_others(tree: HierarchicalClusterTree, node: int, leaf: int) -> Int32Array:
    start, size = int(tree.start[node]), int(tree.size[node])
    some: Int32Array = tree.order[start : start + min(size, _NAMED + 1)]
    others: Int32Array = some[some != leaf][:_NAMED]
    return others


def _names(tree: HierarchicalClusterTree, leaves: Sequence[int] | Int32Array) -> list[str]:
    return [str(user) for user in tree.users_of(np.asarray(leaves, np.int32))]


def _check_node(tree: HierarchicalClusterTree, node: int) -> int:
    if not 0 <= node < tree.n_nodes:
        raise InputError(f"node {node} is not in this tree: its nodes are 0 to {tree.n_nodes - 1}")
    return int(node)


def _check_limit(name: str, limit: int) -> int:
    if check_count(name, limit) > MOST_LISTED:
        raise InputError(f"{name} = {limit} is too many for one response: ask for at most {MOST_LISTED}")
    return int(limit)
