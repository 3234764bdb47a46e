"""A network with a fifth of its contacts hidden from all devices, and how many of them a list finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from privact.network.graph import ContactGraph
from privact.recommend.data.metrics import mark_hits, score

__all__ = ["LENGTH", "SHORT", "HiddenContacts", "hide_contacts"]

SHARE = 0.2
"""The share of contacts that are hidden."""

SHORT, LENGTH = 20, 100
"""How many users short and long lists have."""


@dataclass(frozen=True, eq=False)
class HiddenContacts:
    """What devices know, and what they do not.

    graph: the contacts that devices know. known, hidden: (n, n) both kinds of contacts as symmetric matrices.
    users: the users who have hidden contacts.
    """

    graph: ContactGraph
    known: csr_array
    hidden: csr_array
    users: NDArray[np.int64]

    def judge(self, ranked: NDArray[np.integer[Any]]) -> dict[str, float]:
        """NDCG@20, and recall at 20 and 100: the share of a user's hidden contacts that are listed; means over users.

        ranked: (q, LENGTH) a list for each of `users`, -1 where it has ended.
        """
        wanted = self.hidden[self.users]
        hits = mark_hits(ranked, wanted)
        many = np.diff(wanted.indptr)
        return {
            "ndcg": score(ranked[:, :SHORT], wanted).mean_ndcg,
            "map": score(ranked[:, :SHORT], wanted).mean_average_precision,
            "recall_20": float((hits[:, :SHORT].sum(axis=1) / many).mean()),
            "recall_100": float((hits.sum(axis=1) / many).mean()),
        }


def hide_contacts(graph: ContactGraph, rng: np.random.Generator) -> HiddenContacts:
    """Hide a fifth of all contacts, drawn at random, from both ends."""
    edges = graph.edges()
    out = rng.random(len(edges)) < SHARE
    known, hidden = (_as_matrix(some, graph.n_users) for some in (edges[~out], edges[out]))
    return HiddenContacts(ContactGraph.from_rows(edges[~out], graph.users), known, hidden, np.flatnonzero(np.diff(hidden.indptr)))


def _as_matrix(edges: NDArray[np.int64], n_users: int) -> csr_array:
    both = np.vstack([edges, edges[:, ::-1]])
    return csr_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(n_users, n_users))
