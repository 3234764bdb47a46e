"""How good ranked lists are: NDCG@k and MAP@k of the paper's appendix, for many users at once.

Relevance is binary. Of user u with R hidden items, r_i says whether the item at rank i is hidden, p_i is the share of hidden
items among the first i:

    DCG_k  = sum over i <= k of r_i / log2(i + 1),   NDCG_k = DCG_k / the DCG_k of a list that starts with hidden items
    AP_k   = (1 / N) sum over i <= k of p_i r_i,     N = min(R, k)

The appendix does not say what N is. With N = min(R, k), as in the implementation that the paper used, a perfect list has AP 1;
trec_eval has N = R, which is the same for users with at most k hidden items. The appendix then writes MAP_k as a mean of AP_i
over the cut-offs i of one list; everywhere else MAP is the mean of AP_k over users, and so it is here. The other reading is
`mean_over_cutoffs`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from privact.errors import InputError

__all__ = ["CUTOFF", "Scores", "average_over_cutoffs", "mark_hits", "score"]

CUTOFF = 100
"""The k of the paper's tables."""


@dataclass(frozen=True, eq=False)
class Scores:
    """How good the lists of some users are.

    ndcg: (q) normalised discounted cumulative gain of each list.
    average_precision: (q) average precision of each list; its mean is MAP.
    """

    ndcg: NDArray[np.float64]
    average_precision: NDArray[np.float64]

    @property
    def mean_ndcg(self) -> float:
        """NDCG@k: the mean over users."""
        return float(self.ndcg.mean())

    @property
    def mean_average_precision(self) -> float:
        """MAP@k: the mean over users."""
        return float(self.average_precision.mean())


def score(ranked: NDArray[np.integer], relevant: csr_array) -> Scores:
    """NDCG@k and average precision of each user's list, k the length of the lists.

    ranked: (q, k) item numbers, best first, each at most once; -1 where a list has ended.
    relevant: (q, n_items) the hidden ratings of the same users; everyone has at least one.

    Without users there is no mean: that is refused.
    """
    hits = mark_hits(ranked, relevant)
    k = hits.shape[1]
    total = np.minimum(np.diff(relevant.indptr), k)
    discount = 1.0 / np.log2(np.arange(2, k + 2))
    ideal = np.append(0.0, np.cumsum(discount))[total]
    precision = np.cumsum(hits, axis=1) / np.arange(1, k + 1)
    return Scores((hits * discount).sum(axis=1) / ideal, (precision * hits).sum(axis=1) / total)


def average_over_cutoffs(ranked: NDArray[np.integer], relevant: csr_array) -> NDArray[np.float64]:
    """(q) the appendix's MAP_k by the letter: the mean of AP_1 to AP_k of one list, with N the number of hidden items."""
    hits = mark_hits(ranked, relevant)
    k = hits.shape[1]
    precision = np.cumsum(hits, axis=1) / np.arange(1, k + 1)
    total = np.diff(relevant.indptr)
    return np.asarray(np.cumsum(precision * hits, axis=1).mean(axis=1) / total)


def mark_hits(ranked: NDArray[np.integer], relevant: csr_array) -> NDArray[np.bool_]:
    """(q, k) whether each listed item is among the hidden ones."""
    listed = np.asarray(ranked, dtype=np.int64)
    n_lists, n_items = relevant.shape
    if not n_lists:
        raise InputError("there are 0 users to judge: give the lists of at least one")
    if listed.ndim != 2 or len(listed) != n_lists or not listed.shape[1]:
        raise InputError(f"lists of shape {listed.shape} for {n_lists} users: give one list of at least one item a user")
    held = np.diff(relevant.indptr)
    if not held.all():
        raise InputError(f"user {int(np.argmin(held))} has no hidden rating: judge only users who have one")
    if listed.max() >= n_items or listed.min() < -1:
        raise InputError(f"items go from {listed.min()} to {listed.max()}: they must be 0 to {n_items - 1}, or -1 for none")
    start = np.arange(n_lists, dtype=np.int64)[:, None] * (n_items + 1)  # item -1 falls on a place that nothing has
    wanted = listed + start + 1
    known = relevant.indices + 1 + np.repeat(start[:, 0], held)
    known = known if relevant.has_sorted_indices else np.sort(known)
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.asarray(known[place] == wanted)
