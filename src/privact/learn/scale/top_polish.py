"""The last polish of a tree that was put together from parts: regrafts and local swaps over its largest clusters.

Parts are polished where they are learned; what is left to gain lies across their borders, at the top of the tree. A swap there
costs one dot product whatever the size of the clusters, so the largest clusters are kept as one tree whose leaves are the smaller
ones below, each by the sum of its users' points. A node is larger than the nodes below it, so the largest nodes hang together.
How many there are is bounded by memory, not by the number of users.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.learn.limits import Limits
from privact.learn.scale._subtrees import labels_below, sizes_of
from privact.learn.scale.population import RowDelivery, embed_in_task, split_range
from privact.learn.scale.task_runner import run
from privact.learn.search._swaps import SearchState, fill
from privact.learn.search.regrafts import polish
from privact.learn.search.search_state import ROUNDING
from privact.progress import Progress


def polish_top(
    delivery: RowDelivery,
    bounds: list[tuple[int, int]],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    inside: list[float],
    rounds: int | None,
    progress: Progress,
    limits: Limits,
) -> tuple[NDArray[np.int32], NDArray[np.int32], list[float]]:
    """Polish the top of a tree; returns the tree, and its cost before any polish, with polished parts, and at the end.

    delivery: the users in the order of parts. bounds: where parts begin and end in that order.
    left, right: children of each internal node, children before parents. inside: cost inside parts before and after their polish.
    """
    n = len(left) + 1
    size = sizes_of(left, right)
    first_user = delivery.population.take(np.array([0]))
    width = len(first_user.weights)
    count = int(min(n - 1, max(1, limits.top_bytes // (2 * 8 * max(1, width)))))
    top = np.sort(n + np.argsort(-size[n:], kind="stable")[:count])  # all above a node of the list are in it
    within = np.full(2 * n - 1, -1, np.int32)
    children = np.concatenate([left[top - n], right[top - n]])
    leaves = np.sort(children[~np.isin(children, top)])
    within[leaves] = np.arange(len(leaves))
    within[top] = len(leaves) + np.arange(len(top))

    nodes = 2 * len(leaves) - 1
    sums = np.zeros((nodes, width))
    longest = _add_up(delivery, bounds, labels_below(left, right, within, len(leaves)), sums, progress, limits.summed)
    state = SearchState(
        left=np.full(nodes, -1, np.int32),
        right=np.full(nodes, -1, np.int32),
        parent=np.full(nodes, -1, np.int32),
        size=np.concatenate([size[leaves], np.ones(len(top), np.int32)]),
        sums=sums,
        across=np.zeros(nodes),
        partial=np.full(nodes, np.nan),
        weights=np.ascontiguousarray(first_user.weights, dtype=np.float64),
        constant=float(first_user.constant),
        rounding=ROUNDING * longest,
    )
    state.left[len(leaves) :] = within[left[top - n]]
    state.right[len(leaves) :] = within[right[top - n]]
    before = fill(state)
    in_parts = top < 2 * n - 1 - (len(bounds) - 1)  # the last nodes are those that join parts
    mine = (state.size * state.across)[len(leaves) :]
    joining = float(mine[~in_parts].sum())
    progress("polishing", 0, 0)

    def polished(done: int, cost: float) -> None:
        progress("polishing", done, done if rounds is None else rounds)

    after = polish(state, rounds, polished, limits=limits)
    names = np.concatenate([leaves, top]).astype(np.int32)
    left, right = left.copy(), right.copy()
    left[top - n] = names[state.left[len(leaves) :]]
    right[top - n] = names[state.right[len(leaves) :]]
    costs = [cost + joining for cost in inside]
    return left, right, [*costs, *(costs[-1] + cost - before for cost in after)]


def _add_up(
    delivery: RowDelivery,
    bounds: list[tuple[int, int]],
    label: NDArray[np.int32],
    sums: NDArray[np.float64],
    progress: Progress,
    most: int,
) -> float:
    """Add the points of the users of each label; returns the largest weighted square of a point."""
    pieces = [piece for a, b in bounds for piece in split_range(a, b, most)]
    pieces = _merge_neighbours(pieces, most)
    longest = 0.0
    n = len(delivery.order)
    done = 0

    def calls() -> Any:
        for a, b in pieces:
            yield delivery.rows(a, b), delivery.embedder, label[delivery.order[a:b]]

    def report(number: int) -> None:
        nonlocal done
        done += pieces[number][1] - pieces[number][0]
        progress("adding up clusters", done, n)

    progress("adding up clusters", 0, n)
    for names, part, length in run(delivery.engine, sum_task, calls(), report):
        sums[names] += part
        longest = max(longest, length)
    return longest


def _merge_neighbours(pieces: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """Join neighbouring pieces as long as together they have at most `most` users."""
    found: list[tuple[int, int]] = []
    for a, b in pieces:
        if found and b - found[-1][0] <= most:
            found[-1] = (found[-1][0], b)
        else:
            found.append((a, b))
    return found


def sum_task(rows: Any, embedder: Any, label: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.float64], float]:
    """The labels that occur, the sum of the points of each, and the largest weighted square of a point."""
    users = embed_in_task(rows, embedder)
    names, place = np.unique(label, return_inverse=True)
    by_label = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[by_label], np.arange(len(names)))
    sums = np.add.reduceat(users.points[by_label].astype(np.float64), starts, axis=0)
    return names, sums, float((np.square(users.points) @ np.abs(users.weights)).max())
