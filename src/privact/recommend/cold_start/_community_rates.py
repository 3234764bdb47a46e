"""The compiled twin of `community_rates.rate_plainly`: weights of all users for some, in one climb and one pass each."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def fill_weights(
    leaves: NDArray[np.int64],
    parent: NDArray[np.int32],
    start: NDArray[np.int32],
    size: NDArray[np.int32],
    order: NDArray[np.int32],
    before: NDArray[np.int64],
    rated: NDArray[np.bool_],
    strength: float,
    weights: NDArray[np.float64],
) -> None:
    """Write the weights of all users for each of some leaves into its row of `weights`, which is 0 on entry.

    before: (n + 1) how many of the first places of the leaf order have ratings. The rest is as `community_weights` has it.
    """
    n = len(order)
    first, last = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    members, each = np.empty(n + 1), np.empty(n + 1)
    for row in range(len(leaves)):
        leaf = leaves[row]
        own = 1 if rated[leaf] else 0
        levels, held, node = 0, 0, leaf
        while node >= 0:
            begin, end = start[node], start[node] + size[node]
            inside = before[end] - before[begin] - own
            if inside > held:
                first[levels], last[levels], members[levels] = begin, end, inside
                levels += 1
                held = inside
            node = parent[node]
        left = 1.0
        for level in range(levels):
            trust = 1.0
            if level < levels - 1:
                trust = members[level] / (members[level] + strength / np.log(members[level + 1] / members[level]))
            each[level] = left * trust / members[level]
            left *= 1.0 - trust
        total = 0.0
        for level in range(levels - 1, -1, -1):  # a community gives its weight to all in it: ring by ring from outside
            total += each[level]
            inner_first = first[level - 1] if level > 0 else first[level]
            inner_last = last[level - 1] if level > 0 else first[level]
            for place in range(first[level], inner_first):
                weights[row, order[place]] = total
            for place in range(inner_last, last[level]):
                weights[row, order[place]] = total
        for user in range(n):
            if not rated[user]:
                weights[row, user] = 0.0
        weights[row, leaf] = 0.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def add_rates(
    indptr: NDArray[np.int32], indices: NDArray[np.int32], weights: NDArray[np.float64], rates: NDArray[np.float64]
) -> None:
    """Add each user's weight to the rates of the items that the user has.

    indptr, indices: items of user v are indices[indptr[v] : indptr[v + 1]]. weights: (n). rates: (n_items) to add to.
    """
    for user in range(len(weights)):
        weight = weights[user]
        if weight != 0.0:
            for entry in range(indptr[user], indptr[user + 1]):
                rates[indices[entry]] += weight


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def sum_holders(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    items: NDArray[np.int64],
    weights: NDArray[np.float64],
    rates: NDArray[np.float64],
) -> None:
    """Write the sum of the weights of the users who have each of some items; the same sums as `add_rates`, in the same order.

    indptr, indices: users of item i are indices[indptr[i] : indptr[i + 1]], ascending. weights: (n). rates: (m) to write to.
    """
    for place in range(len(items)):
        total = 0.0
        for entry in range(indptr[items[place]], indptr[items[place] + 1]):
            total += weights[indices[entry]]
        rates[place] = total
