"""ColdStartRecommender: items for users without ratings, from the whole tree and from their own report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from privact.errors import InputError
from privact.recommend.cold_start.community_rates import STRENGTH, list_community_path, weigh_communities
from privact.recommend.cold_start.contact_groups import POWER, PRIOR, ContactGroups
from privact.recommend.cold_start.similar_reports import RIDGE, SimilarReports
from privact.recommend.data.ratings import Ratings
from privact.recommend.popularity import weigh_users_evenly
from privact.recommend.recommender import Recommender
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["CLOSE", "ColdStartRecommender", "ColdStartSettings"]

CLOSE = 12
"""Reasons refer to the smallest community with at least this number of rated members."""

DIGITS = 12
"""Decimals of a rate: those that are equal stay equal in whichever order they were summed."""

_TOGETHER = 8  # users; from this number on a matrix product is faster


@dataclass(frozen=True)
class ColdStartSettings:
    """How much a recommender believes its sources.

    strength: how strongly a community is held to the one around it (`community_rates`); infinity ignores the tree.
    prior, power: how much the groups of contacts count (`contact_groups`); power 0 ignores them.
    ridge: how strongly what users with like reports have is held to popularity (`like_reports`); infinity leaves it out.
    evenly: count a user with t ratings as 1 / sqrt(t).
    """

    strength: float = STRENGTH
    prior: float = PRIOR
    power: float = POWER
    ridge: float = RIDGE
    evenly: bool = False

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        above = self.strength > 0 and self.ridge > 0 and 0 < self.prior < np.inf
        if not above or not 0 <= self.power < np.inf:
            raise InputError(
                f"{self} cannot be: strength, prior and ridge are above 0, power is at least 0; strength, ridge may be infinite"
            )


class ColdStartRecommender(Recommender):
    """Items by how likely a user is to have them, given where the user is in the tree and what the user's own report says.

    How much another user's ratings count is the weight of `community_rates`, times how much more frequent that user's group is
    among the contacts of the user than is typical (`contact_groups`); with a report, the mean of that and of the weight of users
    with like reports (`like_reports`). A report that says nothing, in a tree that knows nothing, leaves popularity. Nothing but
    the tree, the reports and the ratings goes in, so epsilon is the round's.

    tree: whose leaves are the users. Ratings are brought into its order: users of the tree without ratings are served, ratings of
        users who are not in the tree are left out.
    ratings: learned from at once, if given; else call `fit`.
    groups: (n) the public group of each leaf, -1 for none: the labels of the round's bins. Needs contacts.
    contacts: (n, K) expected number of contacts in each group, from the reports (`CountPosterior.counts`).
    settings: how much each source is believed.

    >>> from privact.tree.hct import HierarchicalClusterTree
    >>> tree = HierarchicalClusterTree.from_nested((("ann", "bob"), ("cat", "dan")))
    >>> ratings = Ratings.from_frame({"user": ["bob", "cat", "dan"], "item": ["waltz", "tango", "tango"], "rating": [1, 1, 1]})
    >>> settings = ColdStartSettings(strength=0.1)
    >>> [found.item for found in ColdStartRecommender(tree, ratings, settings=settings).recommend("ann", 2)]
    ['waltz', 'tango']
    """

    def __init__(
        self,
        tree: HierarchicalClusterTree,
        ratings: Ratings | None = None,
        *,
        groups: ArrayLike | None = None,
        contacts: ArrayLike | None = None,
        settings: ColdStartSettings | None = None,
        verb: str = "rated",
    ) -> None:
        if (groups is None) != (contacts is None):
            raise InputError(
                "groups and contacts belong together: give the labels of the bins and the counts in them, or neither"
            )
        self.tree = tree
        self.groups = groups
        self.contacts = contacts
        self.settings = settings or ColdStartSettings()
        self.verb = verb
        if ratings is not None:
            self.fit(ratings)

    def fit(self, ratings: Ratings) -> ColdStartRecommender:
        """Learn from ratings, in the order of the tree's leaves."""
        users = tuple(self.tree.users) if self.tree.users is not None else tuple(map(str, range(self.tree.n_users)))
        return super().fit(ratings if ratings.users == users else ratings.for_users(users))

    def weights(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, n) how much each user's ratings count for some users; a user's own do not."""
        return self.blended(weigh_communities(self.tree, rows, self._rated, self.settings.strength), rows, self.settings)

    def blended(
        self, community: NDArray[np.float64], rows: NDArray[np.int64], settings: ColdStartSettings
    ) -> NDArray[np.float64]:
        """(q, n) the weights of the tree with what the report says and with how evenly users count.

        community: (q, n) `community_weights` of the rows with the strength of the settings.
        """
        voices = self._voices[settings.evenly]
        if self._report is None:
            return _shares(community * voices)
        lifts = self._report.lifts(rows, settings.prior, settings.power) if settings.power else 1.0
        near = _shares(community * voices * lifts)
        if np.isinf(settings.ridge):
            return near
        alike = self._alike.weights(rows, voices, settings.ridge)
        alike[np.arange(len(rows)), rows] = 0.0  # a user's own weight is 0
        return (near + alike) / 2.0

    def scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, n_items) the rate of each item among users like these."""
        return weighted_rates(self.weights(rows), self.ratings)

    def rate_items(self, row: int, items: NDArray[np.int64]) -> NDArray[np.float64]:
        """(m) the scores of some items for one user: what `scores` has for them, from their own ratings alone.

        items: (m) item numbers, each with ratings.
        """
        from privact.recommend.cold_start._community_rates import sum_holders

        rates = np.empty(len(items))
        sum_holders(self._columns.indptr, self._columns.indices, items, self.weights(np.array([row]))[0], rates)
        return np.round(rates, DIGITS)

    def find_close_items(self, row: int, minimum: int) -> NDArray[np.int64]:
        """The items that at least `minimum` users of a user's close community have, in ascending order.

        The close community is the smallest one with at least CLOSE members who have ratings; there is none if only everybody is
        large enough.
        """
        nodes, members = list_community_path(self.tree, row, self._before, bool(self._rated[row]))
        fit = np.flatnonzero(members >= CLOSE)
        if not len(fit) or fit[0] >= len(nodes) - 1:
            return np.empty(0, np.int64)
        start, size = int(self.tree.start[nodes[fit[0]]]), int(self.tree.size[nodes[fit[0]]])
        matrix = self.ratings.matrix
        held = [matrix.indices[matrix.indptr[user] : matrix.indptr[user + 1]] for user in self.tree.order[start : start + size]]
        items, counts = np.unique(np.concatenate(held), return_counts=True)
        return items[counts >= minimum].astype(np.int64)

    def _learn(self, ratings: Ratings) -> None:
        self._rated = ratings.activity > 0
        self._before = np.append(0, np.cumsum(self._rated[self.tree.order]))
        self._voices = {False: self._rated.astype(np.float64), True: self._rated * weigh_users_evenly(ratings)}
        self._report = None
        if self.groups is not None and self.contacts is not None:
            self._report = ContactGroups(self.groups, self.contacts, self._rated)
            self._alike = SimilarReports(self._report.contacts, self._rated)

    def _similar(self, row: int, m: int) -> list[tuple[int, float]]:
        weights = self.weights(np.array([row]))[0]
        best = np.lexsort((np.arange(len(weights)), -weights))[:m]
        return [(int(other), float(weights[other])) for other in best if weights[other] > 0]

    def _reason(self, row: int, item: int) -> str:
        nodes, members = list_community_path(self.tree, row, self._before, bool(self._rated[row]))
        having = np.append(0, np.cumsum(self._having(item)[self.tree.order]))
        start = self.tree.start[nodes].astype(np.int64)
        counts = having[start + self.tree.size[nodes]] - having[start]
        fit = np.flatnonzero((members >= min(CLOSE, members[-1])) & (counts > 0)) if len(nodes) else nodes
        if not len(fit) or fit[0] == len(nodes) - 1:
            return super()._reason(row, item)
        return f"{counts[fit[0]]:,} of {int(members[fit[0]]):,} in your close community {self.verb} this"

    def _having(self, item: int) -> NDArray[np.bool_]:
        """(n) who rated an item."""
        having = np.zeros(self.ratings.n_users, dtype=bool)
        columns = self._columns
        having[columns.indices[columns.indptr[item] : columns.indptr[item + 1]]] = True
        return having

    @property
    def _columns(self) -> Any:
        """Who rated each item, by item; users ascending."""
        if self._by_item is None or self._by_item[0] is not self.ratings:
            held = self.ratings.matrix
            pattern = csr_array((np.ones(held.nnz, np.int8), held.indices, held.indptr), shape=held.shape)
            self._by_item = (self.ratings, pattern.tocsc())
        return self._by_item[1]

    _by_item: tuple[Ratings, Any] | None = None


def _shares(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same weights with rows that sum to 1, unless all are 0."""
    total = weights.sum(axis=1, keepdims=True)
    return np.asarray(weights / np.where(total > 0, total, 1.0))


def weighted_rates(weights: NDArray[np.float64], ratings: Ratings) -> NDArray[np.float64]:
    """(q, n_items) for each row of weights over users, the weighted share of users who have each item.

    Items without ratings get minus infinity: they are not listed. Rates are rounded, so that those that are equal stay equal
    in whichever order they were summed.
    """
    from privact.recommend.cold_start._community_rates import add_rates

    if len(weights) < _TOGETHER:
        rates = np.zeros((len(weights), ratings.n_items))
        for row, each in zip(weights, rates, strict=True):
            add_rates(ratings.matrix.indptr, ratings.matrix.indices, row, each)
    else:
        rates = np.asarray((ratings.binary.T @ weights.T).T)
    rates = np.round(rates, DIGITS)
    rates[:, ratings.counts == 0] = -np.inf
    return rates
