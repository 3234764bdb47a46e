"""OpenTrees: the released trees that were used last, open and ready; the files stay on disk and are mapped into memory."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import select

from privact.aggregator.domain.refusals import NotFound, WrongState
from privact.aggregator.domain.release import joined_folder, release_path
from privact.aggregator.domain.released_tree import ReleasedTree, find_user_ids
from privact.aggregator.domain.rounds import find_round
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import label_tables, releases, reports, rounds
from privact.aggregator.storage.shared_files import fetch_file
from privact.errors import FileFormatError, InputError, UnknownUserError
from privact.protocol.labels import LabelTable
from privact.protocol.promise import amount, privacy_sentence
from privact.protocol.round import Round
from privact.protocol.users import user_digest
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["OpenTrees"]

_MOST: Final = 8  # trees; the ids of a million users take some 20 MB


_FileVersion = tuple[int, int, int] | None


class _Opened(NamedTuple):
    """An open tree.

    released: the tree. version: which files it was read from, the release and the one with joiners.
    """

    released: ReleasedTree
    version: tuple[_FileVersion, _FileVersion]


class _Row(NamedTuple):
    """What the database knows of a release.

    digest: SHA-256 of the file. released: when, UTC seconds. round: its public parameters.
    labels, names: the label table of the round and the names of its labels, if it has any.
    """

    digest: bytes
    released: int
    round: Round
    labels: LabelTable | None
    names: list[str] | None


class OpenTrees:
    """Released trees by round; threads may share it.

    store: says which rounds are released. settings: where their files are. most: how many trees stay open.
    """

    def __init__(self, store: Store, settings: Settings, most: int = _MOST) -> None:
        self._store = store
        self._releases = settings.releases_folder
        self._joined = joined_folder(settings.releases_folder)
        self._most = most
        self._lock = threading.Lock()
        self._opened: OrderedDict[str, _Opened] = OrderedDict()
        self._opening: dict[str, threading.Lock] = {}

    def find(self, round_id: str) -> ReleasedTree:
        """The tree of a released round, with everyone who has been placed in it; refused while there is none."""
        with self._lock:
            kept = self._opened.get(round_id)
            if kept is not None:
                self._opened.move_to_end(round_id)
        if kept is not None and kept.version == self._version(round_id):
            return kept.released
        # One thread reads the file. Meanwhile others use the older one, or wait if there is none.
        with self._lock:
            opening = self._opening.setdefault(round_id, threading.Lock())
        if not opening.acquire(blocking=kept is None) and kept is not None:
            return kept.released
        try:
            return self._open(round_id).released
        finally:
            opening.release()
            with self._lock:
                self._opening.pop(round_id, None)

    def peek(self, round_id: str) -> ReleasedTree | None:
        """The tree of a round if it is open and its file has not changed; nothing is read."""
        with self._lock:
            kept = self._opened.get(round_id)
        return kept.released if kept is not None and kept.version == self._version(round_id) else None

    def query(self, round_id: str, user: str | None, ask: Callable[[ReleasedTree], dict[str, Any]]) -> dict[str, Any]:
        """What a query finds in the tree of a round.

        user: whom the query is about, if anybody; somebody who joined late and is not placed yet is told to wait.
        ask: the query.
        """
        tree = self.find(round_id)
        try:
            return ask(tree)
        except UnknownUserError:
            if user is None or not self.is_being_placed(round_id, user):
                raise
            raise WrongState(f"user {user!r} joined late and is being placed: ask again soon", retry_after=2) from None

    def explore(self, round_id: str, user: str | None, ask: Callable[[ReleasedTree], dict[str, Any]]) -> dict[str, Any]:
        """The same for the explorer, with the list of users in the result who joined late."""

        def mark(tree: ReleasedTree) -> dict[str, Any]:
            found = ask(tree)
            return found | {"joined_late": tree.late_among(find_user_ids(found))}

        return self.query(round_id, user, mark)

    def is_being_placed(self, round_id: str, user: str) -> bool:
        """Whether a user joined late and has not been placed in the tree yet."""
        late = select(reports.c.late).where(reports.c.round_id == round_id, reports.c.user == user_digest(user))
        with self._store.read() as connection:
            series = find_round(connection, round_id).series
            if series is None:
                return bool(connection.execute(late).scalar_one_or_none())
            reported = select(reports.c.late).join(rounds, rounds.c.id == reports.c.round_id)
            reported = reported.where(rounds.c.series == series, reports.c.user == user_digest(user)).limit(1)
            return connection.execute(reported).one_or_none() is not None

    def find_release(self, round_id: str) -> tuple[Path, bytes]:
        """The released file of a round, without joiners, and its SHA-256; refused while there is none."""
        path, digest = release_path(self._releases, round_id), self._row(round_id).digest
        if not path.exists():  # another server learned it just now
            fetch_file(self._store, self._releases.parent, path)
        return path, digest

    def _open(self, round_id: str) -> _Opened:
        row = self._row(round_id)
        if not release_path(self._releases, round_id).exists():  # another server learned it just now
            fetch_file(self._store, self._releases.parent, release_path(self._releases, round_id))
        version = self._version(round_id)
        with self._lock:
            kept = self._opened.get(round_id)
        if kept is not None and kept.version == version:
            return kept  # read while this thread waited
        tree = self._load(release_path(self._joined, round_id), row.round.digest()) if version[1] is not None else None
        if tree is None:
            tree = self._load(release_path(self._releases, round_id), row.round.digest())
        if tree is None:
            raise WrongState(f"the tree of round {round_id!r} is missing on this server: the operator can restore its file")
        sentence = _promise(row.round)
        opened = _Opened(ReleasedTree(tree, row.digest, row.released, sentence, row.labels, row.names), version)
        with self._lock:
            self._opened[round_id] = opened
            self._opened.move_to_end(round_id)
            while len(self._opened) > self._most:
                self._opened.popitem(last=False)
        return opened

    def _version(self, round_id: str) -> tuple[_FileVersion, _FileVersion]:
        """What tells one state of a round's files from the next; both change when a user is erased."""
        return _stat(release_path(self._releases, round_id)), _stat(release_path(self._joined, round_id))

    def _row(self, round_id: str) -> _Row:
        """What the database knows of a release; refused while there is none."""
        wanted = select(releases.c.digest, releases.c.released).where(releases.c.round_id == round_id)
        with self._store.read() as connection:
            round = find_round(connection, round_id)
            release = connection.execute(wanted).one_or_none()
            table = connection.execute(select(label_tables).where(label_tables.c.round_id == round_id)).one_or_none()
        if round.state == "draft":
            raise NotFound(f"no round {round_id!r}")
        if release is None:
            raise WrongState(f"round {round_id!r} is {round.state}: its tree can be read once it is released")
        parameters = Round.from_bytes(round.parameters, round.digest)
        labels = None if table is None else LabelTable.from_bytes(table.bytes)  # erased users may be missing: no digest
        names = None if table is None or table.names is None else json.loads(table.names)
        return _Row(release.digest, release.released, parameters, labels, names)

    @staticmethod
    def _load(path: Path, round_digest: bytes) -> HierarchicalClusterTree | None:
        """The tree in a file, or None if the file cannot be read or belongs to another round."""
        try:
            tree = HierarchicalClusterTree.load(path, memory_map=True)
        except (InputError, FileFormatError):
            return None
        return tree if tree.parameters.get("round_digest") == round_digest.hex() else None


def _promise(round: Round) -> str:
    """What is promised about everything that a tree was learned from: a round, or all rounds of a series that were opened."""
    if round.series is None:
        return round.privacy_sentence()
    spent = float(amount(round.epsilon) * round.series_number)
    return privacy_sentence(spent, round.series.name, round.series_number)


def _stat(path: Path) -> _FileVersion:
    """What tells one file at a path from the next, or None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
