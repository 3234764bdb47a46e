"""Recommendations for users of a released tree: the operator's ratings + the tree + a user's own report -> items with reasons.

Ratings are not protected by rounds: they are what a service holds already. They lie in one file of the data folder, as they were
uploaded. A recommender is made when it is first asked for, and again after the ratings or the tree have changed, in a thread of
its own; meanwhile users get what the one before recommends, and whom it does not know is told to ask again. Users see ranks and
coarse reasons (`recommend.cold_start.coarse_lists`).
"""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from privact.aggregator.domain.leaf_reports import stream_by_leaf
from privact.aggregator.domain.refusals import WrongState
from privact.aggregator.domain.released_tree import ReleasedTree
from privact.aggregator.domain.round_evidence import evidence_of
from privact.aggregator.domain.suggestions.rating_file import find_rating_file, list_rating_files, read_rating_file
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import label_tables, users
from privact.aggregator.storage.shared_files import change_files, share_file
from privact.aggregator.storage.stored_reports import read_round
from privact.errors import InputError
from privact.learn.evidence.profiles import DEFAULT_PROFILE
from privact.protocol.labels import LabelTable
from privact.storage import write_whole

if TYPE_CHECKING:
    from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender, ColdStartSettings
    from privact.recommend.data.ratings import Ratings

__all__ = ["LONGEST", "Recommendations"]

LONGEST: Final = 256 * 2**20
"""Longest upload of ratings, in bytes."""

_MOST: Final = 2  # recommenders that stay in memory
_PATIENCE: Final = 2.0  # seconds that the request which starts a new recommender waits for it before it takes the older one
_LONGEST_WAIT: Final = 30.0  # seconds that a request waits if there is no older one
_SMALL: Final = 5_000  # users; a recommender of more takes longer than anybody should wait who can have the older one
_NICER: Final = 10  # requests to the server go first
_SHOWN: Final = 5  # most rated items in a description
_PARQUET: Final = b"PAR1"
_NOBODY: Final = "the ratings have no user of this tree: the operator has to upload ratings of its users"


