"""Compiled: users sorted by their scores, as `users[numpy.argsort(scores, kind="stable")]` gives them.

numba's own sort does the same, but compiling it takes a second of the first fit.
"""

from __future__ import annotations

from numba import njit

RUN = 16
"""Runs of this many users are sorted by insertion before they are merged."""


@njit(cache=True, inline="always")
def sort_by_score(score, users, score_room, user_room):  # type: ignore[no-untyped-def]
    """Sort users and their scores in place by rising score, equal scores in their order.

    score_room, user_room: working memory, as long as the users.
    """
    k = score.shape[0]
    for begin in range(0, k, RUN):
        for i in range(begin + 1, min(begin + RUN, k)):
            key = score[i]
            user = users[i]
            j = i
            while j > begin and score[j - 1] > key:
                score[j] = score[j - 1]
                users[j] = users[j - 1]
                j -= 1
            score[j] = key
            users[j] = user
    width = RUN
    while width < k:
        for begin in range(0, k - width, 2 * width):
            b = begin + width
            end = min(b + width, k)
            if score[b - 1] <= score[b]:  # already in order
                continue
            for i in range(begin, b):  # only the first run has to make room
                score_room[i] = score[i]
                user_room[i] = users[i]
            a = begin
            middle = b
            at = begin
            while a < middle:
                if b < end and score[b] < score_room[a]:
                    score[at] = score[b]
                    users[at] = users[b]
                    b += 1
                else:
                    score[at] = score_room[a]
                    users[at] = user_room[a]
                    a += 1
                at += 1
        width *= 2
