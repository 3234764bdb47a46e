"""How likely two users are contacts, from reports alone.

    log-odds(u, v) = log(member_u . lift . member_v) + own_u(group of v) + reach_v(group of u) + what depends on u alone

Every part is an expectation given the reports, so each counts as much as the reports support and none has a weight that somebody
chose: where groups have nothing to do with contacts the lifts are 1, and the order is that of the number of contacts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ContactAffinity", "rank_by_contacts"]


@dataclass(frozen=True, eq=False)
class ContactAffinity:
    """What the reports of a round or a series say about who may know whom.

    contacts: (n,) expected number of contacts.
    member: (n, G) probability of each group, dense or SciPy sparse.
    lift: (G, G) how many times more contacts two groups have than chance gives.
    group: (n,) public group of each user in the last round, -1 for none.
    own: (n, K) logarithm of how many times the contacts in each public group that others like the user have.
    reach: (n, K) logarithm of the expected product of that and of the number of contacts.
    """

    contacts: NDArray[np.float64]
    member: Any
    lift: NDArray[np.float64]
    group: NDArray[np.int64]
    own: NDArray[np.float32]
    reach: NDArray[np.float32]

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return len(self.contacts)

    def scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, n) log-odds of being contacts of some users, up to a constant of each row."""
        between = np.log((self.member[rows] @ self.lift) @ self.member.T)
        own = np.column_stack([self.own[rows], np.zeros(len(rows), np.float32)])  # -1, no group, is the last column
        reach = np.column_stack([self.reach, np.log(self.contacts)])
        return np.asarray(between + own[:, self.group] + reach[:, self.group[rows]].T)

    def lift_of(self, row: int, others: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """(m,) how many times more likely than chance a user's contacts are in the groups of some others."""
        own = np.append(self.own[row], np.float32(0.0))
        between = (self.member[[row]] @ self.lift) @ self.member[others].T
        return np.asarray(between[0] * np.exp(own[self.group[others]]))


def rank_by_contacts(contacts: NDArray[np.float64]) -> ContactAffinity:
    """The affinity of users about whom only the number of contacts is known: the best connected come first."""
    n = len(contacts)
    own, reach = np.zeros((n, 1), np.float32), np.log(contacts)[:, None].astype(np.float32)
    return ContactAffinity(contacts, np.ones((n, 1), np.float32), np.ones((1, 1)), np.full(n, -1), own, reach)
