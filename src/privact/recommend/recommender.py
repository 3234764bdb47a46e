"""Recommender: the one shape of everything that recommends. Ratings in, ranked items with a reason out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from privact.errors import NotFittedError
from privact.recommend.cores import run_on_all_cores, split_into_blocks
from privact.recommend.data.ratings import Ratings
from privact.recommend.ranking import NOTHING, find_best_items
from privact.tree.counts import check_count

__all__ = ["Recommendation", "Recommender", "SimilarUser", "User"]

User: TypeAlias = "str | int"


@dataclass(frozen=True)
class Recommendation:
    """An item for a user.

    item: its id. score: how well it suits, comparable within one list. reason: why, in words for the user.
    """

    item: str
    score: float
    reason: str


@dataclass(frozen=True)
class SimilarUser:
    """Another user from whom recommendations come.

    user: the id. weight: how much that user's ratings count, comparable within one list.
    """

    user: str
    weight: float


class Recommender(ABC):
    """Learns from ratings, then lists items for users.

    A subclass says how well each item suits each user (`scores`), who is like whom (`_similar`) and why an item is listed
    (`_reason`). Users are named by their ids in the ratings. Users whom the ratings do not know raise UnknownUserError; users
    without ratings are served; items that a user rated are not listed again, so a list may be shorter than asked, or empty.

    verb: what users do with items, for the reason: "rated", "played", "bookmarked".
    """

    verb: str = "rated"
    _ratings: Ratings | None = None

    def fit(self, ratings: Ratings) -> Self:
        """Learn from ratings; what was learned before is forgotten."""
        self._learn(ratings)
        self._ratings = ratings
        return self

    @property
    def ratings(self) -> Ratings:
        """What was learned from."""
        if self._ratings is None:
            raise NotFittedError(f"this {type(self).__name__} has learned nothing yet: call fit(ratings) first")
        return self._ratings

    @overload
    def recommend(self, users: User, k: int = ...) -> list[Recommendation]: ...  # type: ignore[overload-overlap]
    @overload
    def recommend(self, users: Sequence[User], k: int = ...) -> list[list[Recommendation]]: ...
    def recommend(self, users: User | Sequence[User], k: int = 10) -> list[Recommendation] | list[list[Recommendation]]:
        """The k best items for a user, best first; for a sequence of users a list each.

        users: an id, or several.
        k: how many; fewer come back if there are no more that the user has not rated.
        """
        ratings, k = self.ratings, check_count("k", k)
        if isinstance(users, str | int | np.integer):
            return self._list(np.array([ratings.row(users)]), k)[0]
        return self._list(np.array([ratings.row(user) for user in users], np.int64), k)

    def rank(self, rows: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        """(q, k) the best items of some users by number, as experiments take them; -1 where a list has ended.

        rows: (q) row numbers of the users.
        """
        batches = [rows[part] for part in split_into_blocks(len(rows), max(self.ratings.n_items, self.ratings.n_users))]
        listed = run_on_all_cores(lambda some: find_best_items(self.unrated_scores(some), k), batches)
        return np.concatenate([np.empty((0, k), np.int64), *listed])

    def similar_users(self, user: User, m: int = 10) -> list[SimilarUser]:
        """The m users whose ratings count most for a user; none where a method knows of none.

        m: how many; fewer come back if fewer count at all.
        """
        row = self.ratings.row(user)
        return [SimilarUser(self.ratings.users[other], weight) for other, weight in self._similar(row, check_count("m", m))]

    @abstractmethod
    def scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, n_items) how well each item suits some users, in a new array; more is better."""

    @abstractmethod
    def _learn(self, ratings: Ratings) -> None:
        """Learn from ratings."""

    def _similar(self, row: int, m: int) -> list[tuple[int, float]]:
        """At most m rows of similar users with their weights, most similar first."""
        return []

    def _reason(self, row: int, item: int) -> str:
        """Why an item is listed."""
        who = int(np.count_nonzero(self.ratings.activity))
        return f"{self.ratings.counts[item]:,} of {who:,} users {self.verb} this"

    def unrated_scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(q, n_items) scores with minus infinity for what a user already rated."""
        scores = self.scores(rows)
        rated = self.ratings.matrix[rows]
        scores[np.repeat(np.arange(len(rows)), np.diff(rated.indptr)), rated.indices] = -np.inf
        return scores

    def _list(self, rows: NDArray[np.int64], k: int) -> list[list[Recommendation]]:
        found = []
        for row in rows:
            scores = self.unrated_scores(np.array([row]))
            items = find_best_items(scores, min(k, self.ratings.n_items))[0]
            found.append(
                [
                    Recommendation(self.ratings.items[item], float(scores[0, item]), self._reason(int(row), int(item)))
                    for item in items
                    if item != NOTHING
                ]
            )
        return found
