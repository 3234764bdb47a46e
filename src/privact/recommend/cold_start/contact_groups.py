"""What a user's own report says about taste: which groups are more frequent among the user's contacts than among others'."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError

__all__ = ["POWER", "PRIOR", "ContactGroups"]

PRIOR = 8.0
"""Number of average contacts added to those in a report, so that reports of few contacts weigh less."""

POWER = 2.0
"""How strongly groups that are frequent among contacts are preferred; 1 by as much as they are frequent."""


class ContactGroups:
    """The groups of users, and how many contacts each user seems to have in each.

    labels: (n) the public group of each user, 0 to K - 1, -1 for none: the bins of the round.
    contacts: (n, K) the posterior expectation of the number of contacts, from the reports alone (`CountPosterior.counts`).
    rated: (n) who has ratings: what is typical is taken from them.
    """

    def __init__(self, labels: ArrayLike, contacts: ArrayLike, rated: NDArray[np.bool_]) -> None:
        self.labels, self.contacts = np.asarray(labels), np.asarray(contacts, dtype=np.float64)
        n_users = len(rated)
        if self.labels.shape != (n_users,) or self.labels.dtype.kind not in "iu":
            raise InputError(
                f"groups of shape {self.labels.shape}, type {self.labels.dtype}: give {n_users} whole numbers, one a user"
            )
        if self.contacts.ndim != 2 or len(self.contacts) != n_users or not np.isfinite(self.contacts).all():
            raise InputError(f"contacts of shape {self.contacts.shape}: give a row of finite counts for each of {n_users} users")
        most = self.contacts.shape[1] - 1
        if n_users and not -1 <= self.labels.min() <= self.labels.max() <= most:
            raise InputError(
                f"groups go from {self.labels.min()} to {self.labels.max()}: by the counts they must be -1 to {most}"
            )
        self.contacts = np.maximum(self.contacts, 0.0)
        total = self.contacts[rated].sum(axis=0) + 1e-9
        self.typical: NDArray[np.float64] = total / total.sum()

    def lifts(self, rows: NDArray[np.int64], prior: float = PRIOR, power: float = POWER) -> NDArray[np.float64]:
        """(q, n) for some users, how many times more frequent each user's group is among their contacts than on average.

        1 where the report says nothing, and for users in no group.

        rows: (q) the users. prior, power: see PRIOR and POWER.
        """
        found = self.contacts[rows]
        share = (found + prior * self.typical) / (found.sum(axis=1, keepdims=True) + prior)
        lift = np.column_stack(((share / self.typical) ** power, np.ones(len(rows))))
        return np.asarray(lift[:, self.labels])  # -1 is the last column
