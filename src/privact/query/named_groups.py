"""Named groups of users beside a tree: which group most users of a cluster are in.

Groups are public labels of users (home servers, taste groups): a tree is drawn in their colours, clusters are named after them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.query.blocks import Block
from privact.tree.hct import HierarchicalClusterTree
from privact.tree.layout import Int32Array

__all__ = ["MOST_GROUPS", "Groups", "count_groups", "describe_groups", "number_groups"]

MOST_GROUPS: Final = 24
"""How many groups have a colour: more hues cannot be told apart."""

_MENTIONED: Final = 3


class Groups(NamedTuple):
    """The groups of a tree that have a colour.

    names: of the groups, the largest first. of: (n,) for each leaf the number of its group, -1 for none of them.
    """

    names: list[str]
    of: NDArray[np.int64]


def number_groups(tree: HierarchicalClusterTree, groups: Sequence[str | None]) -> Groups:
    """The largest groups of a tree.

    groups: the name of each leaf's group, None for users in none.
    """
    if len(groups) != tree.n_users:
        raise InputError(f"{len(groups)} groups for {tree.n_users} users: give one for each leaf, None for users in no group")
    sizes = Counter(group for group in groups if group is not None)
    names = [name for name, _ in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))[:MOST_GROUPS]]
    number = {name: place for place, name in enumerate(names)}
    return Groups(names, np.array([-1 if group is None else number.get(group, -1) for group in groups], np.int64))


def count_groups(blocks: Sequence[Block], block_at: NDArray[np.int64], leaves: Int32Array, groups: Groups) -> NDArray[np.int64]:
    """How many users of each group a block of a drawing holds, as (blocks, groups).

    blocks, block_at: as `nest_blocks` returns them. leaves: the leaf at each place of block_at.
    """
    counts = np.zeros((len(blocks), len(groups.names)), np.int64)
    group_at = groups.of[leaves]
    known = group_at >= 0
    np.add.at(counts, (block_at[known], group_at[known]), 1)
    for place in range(len(blocks) - 1, 0, -1):  # a block comes after the one around it, pools after all clusters
        counts[blocks[place].parent] += counts[place]
    return counts


def describe_groups(leaves: Int32Array, groups: Groups) -> list[dict[str, Any]]:
    """The groups that most users of a cluster are in: number, name and share of the cluster, the largest first.

    leaves: the users of the cluster.
    """
    numbers = groups.of[leaves]
    counts = np.bincount(numbers[numbers >= 0], minlength=len(groups.names))
    best = np.argsort(-counts, kind="stable")[:_MENTIONED].tolist()
    return [
        {"number": number, "name": groups.names[number], "share": int(counts[number]) / len(leaves)}
        for number in best
        if counts[number]
    ]
