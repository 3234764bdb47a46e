"""The borders of the largest splits: who changes sides so that a split found on a sample has its share of all users.

The largest clusters decide the cost, and their best splits lie at the balance floor. A parting found on a sample leaves some
more or some fewer of all users on the smaller side. Users who score near the parting are noted while everybody is sent down;
once all are counted, the parting is moved among their scores.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.scale._send_down import send_down
from privact.learn.search.balance import floor_of
from privact.tree.embedding import Embedding

__all__ = ["ROUTED", "SplitSketch", "count_users", "find_borders", "move_partings", "route"]

REACH = 5.0
"""How many standard deviations of sampling a border reaches to both sides of the parting."""

ROUTED = np.dtype([("part", np.int32), ("border", np.int32), ("other", np.int32), ("beyond", np.float32)])
"""Where a user was sent.

part: the part of the sketch. border: the first split on the way whose border the user lies in; -1 for none. other: the part
that the user would reach from the other side of that split. beyond: the score there minus the parting; left up to 0.
"""


class SplitSketch(NamedTuple):
    """The splits of a sample, down to where they are trusted.

    left, right: children of the tree over the parts: leaves are the parts, children come before parents, the root last.
    directions, partings: of each internal node; users who score at most the parting along the direction go left.
    lower, upper: scores between which the border of each split lies; none for splits that stay where they are.
    share: of the sampled users of a split with a border, how many went left.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    directions: NDArray[np.float64]
    partings: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    share: NDArray[np.float64]

    @classmethod
    def without_borders(
        cls,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        directions: NDArray[np.float64],
        partings: NDArray[np.float64],
    ) -> SplitSketch:
        """Splits that all stay where they are."""
        n = len(left)
        return cls(left, right, directions, partings, np.full(n, np.inf), np.full(n, -np.inf), np.zeros(n))


def find_borders(sketch: SplitSketch, sample: Embedding, fewest: float) -> SplitSketch:
    """The same splits with borders around the partings of those of more than `fewest` sampled users."""
    p = len(sketch.left) + 1
    waiting = [(2 * p - 2, np.arange(len(sample)))]
    while waiting:
        node, users = waiting.pop()
        k = len(users)
        if node < p or k <= fewest:
            continue
        i = node - p
        score = sample.points[users].astype(np.float64) @ sketch.directions[i]
        goes_left = score <= sketch.partings[i]
        first = int(goes_left.sum())
        reach = math.ceil(REACH * math.sqrt(first * (k - first) / k))
        rising = np.sort(score)
        sketch.lower[i], sketch.upper[i] = rising[max(0, first - 1 - reach)], rising[min(k - 1, first + reach)]
        sketch.share[i] = first / k
        waiting += [(int(sketch.left[i]), users[goes_left]), (int(sketch.right[i]), users[~goes_left])]
    return sketch


def route(sketch: SplitSketch, users: Embedding) -> NDArray[np.void]:
    """Send users down the splits of a sketch; returns a row of `ROUTED` for each."""
    found = np.empty(len(users), ROUTED)
    columns = [found[name] for name in ("part", "border", "other", "beyond")]
    send_down(users.points, *sketch[:6], *columns)
    return found


def count_users(sketch: SplitSketch, part: NDArray[np.int32]) -> NDArray[np.int64]:
    """How many users are below each node of a sketch. part: of each user."""
    p = len(sketch.left) + 1
    count = np.concatenate([np.bincount(part, minlength=p), np.zeros(p - 1, np.int64)])
    for i in range(p - 1):
        count[p + i] = count[sketch.left[i]] + count[sketch.right[i]]
    return count


def move_partings(sketch: SplitSketch, routed: NDArray[np.void], n_users: int, balance: float) -> NDArray[np.int32]:
    """The part of each user once every split with a border has the share of all users that it had of the sample.

    Where that share would miss the floor, the parting moves on to where it does not. Users with the same score stay
    together, so a split may keep its parting. The highest splits come first.
    """
    p = len(sketch.left) + 1
    part: NDArray[np.int32] = routed["part"].copy()
    near = np.flatnonzero(routed["border"] >= 0)
    near = near[np.argsort(routed["border"][near], kind="stable")]
    at = routed["border"][near]
    for i in np.flatnonzero(sketch.lower <= sketch.upper)[::-1].tolist():
        users = near[np.searchsorted(at, i) : np.searchsorted(at, i, side="right")]
        count = count_users(sketch, part)
        size, least = int(count[p + i]), floor_of(int(count[p + i]), n_users, balance)
        beyond = routed["beyond"][users]
        partings = np.unique(np.append(beyond, np.float32(0.0)))
        firm = count[sketch.left[i]] - np.count_nonzero(beyond <= 0.0)
        first = firm + np.searchsorted(np.sort(beyond), partings, side="right")
        allowed = (first >= least) & (first <= size - least)
        if not allowed.any():
            continue
        off = np.abs(first - sketch.share[i] * size)
        parting = partings[np.where(allowed, off, np.inf).argmin()]
        moved = users[(beyond <= parting) != (beyond <= 0.0)]
        part[moved] = routed["other"][moved]
    return part
