"""ContactRecommender: users whom a user may know, from the reports of a round or a series and the tree."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, Protocol, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError, NotFittedError
from privact.ids import UserId
from privact.learn.evidence.series.series_rounds import SeriesRound
from privact.recommend.cores import run_on_all_cores, split_into_blocks
from privact.recommend.data.ratings import Ratings
from privact.recommend.people.contact_affinity import ContactAffinity
from privact.recommend.people.round_affinity import fit_round
from privact.recommend.people.series_affinity import fit_series
from privact.recommend.ranking import NOTHING, find_best_items
from privact.recommend.recommender import User
from privact.recommend.taste_groups import make_taste_vectors
from privact.tree.ancestry import find_close
from privact.tree.counts import check_count
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["ContactRecommender", "PersonRecommendation", "ReportedRound"]

CLOSE = 50
"""About how many users the close community has that reasons refer to."""

OFTEN = 1.5
"""From how many times chance on a user's circle is said to be in somebody's group."""

CONNECTED = 0.9
"""Users with more contacts than this share of all users are said to know many people."""


DIGITS = 8
"""Decimals of a score that count: scores that are equal stay equal in whichever order they were summed."""


class ReportedRound(Protocol):
    """A round as a recommender reads it: a `SeriesRound`, or one of the `rounds_` of a fitted PrivaCT."""

    @property
    def reports(self) -> NDArray[np.integer[Any]]:
        """(n, K) what devices sent."""

    @property
    def bins(self) -> NDArray[np.integer[Any]] | None:
        """(n,) public bin of each user, -1 for none; None where it is not known."""

    @property
    def epsilon_report(self) -> float | None:
        """The privacy parameter of one report; None without noise."""


class PersonRecommendation(NamedTuple):
    """Somebody whom a user may know. There is no score: see docs/attack-model.md.

    rank: 1 for the likeliest. user: the id. reason: why, in words without numbers.
    """

    rank: int
    user: UserId
    reason: str


class ContactRecommender:
    """Lists users whom a user may know. It reads reports, public groups and the tree: no contact, and no further epsilon.

    Users are ranked by how likely they are to be contacts (`contact_affinity`); of equally likely ones those nearer in the
    tree's order of leaves come first. How much groups count against the number of contacts is estimated from the reports.

    tree: whose leaves are the users.
    discoverable: (n) whether each user may be recommended to others; all unless given. Users who may not are listed to nobody
        and still get recommendations.

    >>> from privact import PrivaCT
    >>> from privact.simulate.known_graphs import make_cliques
    >>> model = PrivaCT(epsilon=None, bins=[0, 0, 0, 0, 1, 1, 1, 1], random_state=1).fit(make_cliques([4, 4]).graph)
    >>> people = ContactRecommender(model.tree_).fit(model.rounds_)
    >>> sorted(found.user for found in people.recommend(0, 3))
    [1, 2, 3]
    """

    def __init__(self, tree: HierarchicalClusterTree, *, discoverable: ArrayLike | None = None) -> None:
        self.tree = tree
        n = tree.n_users
        listed = np.ones(n, dtype=bool) if discoverable is None else np.asarray(discoverable)
        if listed.shape != (n,) or listed.dtype != np.bool_:
            raise InputError(
                f"discoverable has shape {listed.shape} and type {listed.dtype}: give True or False for each of {n} users"
            )
        self.discoverable: NDArray[np.bool_] = listed
        self._affinity: ContactAffinity | None = None

    def fit(self, rounds: Sequence[ReportedRound], ratings: Ratings | None = None) -> Self:
        """Learn from the reports of one round, or of all rounds of a series; what was learned before is forgotten.

        rounds: in the order they were played. Row i of the reports and bins is leaf i of the tree.
        ratings: what the service holds about its users. With one round over public groups, users are also compared by taste
            circles (`taste_circles`), as much as the reports bear it out. A series finds its groups itself and takes none.
        """
        if not rounds:
            raise InputError("there are no rounds: give the reports of at least one")
        for each in rounds:
            lengths = {len(each.reports), len(each.reports) if each.bins is None else len(each.bins)}
            if lengths != {self.tree.n_users}:
                raise InputError(
                    f"a round has reports or bins of {max(lengths)} users, the tree {self.tree.n_users}: give a row for each leaf"
                )
        played = [SeriesRound(each.reports, each.bins, each.epsilon_report) for each in rounds]
        if len(played) > 1:
            if ratings is not None:
                raise InputError(f"ratings with a series of {len(played)} rounds: give them with one round over public groups")
            self._affinity = fit_series(played)
        else:
            self._affinity = fit_round(played[0], None if ratings is None else self._find_tastes(ratings))
        self._many = float(np.quantile(self._affinity.contacts, CONNECTED))
        return self

    def _find_tastes(self, ratings: Ratings) -> NDArray[np.float64]:
        """(n, f) the taste of each leaf."""
        users = tuple(self.tree.users) if self.tree.users is not None else tuple(map(str, range(self.tree.n_users)))
        return make_taste_vectors(ratings if ratings.users == users else ratings.for_users(users), 0)

    @property
    def affinity(self) -> ContactAffinity:
        """What was learned."""
        if self._affinity is None:
            raise NotFittedError("this ContactRecommender has learned nothing yet: call fit(rounds) first")
        return self._affinity

    @overload
    def recommend(  # type: ignore[overload-overlap]
        self, users: User, k: int = ..., leave_out: Collection[User] = ...
    ) -> list[PersonRecommendation]: ...
    @overload
    def recommend(
        self, users: Sequence[User], k: int = ..., leave_out: Collection[User] = ...
    ) -> list[list[PersonRecommendation]]: ...
    def recommend(
        self, users: User | Sequence[User], k: int = 10, leave_out: Collection[User] = ()
    ) -> list[PersonRecommendation] | list[list[PersonRecommendation]]:
        """The k users whom a user is likeliest to know, likeliest first; for a sequence of users a list each.

        users: an id or a leaf, or several.
        k: how many; fewer come back if fewer are discoverable.
        leave_out: users who are not listed, such as the contacts that a device knows.
        """
        k = min(check_count("k", k), self.tree.n_users)
        hidden = np.array([self.tree.leaf_of(user) for user in leave_out], np.int64)
        if isinstance(users, str | int | np.integer):
            return self._list(self.tree.leaf_of(users), k, hidden)
        return [self._list(self.tree.leaf_of(user), k, hidden) for user in users]

    def rank(self, rows: NDArray[np.int64], k: int, known: Any | None = None) -> NDArray[np.int64]:
        """(q, k) leaves of the likeliest contacts of some users, likeliest first; -1 where a list has ended.

        rows: (q) leaves. known: (n, n) SciPy sparse matrix of users who are not listed to each other, as devices leave out
            the contacts they know.
        """
        batches = [rows[part] for part in split_into_blocks(len(rows), self.tree.n_users)]

        def find(some: NDArray[np.int64]) -> NDArray[np.int64]:
            scores = self._allowed_scores(some)
            if known is not None:
                mine = known[some]
                scores[np.repeat(np.arange(len(some)), np.diff(mine.indptr)), mine.indices] = -np.inf
            return find_best_items(scores, k)

        return np.concatenate([np.empty((0, k), np.int64), *run_on_all_cores(find, batches)])

    def _allowed_scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        place = self.tree.start[: self.tree.n_users].astype(np.int64)
        distance = np.abs(place[rows, None] - place) / self.tree.n_users
        scores = np.round(self.affinity.scores(rows), DIGITS)
        scores -= distance * 10.0 ** -(DIGITS + 1)  # decides between equal scores only
        scores[:, ~self.discoverable] = -np.inf
        scores[np.arange(len(rows)), rows] = -np.inf
        return scores

    def _list(self, row: int, k: int, hidden: NDArray[np.int64]) -> list[PersonRecommendation]:
        rows = np.array([row])
        scores = self._allowed_scores(rows)
        scores[0, hidden] = -np.inf
        best = find_best_items(scores, k)[0]
        best = best[best != NOTHING]
        names = list(self.tree.users_of(best.astype(np.int32)))
        return [PersonRecommendation(i + 1, names[i], reason) for i, reason in enumerate(self._reasons(row, best))]

    def _reasons(self, row: int, others: NDArray[np.int64]) -> list[str]:
        node = find_close(self.tree, row, min(CLOSE, self.tree.n_users))
        first, size = int(self.tree.start[node]), int(self.tree.size[node])
        place = self.tree.start[others].astype(np.int64) - first
        close = (place >= 0) & (place < size) & (size < self.tree.n_users)
        often = self.affinity.lift_of(row, others) >= OFTEN
        many = self.affinity.contacts[others] > self._many
        return [_explain(*flags) for flags in zip(close.tolist(), often.tolist(), many.tolist(), strict=True)]


def _explain(close: bool, often: bool, many: bool) -> str:
    """The reason in words."""
    if close and often:
        return "in your close community, and many in your circle are in the same group"
    if close:
        return "in your close community"
    if often:
        return "many in your circle are in the same group"
    return "knows many people here" if many else "a little more likely than others"
