"""The borders of the largest splits: who changes sides so that a split at the floor of a sample is at the floor of all users.

The largest clusters decide the cost, and their best splits often lie at the balance floor. A parting found on a sample leaves
some more or some fewer of all users on the smaller side. Users who score near the parting are noted while everybody is sent
down; once all are counted, the parting is moved among their scores. A parting above the floor, such as a gap between groups,
stays unless it misses the floor.
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
    lower, upper: scores between which the border of each split lies; infinity and minus infinity for splits without one.
    at_floor: the side of the sample's split that holds no more than the floor: -1 left, 1 right, 0 neither.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    directions: NDArray[np.float64]
    partings: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    at_floor: NDArray[np.int8]

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
        return cls(left, right, directions, partings, np.full(n, np.inf), np.full(n, -np.inf), np.zeros(n, np.int8))


def find_borders(sketch: SplitSketch, sample: Embedding, has_border: NDArray[np.bool_]) -> SplitSketch:
    """The same splits with borders around the partings of some; the splits above those have borders too."""
    from threadpoolctl import threadpool_limits

    p = len(sketch.left) + 1
    lower, upper = sketch.lower.copy(), sketch.upper.copy()
    waiting = [(2 * p - 2, np.arange(len(sample)))]
    with threadpool_limits(1, "blas"):
        while waiting:
            node, users = waiting.pop()
            if node < p or not has_border[node - p] or len(users) == 0:  # users with the same score all went the other way
                continue
            i, k = node - p, len(users)
            score = sample.points[users].astype(np.float64) @ sketch.directions[i]
            goes_left = score <= sketch.partings[i]
            first = int(goes_left.sum())
            smaller = max(1, min(first, k - first))
            reach = math.ceil(REACH * math.sqrt(smaller * (k - smaller) / k))
            rising = np.sort(score)
            lower[i], upper[i] = rising[max(0, first - 1 - reach)], rising[min(k - 1, first + reach)]
            waiting += [(int(sketch.left[i]), users[goes_left]), (int(sketch.right[i]), users[~goes_left])]
    return sketch._replace(lower=lower, upper=upper)


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
    """The part of each user once the splits with borders are moved: those at the floor of the sample to the floor of all users.

    Other splits move only if they miss the floor. Users with the same score stay together; where no parting in the border keeps
    the floor, it stays. The highest splits come first. Users who lie in a higher border keep their side of lower splits.
    """
    p = len(sketch.left) + 1
    part: NDArray[np.int32] = routed["part"].copy()
    count = count_users(sketch, part)
    noted = np.flatnonzero(routed["border"] >= 0)
    noted = noted[np.argsort(routed["border"][noted], kind="stable")]
    noted_at = routed["border"][noted]
    for i in np.flatnonzero(sketch.lower <= sketch.upper)[::-1].tolist():
        users = noted[np.searchsorted(noted_at, i) : np.searchsorted(noted_at, i, side="right")]
        size = int(count[p + i])
        least = floor_of(size, n_users, balance)
        beyond = routed["beyond"][users]
        partings = np.unique(np.append(beyond, np.array([-np.inf, 0.0], np.float32)))
        firm = count[sketch.left[i]] - np.count_nonzero(beyond <= 0.0)
        first = firm + np.searchsorted(np.sort(beyond), partings, side="right")
        allowed = (first >= least) & (first <= size - least)
        if not allowed.any():
            continue
        wanted = (least, count[sketch.left[i]], size - least)[sketch.at_floor[i] + 1]
        parting = partings[np.where(allowed, np.abs(first - wanted), np.inf).argmin()]
        moved = users[(beyond <= parting) != (beyond <= 0.0)]
        count += count_users(sketch, routed["other"][moved]) - count_users(sketch, part[moved])
        part[moved] = routed["other"][moved]
    return part
