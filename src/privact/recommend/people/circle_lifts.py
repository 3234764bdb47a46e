"""How many times more contacts two circles have than chance gives: lifts of groups, and taste as far as the reports bear it out.

    lift of circles a, b = exp(weight * similarity of a and b) * what is left of the lift of their groups

What is left makes the lifts of all pairs of circles in two groups average to the lift of these groups. So a weight says nothing
about groups: it says how the contacts of one group's circles differ, and the reports of their users tell whether they do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.recommend.people.group_lifts import GroupLifts
from privact.recommend.people.taste_circles import TasteCircles

__all__ = ["WEIGHTS", "CircleLifts", "refine_lifts"]

WEIGHTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
"""How much taste may count, from nothing: the logarithm of the lift between equal and unrelated tastes."""


class CircleLifts(NamedTuple):
    """The affinity of circles.

    lift: (C + 1, C + 1) symmetric; the last row and column are of users in no circle. shares: (C + 1, K) expected share of a
        member's contacts in each group.
    """

    lift: NDArray[np.float64]
    shares: NDArray[np.float64]


def refine_lifts(groups: GroupLifts, circles: TasteCircles, contacts: NDArray[np.float64], weight: float) -> CircleLifts:
    """The lifts of circles for one weight of taste. contacts: (n,) expected number of contacts of each user."""
    n_circles, n_groups = len(circles.group), len(groups.everybody)
    inside = circles.circle >= 0
    mass = np.maximum(np.bincount(circles.circle[inside], contacts[inside], n_circles), 1e-9)
    member = np.eye(n_groups)[circles.group] * mass[:, None]
    total = np.maximum(member.sum(axis=0), 1e-9)
    taste = np.exp(weight * (circles.similarity - 1.0))
    toward = taste @ member / total  # (C, K) how a circle likes the users of a group, on average
    average = np.maximum(member.T @ toward / total[:, None], 1e-12)  # (K, K) and how the users of another group do
    rest = groups.lift / average
    lift = np.ones((n_circles + 1, n_circles + 1))
    lift[:n_circles, :n_circles] = taste * rest[np.ix_(circles.group, circles.group)]
    shares = np.vstack([toward * rest[circles.group], np.ones(n_groups)]) * groups.everybody
    return CircleLifts(lift, shares / shares.sum(axis=1, keepdims=True))
