"""Fetching what other servers on the same database have made: released trees, evidence and ratings."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from sqlalchemy import select

from privact.aggregator.domain.release import evidence_path, joined_folder, release_path, sha256_of
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import releases
from privact.aggregator.storage.shared_files import SharedFiles, fetch_file
from privact.errors import PrivaCTError
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["FileJobs"]

_log = logging.getLogger("privact.aggregator.jobs.files")


class FileJobs:
    """The fetching of shared files, one at a time; with SQLite there is nothing to fetch.

    store: the database. settings: where files are. on_erased: called with users who are no longer in a release
        that was here before.
    """

    n_threads: Final = 1

    def __init__(self, store: Store, settings: Settings, on_erased: Callable[[set[str]], None]) -> None:
        self._store, self._settings, self._on_erased = store, settings, on_erased
        self._files = SharedFiles(store, settings.data_folder)

    def prepare(self) -> None:
        """Put the files of this server into a database that does not know of them yet."""
        folder = self._settings.releases_folder
        with self._store.read() as connection:
            recorded = connection.execute(select(releases.c.round_id, releases.c.digest)).all()
        own = [(release_path(folder, name), evidence_path(folder, name), digest) for name, digest in recorded]
        paths = [path for release, evidence, digest in own if release.exists() and sha256_of(release) == digest
                 for path in (release, evidence) if path.exists()]  # fmt: skip
        self._files.add_own([*paths, *self._settings.ratings_folder.glob("ratings.*")])

    def waiting(self) -> list[str]:
        """Files that are not as the database has them, by their path in the data folder."""
        return [path.relative_to(self._settings.data_folder).as_posix() for path in self._files.find_changed()]

    def run(self, name: str) -> None:
        """Fetch one file; what was made here from a tree that it replaces is removed, to be made again."""
        path = self._settings.data_folder / name
        is_release = path.parent == self._settings.releases_folder
        before = _read_names(path) if is_release else set()
        if not fetch_file(self._store, self._settings.data_folder, path):
            return
        _log.info("fetched a file of another server", extra={"file": name})
        if before:
            release_path(joined_folder(self._settings.releases_folder), path.stem).unlink(missing_ok=True)
            for converted in (self._settings.data_folder / "downloads").glob(f"{path.stem}-*"):
                converted.unlink(missing_ok=True)
            self._on_erased(before - _read_names(path))

    def rest(self) -> None:
        """Nothing is kept between files."""

    def finish(self) -> None:
        """Files appear whole or not at all."""


def _read_names(release: Path) -> set[str]:
    """The users of a released tree; none if it is not here."""
    try:
        tree = HierarchicalClusterTree.load(release, memory_map=True)
    except PrivaCTError:
        return set()
    return set() if tree.users is None else set(tree.users.names())
