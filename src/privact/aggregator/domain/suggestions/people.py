"""People for users of a released tree: the stored reports + public labels + the tree -> users whom a user may know.

It is computed from reports alone, so it costs no privacy beyond the round's. A recommender is made when it is first asked for and
again after the tree has changed. Who may be listed is read at every request: whoever opts out is gone from the next list on.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import false, or_, select, update

from privact.aggregator.domain.enrolment import check_user_id
from privact.aggregator.domain.erasure.erased_names import is_erased_name
from privact.aggregator.domain.leaf_reports import tabulate_by_leaf
from privact.aggregator.domain.refusals import WrongState
from privact.aggregator.domain.released_tree import ReleasedTree
from privact.aggregator.domain.round_evidence import own_labels
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import users
from privact.aggregator.storage.stored_reports import StoredRound, read_round
from privact.errors import UnknownUserError
from privact.protocol.bins import assign_bins
from privact.protocol.users import user_digest

if TYPE_CHECKING:
    from privact.learn.evidence.series.series_rounds import SeriesRound
    from privact.recommend.people.contact_recommender import ContactRecommender

__all__ = ["People", "find_discoverable", "set_discoverable"]

_MOST: Final = 2  # recommenders that stay in memory
_ERASED: Final = "the reports of this round are erased: people are recommended from reports alone"


class People:
    """Whom the server recommends; threads may share it.

    store, settings: of the server.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._url = settings.database_url
        self._folder = settings.data_folder
        self._lock = threading.Lock()
        self._made: OrderedDict[tuple[object, ...], ContactRecommender] = OrderedDict()

    def recommend(self, round_id: str, tree: ReleasedTree, user: str, k: int) -> dict[str, Any]:
        """The k users whom a user is likeliest to know, each with rank and a coarse reason."""
        leaf = tree.leaf(user)
        name = tree.tree.users_of(np.array([leaf], np.int32))[0]
        recommender = self._find_recommender(round_id, tree)
        found = recommender.recommend(name, k, leave_out=self._hidden_in(tree))
        return {"user": name, "people": [each._asdict() for each in found]}

    def _hidden_in(self, tree: ReleasedTree) -> list[str]:
        """Users of a tree who may not be listed: those who opted out, were removed or were erased."""
        assert tree.tree.users is not None
        with self._store.read() as connection:
            query = select(users.c.id).where(or_(users.c.discoverable.is_(false()), users.c.removed.is_not(None)))
            hidden = [name for name in connection.execute(query).scalars() if name in tree.tree.users]
        return hidden + [name for name in tree.tree.users.names() if is_erased_name(name)]

    def _find_recommender(self, round_id: str, tree: ReleasedTree) -> ContactRecommender:
        from privact.recommend.people.contact_recommender import ContactRecommender

        key = (round_id, tree.digest, tree.tree.n_users)
        with self._lock:  # one thread makes it, others wait: it takes seconds for a hundred thousand users
            if key not in self._made:
                self._made[key] = ContactRecommender(tree.tree).fit(self._read_rounds(round_id, tree))
                while len(self._made) > _MOST:
                    self._made.popitem(last=False)
            self._made.move_to_end(key)
            return self._made[key]

    def _read_rounds(self, round_id: str, tree: ReleasedTree) -> list[SeriesRound]:
        """The round of the tree; for a tree of a series all of its rounds up to that one."""
        stored = read_round(self._url, round_id)
        series = stored.round.series
        if series is None:
            return [self._read_one(stored, tree)]
        names = [f"{series.name}.{number}" for number in range(1, stored.round.series_number + 1)]
        return [self._read_one(read_round(self._url, name), tree) for name in names]

    def _read_one(self, stored: StoredRound, tree: ReleasedTree) -> SeriesRound:
        """A round with a row for each leaf; leaves without a report have what everybody reports on average."""
        from privact.learn.evidence.series.series_rounds import SeriesRound

        assert tree.tree.users is not None
        table, told = tabulate_by_leaf(self._url, stored, tree.tree, self._folder)
        if not told.any():
            raise WrongState(_ERASED)
        table[~told] = np.rint(table[told].mean(axis=0)).astype(table.dtype)
        names = tree.tree.users.names()
        return SeriesRound(table, self._find_bins(stored, names), stored.round.epsilon_report)

    def _find_bins(self, stored: StoredRound, names: list[str]) -> NDArray[np.integer[Any]]:
        labels = own_labels(self._url, stored, names)
        return assign_bins(names, stored.round.seed, stored.round.n_bins) if labels is None else labels


def find_discoverable(store: Store, digest: bytes) -> bool:
    """Whether a user may be recommended to others."""
    with store.read() as connection:
        return bool(connection.execute(select(users.c.discoverable).where(users.c.digest == digest)).scalar_one())


def set_discoverable(store: Store, user_id: str, discoverable: bool) -> str:
    """Let an enrolled user be recommended to others, or not; the normalised id.

    user_id: in any spelling.
    """
    normal = check_user_id(user_id)
    with store.write() as connection:
        enrolled = (users.c.digest == user_digest(normal)) & users.c.removed.is_(None)
        if connection.execute(update(users).where(enrolled).values(discoverable=discoverable)).rowcount == 0:
            raise UnknownUserError(f"no user {normal!r} is enrolled")
    return normal
