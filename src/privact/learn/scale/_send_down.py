"""Compiled walks of users down the splits of a sketch."""

from __future__ import annotations

from numba import njit

from privact.learn.search._split import score_of


@njit(cache=True)
def send_down(points, left, right, directions, partings, lower, upper, part, border, other, beyond):  # type: ignore[no-untyped-def]
    """Find the leaf that each user reaches from the root, and the first split whose border the user lies in.

    directions, partings: of internal node p + i; users who score at most the parting along the direction go left.
    lower, upper: the scores between which the border of each split lies.
    part, border, other, beyond: become the columns of `ROUTED`.
    """
    for x in range(points.shape[0]):
        border[x] = -1
        other[x] = -1
        beyond[x] = 0.0
        node = 2 * left.shape[0]
        across = -1
        while node > left.shape[0]:
            i = node - left.shape[0] - 1
            score = score_of(points[x], directions[i])
            goes_left = score <= partings[i]
            if border[x] < 0 and lower[i] <= score <= upper[i]:
                border[x] = i
                beyond[x] = score - partings[i]
                across = right[i] if goes_left else left[i]
            node = left[i] if goes_left else right[i]
        part[x] = node
        while across > left.shape[0]:
            i = across - left.shape[0] - 1
            across = left[i] if score_of(points[x], directions[i]) <= partings[i] else right[i]
        other[x] = across