class Recommendations:
    """What the server recommends; threads may share it.

    store, settings: of the server.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._folder = settings.ratings_folder
        self._url = settings.database_url
        self._releases = settings.releases_folder
        self._verb = settings.ratings_verb
        self._minimum_holders = settings.minimum_holders
        self._lock = threading.Lock()  # of the tables below; nothing slow happens under it
        self._reading = threading.Lock()
        self._waiting = threading.BoundedSemaphore(max(1, settings.public_workers - 1))  # who waits holds one of these threads
        self._latest: dict[str, ColdStartRecommender] = {}
        self._making: dict[object, Future[ColdStartRecommender]] = {}
        self._chosen: OrderedDict[object, ColdStartSettings] = OrderedDict()
        self._made: OrderedDict[tuple[object, ...], ColdStartRecommender] = OrderedDict()
        self._ratings: tuple[object, Ratings] | None = None
        self._measured: dict[object, dict[str, Any]] = {}

    def describe(self) -> dict[str, Any]:
        """What was understood of the ratings that are here: how many, the most rated items, and who is not enrolled."""
        file = self._find_file()
        return self._describe(self._read_ratings(file, _version(file))) | {"uploaded_at": int(file.stat().st_mtime)}

    def delete(self) -> None:
        """Delete the ratings; nothing is recommended from then on."""
        with change_files(self._store):
            for path in list_rating_files(self._folder):
                path.unlink(missing_ok=True)
            self._share()

    def make_taste_labels(self, n_groups: int) -> bytes:
        """Labels for a round: users who rated alike, in groups; lines `user,label`. They come from ratings alone."""
        from privact.protocol.label_files import format_labels
        from privact.recommend.taste_groups import find_taste_groups

        file = self._find_file()
        ratings = self._read_ratings(file, _version(file))
        groups = find_taste_groups(ratings, n_groups, 0)
        digits = len(str(groups.n_groups))
        names = {user: f"taste-{group + 1:0{digits}}" for user, group in groups.as_labels(ratings.users).items()}
        return format_labels(names)

    def upload(self, body: bytes, *, preview: bool = False) -> dict[str, Any]:
        """Replace the ratings; refused ones change nothing.

        body: a CSV, TSV or Parquet file of user, item and rating; see `recommend.read_ratings`.
        preview: only say what would be understood.
        """
        self._folder.mkdir(mode=0o700, exist_ok=True)
        name = "ratings.parquet" if body.startswith(_PARQUET) else "ratings.csv"
        draft = self._folder / f"draft-{threading.get_ident()}-{name}"
        try:
            draft.write_bytes(body)
            ratings = read_rating_file(draft)
            if preview:
                return self._describe(ratings)
            with change_files(self._store):
                with write_whole(self._folder / name) as file:
                    file.write(body)
                for other in {"ratings.parquet", "ratings.csv"} - {name}:
                    (self._folder / other).unlink(missing_ok=True)
                self._share()
        except InputError as error:
            raise InputError(str(error).removeprefix(f"{draft}: ")) from None
        finally:
            draft.unlink(missing_ok=True)
        return self._describe(ratings)

    def _share(self) -> None:
        """Let other servers on the same database have the ratings that are here."""
        with self._store.write() as connection:
            for path in list_rating_files(self._folder):
                share_file(self._store, connection, self._folder.parent, path)

    def _describe(self, ratings: Ratings) -> dict[str, Any]:
        with self._store.read() as connection:
            known = connection.execute(select(users.c.id).where(users.c.removed.is_(None))).scalars()
            n_enrolled = len(set(known).intersection(ratings.users))
        best = np.argsort(-ratings.counts, kind="stable")[:_SHOWN].tolist()
        popular = [{"item": str(ratings.items[item]), "users": int(ratings.counts[item])} for item in best]
        return {
            "users": ratings.n_users,
            "items": ratings.n_items,
            "ratings": ratings.n_ratings,
            "enrolled": n_enrolled,
            "popular": popular,
        }

    def _find_file(self) -> Path:
        """The file of ratings; refused while there is none."""
        file = find_rating_file(self._folder)
        if file is None:
            raise WrongState("there are no ratings on this server: the operator can upload some")
        return file

    def measure(self, round_id: str, tree: ReleasedTree) -> dict[str, Any]:
        """How good recommendations are beside the most popular items, for users whose own ratings are hidden in turn."""
        from privact.recommend.cold_start.comparison import compare_with_popularity

        version = _version(self._find_file())
        key = (round_id, tree.digest, version)
        with self._lock:
            kept = self._measured.get(key)
        if kept is None:
            recommender = self._find_recommender(round_id, tree, "")
            kept = compare_with_popularity(recommender)._asdict()
            with self._lock:
                self._measured = {key: kept}
        return {"round": round_id} | kept

    def recommend(self, round_id: str, tree: ReleasedTree, user: str, k: int) -> dict[str, Any]:
        """The k best items for a user of a released tree, each with its rank and a coarse reason."""
        from privact.recommend.cold_start.coarse_lists import list_coarsely

        name = str(tree.tree.users_of(np.array([tree.leaf(user)], np.int32))[0])
        recommender = self._find_recommender(round_id, tree, name)
        listed = list_coarsely(recommender, name, k, self._minimum_holders)
        return {"user": name, "items": [found._asdict() for found in listed]}

    def _find_recommender(self, round_id: str, tree: ReleasedTree, name: str) -> ColdStartRecommender:
        """The recommender of a tree and the ratings of now, or the one before while a thread makes it."""
        file = self._find_file()
        version = _version(file)
        key = (round_id, tree.digest, tree.tree.n_users, version)
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
            older = self._latest.get(round_id)
            making = self._making.get(key)
            if starts := making is None:
                making = self._making[key] = Future()
        assert making is not None
        if starts:
            work = (making, key, round_id, tree, file, version)
            threading.Thread(target=self._make_aside, args=work, daemon=True, name="recommender").start()
        if older is not None and older.tree.users is not None and name in older.tree.users:
            small = starts and tree.tree.n_users <= _SMALL
            return self._wait(making, _PATIENCE if small else 0.0) or older
        made = self._wait(making, _LONGEST_WAIT)
        if made is None:
            raise WrongState("recommendations are being prepared: ask again soon", retry_after=5)
        return made

    def _wait(self, making: Future[ColdStartRecommender], seconds: float) -> ColdStartRecommender | None:
        """What is being made, if it is ready in time and not too many wait for something already; else None."""
        if making.done() or not self._waiting.acquire(blocking=False):
            return making.result() if making.done() else None
        try:
            return making.result(seconds)
        except TimeoutError:
            return None
        finally:
            self._waiting.release()

    def _make_aside(
        self,
        making: Future[ColdStartRecommender],
        key: tuple[object, ...],
        round_id: str,
        tree: ReleasedTree,
        file: Path,
        version: object,
    ) -> None:
        """Make a recommender in a thread of its own and keep it."""
        if sys.platform == "linux":  # where each thread has its own priority, which threads that it starts inherit
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICER)
        try:
            made = self._make(round_id, tree, self._read_ratings(file, version), (round_id, version))
        except BaseException as error:  # whoever waits is told, whatever it is
            with self._lock:
                del self._making[key]
            making.set_exception(error)
            return
        with self._lock:
            self._made[key] = self._latest[round_id] = made
            while len(self._made) > _MOST:
                self._made.popitem(last=False)
            while len(self._latest) > _MOST:
                self._latest.pop(next(iter(self._latest)))
            del self._making[key]
        making.set_result(made)

    def _make(self, round_id: str, tree: ReleasedTree, ratings: Ratings, source: object) -> ColdStartRecommender:
        """A recommender; its settings are chosen once for a round and its ratings, not again for every late joiner."""
        from privact.recommend.cold_start.coarse_lists import list_coarsely
        from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender
        from privact.recommend.cold_start.validation import choose_settings_for_tree

        assert tree.tree.users is not None
        if set(ratings.users).isdisjoint(tree.tree.users):
            raise WrongState(_NOBODY)
        groups, contacts = self._contact_groups(round_id, tree)
        made = ColdStartRecommender(tree.tree, ratings, groups=groups, contacts=contacts, verb=self._verb)
        if source not in self._chosen:
            self._chosen[source] = choose_settings_for_tree(made)
            while len(self._chosen) > _MOST:
                self._chosen.popitem(last=False)
        made.settings = self._chosen[source]
        list_coarsely(made, made.ratings.users[0], 1)  # now, not with the first request: compiled code, and ratings by item
        return made

    def _read_ratings(self, file: Path, version: object) -> Ratings:
        with self._reading:
            if self._ratings is None or self._ratings[0] != version:
                self._ratings = version, read_rating_file(file)
            return self._ratings[1]

    def _contact_groups(self, round_id: str, tree: ReleasedTree) -> tuple[NDArray[np.int32] | None, NDArray[np.float64] | None]:
        """The public label of each leaf, and how many contacts in each label its report lets expect; none with random bins."""
        stored = read_round(self._url, round_id)
        if stored.round.series is not None:  # what the last round says about the bins, which are the groups of the series
            stored = stored._replace(profile=DEFAULT_PROFILE)
        with self._store.read() as connection:
            query = select(label_tables.c.bytes).where(label_tables.c.round_id == round_id)
            labels = connection.execute(query).scalar_one_or_none()
        if labels is None:  # random bins, or erased by the retention
            return None, None
        assert tree.tree.users is not None
        evidence = evidence_of(self._url, stored, self._releases)
        contacts, told = np.zeros((tree.tree.n_users, stored.round.n_bins)), np.zeros(tree.tree.n_users, bool)
        for leaves, reports in stream_by_leaf(self._url, stored, tree.tree):
            contacts[leaves] = evidence.expected_counts(reports)
            told[leaves] = True
        if not told.any():
            return None, None
        contacts[~told] = contacts[told].mean(axis=0)  # who was erased is like everybody
        return LabelTable.from_bytes(labels).labels_of(tree.tree.users.names()), contacts


def _version(file: Path) -> tuple[str, int, int]:
    """What tells one upload from the next."""
    found = file.stat()
    return file.name, found.st_mtime_ns, found.st_size
