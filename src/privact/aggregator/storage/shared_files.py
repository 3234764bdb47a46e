"""Files of the data folder that all servers on one PostgreSQL database share: their bytes are in the database too.

Released trees, evidence and ratings are read from files. The server that makes one puts it into the database, in the
transaction that says it is there; the others fetch it from there. A SQLite database is for one server, and holds no files.

Threads of one server change shared files one at a time, so that a file which is being replaced is not fetched over.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, delete, insert, select, text, update

from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import shared_files, shared_parts
from privact.storage import write_whole

__all__ = ["SharedFiles", "change_files", "fetch_file", "share_file"]

_CHANGING: Final = threading.RLock()  # held by a thread of this server while it changes a shared file
_LOCK: Final = 0x50434653
_PART: Final = 2**20  # bytes of a row
_GONE: Final = b""  # the digest of a deleted file


@contextmanager
def change_files(store: Store) -> Iterator[None]:
    """Let no other thread of this server, and no other server on a PostgreSQL database, change shared files during a block."""
    with _CHANGING, ExitStack() as held:
        if not store.is_sqlite:
            connection = held.enter_context(store.write())
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        yield


def share_file(store: Store, connection: Connection, folder: Path, path: Path, source: Path | None = None) -> None:
    """Put a file of the data folder into the database, or note that it is gone if it is not there; nothing on SQLite.

    connection: in a write transaction, which from here on excludes others of `Store.one_at_a_time`.
    folder: the data folder. path: the file. source: where its bytes are, if not there yet.
    """
    if store.is_sqlite:
        return
    store.one_at_a_time(connection)
    name, source = _name(folder, path), source or path
    known = connection.execute(select(shared_files.c.digest).where(shared_files.c.name == name)).scalar_one_or_none()
    digest = _digest(source)
    if known == digest or (known is None and digest == _GONE):
        return
    connection.execute(delete(shared_parts).where(shared_parts.c.name == name))
    if known is None:
        connection.execute(insert(shared_files).values(name=name, digest=digest))
    else:
        connection.execute(update(shared_files).where(shared_files.c.name == name).values(digest=digest))
    for number, part in enumerate(_parts(source) if digest != _GONE else ()):
        connection.execute(insert(shared_parts).values(name=name, number=number, bytes=part))


def fetch_file(store: Store, folder: Path, path: Path) -> bool:
    """Bring a file of the data folder to what the database holds; whether it was changed. Nothing on SQLite.

    folder: the data folder. path: the file.
    """
    if store.is_sqlite:
        return False
    name = _name(folder, path)
    with _CHANGING, store.read() as connection:
        digest = connection.execute(select(shared_files.c.digest).where(shared_files.c.name == name)).scalar_one_or_none()
        if digest is None or digest == _digest(path):
            return False
        if digest == _GONE:
            path.unlink(missing_ok=True)
            return True
        path.parent.mkdir(mode=0o700, exist_ok=True)
        rows = select(shared_parts.c.bytes).where(shared_parts.c.name == name).order_by(shared_parts.c.number)
        with write_whole(path) as file:
            for part in connection.execute(rows.execution_options(stream_results=True, yield_per=4)).scalars():
                file.write(part)
    return True


class SharedFiles:
    """What this server has of the shared files.

    store: the database. folder: the data folder.
    """

    def __init__(self, store: Store, folder: Path) -> None:
        self._store, self._folder = store, folder
        self._same: dict[str, tuple[bytes, object]] = {}  # digest and state of files that were found to be those of the database

    def find_changed(self) -> list[Path]:
        """Files that are not as the database has them."""
        if self._store.is_sqlite:
            return []
        with self._store.read() as connection:
            rows = connection.execute(select(shared_files.c.name, shared_files.c.digest)).all()
        changed = []
        for name, digest in rows:
            path = self._folder / name
            state = (digest, _state(path))
            if self._same.get(name) == state:
                continue
            if _digest(path) == digest:
                self._same[name] = state
            else:
                changed.append(path)
        return changed

    def add_own(self, paths: list[Path]) -> None:
        """Put files into the database of which it knows nothing: they were made by an earlier version of this server."""
        if self._store.is_sqlite:
            return
        with self._store.write() as connection:
            self._store.one_at_a_time(connection)
            known = set(connection.execute(select(shared_files.c.name)).scalars())
            for path in paths:
                if _name(self._folder, path) not in known:
                    share_file(self._store, connection, self._folder, path)


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def _digest(path: Path) -> bytes:
    """SHA-256 of a file's bytes; that of a deleted file if there is none."""
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").digest()
    except FileNotFoundError:
        return _GONE


def _state(path: Path) -> object:
    """What tells one file at a path from the next."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _parts(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as stream:
        while part := stream.read(_PART):
            yield part
