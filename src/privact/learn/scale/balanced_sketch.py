"""How a large group of users is split under the balance floor: splits are found on a sample, and all users are sent down them.

Each split of the sample is a direction and a score, so a user's part is found with one dot product a level. Then the users are
counted. Of the largest splits, those at the floor of the sample are moved to exactly the floor of all users (borders.py). For
smaller ones, which hardly count in the cost, the sample is held to a little more than the floor. A split that misses the floor
after all is not made, and its users stay together and are sampled again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privact.learn.scale._subtrees import sizes_of
from privact.learn.scale.borders import SplitSketch, count_users, find_borders, move_partings
from privact.learn.scale.sketch import Split, split_in_half
from privact.learn.search._split import split_all
from privact.learn.search.balance import floor_of
from privact.learn.search.split import LARGE, choose_outlooks
from privact.learn.search.split_choice import choose_split
from privact.tree.embedding import Embedding

__all__ = ["apply_sketch", "draw_split_sketch"]

SMALLEST = 64
"""Clusters of fewer sampled users are not split further."""

MARGIN = 3.0
"""How many standard deviations of sampling smaller splits of the sample are held above the floor."""


def draw_split_sketch(sample: Embedding, group: int, n_users: int, balance: float, most: int) -> SplitSketch:
    """Split a sample of a group.

    group: users of the group. n_users: users of the whole tree. most: users of a part that needs no further split.
    """
    m = len(sample)
    stands_for = group / m
    stop = max(SMALLEST, int(most / stands_for))
    if group > LARGE * n_users:
        sample = choose_split(sample, balance)
    directions, partings = np.zeros((m - 1, len(sample.weights))), np.zeros(m - 1)
    floors = compute_sample_floors(m, stands_for, n_users, balance)
    left, right = split_all(
        sample.points,
        np.ascontiguousarray(sample.weights, dtype=np.float64),
        float(sample.constant),
        floors,
        choose_outlooks(np.arange(m + 1) * stands_for, n_users, sample.split_by),
        stop,
        directions,
        partings,
    )
    size = sizes_of(left, right)
    used = np.flatnonzero(size[m:] > stop)
    children = np.concatenate([left[used], right[used]])
    parts = np.sort(children[~np.isin(children, m + used)])
    number = np.full(2 * m - 1, -1, np.int32)
    number[parts] = np.arange(len(parts))
    number[m + used] = len(parts) + np.arange(len(used))
    sketch = SplitSketch.without_borders(number[left[used]], number[right[used]], directions[used], partings[used])
    least = floors[size[m + used]]
    at_floor = (size[right[used]] <= least).astype(np.int8) - (size[left[used]] <= least)
    return find_borders(sketch._replace(at_floor=at_floor), sample, size[m + used] * stands_for > LARGE * n_users)


def compute_sample_floors(m: int, stands_for: float, n_users: int, balance: float) -> NDArray[np.int32]:
    """(m + 1) the fewest sampled users on the smaller side of a split, so that with all users it very likely keeps the floor.

    Large clusters are held to the floor itself: their partings are moved once all users are counted.

    m: sampled users. stands_for: how many users each of them stands for.
    """
    out = np.ones(m + 1, np.int32)
    left_out = max(0.0, 1.0 - 1.0 / stands_for)  # a sample of everybody needs no margin
    for size in range(2, m + 1):
        users = max(2, round(size * stands_for))
        share = floor_of(users, n_users, balance) / users
        margin = 0.0 if size * stands_for > LARGE * n_users else MARGIN * np.sqrt(size * share * (1.0 - share) * left_out)
        out[size] = max(1, min(size // 2, int(np.ceil(size * share + margin - 1e-9))))
    return out


def apply_sketch(sketch: SplitSketch, routed: NDArray[np.void], n_users: int, balance: float, most: int) -> Split:
    """Split a group: where more than `most` users are together, by those splits of a sketch that keep the floor.

    routed: the users of the group, from `route`. Users who cannot be told apart are halved in their order.
    """
    p = len(sketch.left) + 1
    part = move_partings(sketch, routed, n_users, balance)
    weight = count_users(sketch, part)
    top = np.arange(2 * p - 1)  # the node with which the users of each node stay together
    for i in range(p - 2, -1, -1):
        a, b = sketch.left[i], sketch.right[i]
        size = int(weight[p + i])
        keeps = min(weight[a], weight[b]) >= floor_of(size, n_users, balance)
        if top[p + i] != p + i or size <= most or not keeps:
            top[a] = top[b] = top[p + i]
    kept = np.flatnonzero(top == np.arange(2 * p - 1))
    groups = np.unique(top[:p])
    if len(groups) == 1:
        return split_in_half(len(part))
    inner = np.setdiff1d(kept, groups)
    number = np.full(2 * p - 1, -1, np.int32)
    number[groups] = np.arange(len(groups))
    number[inner] = len(groups) + np.arange(len(inner))
    mine = number[top[:p]][part]
    bounds = np.append(0, np.cumsum(np.bincount(mine, minlength=len(groups))))
    left, right = number[sketch.left[inner - p]], number[sketch.right[inner - p]]
    return Split(np.argsort(mine, kind="stable"), bounds, left, right)
