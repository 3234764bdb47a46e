"""Store: the database behind an aggregator, SQLite or PostgreSQL, in which a commit that returned survives a power cut."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from privact.aggregator.storage.migrations import upgrade
from privact.errors import InputError, MissingExtraError

__all__ = ["Store", "hold_intake"]

_BUSY_SECONDS: Final = 30
_ONE_AT_A_TIME: Final = 0x50434C4B
"""The advisory lock of PostgreSQL under which users are numbered and rounds are opened."""
_INTAKE: Final = 0x50434954
"""The advisory lock of PostgreSQL that batches of reports share, and that closing a round takes alone."""


class Store:
    """The tables of one aggregator.

    Every write happens in `with store.write() as connection`, every read in `with store.read() as connection`; both are one
    transaction that commits when the block ends well. Threads may share a store, processes may not: each opens its own.

    url: sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME.
    """

    def __init__(self, url: str) -> None:
        self.url: Final[URL] = _check_url(url)
        self.is_sqlite: Final = self.url.get_backend_name() == "sqlite"
        self.engine: Final[Engine] = _engine(self.url, self.is_sqlite)
        self._writing = threading.Lock()

    @classmethod
    def open(cls, url: str) -> Store:
        """The store at the URL with its tables brought up to date; made if it is not there."""
        store = cls(url)
        if store.is_sqlite:
            _make_private(Path(str(store.url.database)))
        try:
            with store.write() as connection:
                upgrade(connection)
        except DBAPIError as error:
            store.close()
            raise InputError(f"cannot use database {store}: {_reason(error)}") from None
        except BaseException:
            store.close()
            raise
        return store

    def __str__(self) -> str:
        """The URL without its password."""
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that may change rows; it is on disk when the block has ended well, and undone otherwise.

        On SQLite it excludes every other writer from its beginning. On PostgreSQL lock the rows that a decision rests on.
        """
        if not self.is_sqlite:
            with self.engine.begin() as connection:
                yield connection
            return
        with (
            self._writing,
            self.engine.connect().execution_options(privact_begin="BEGIN IMMEDIATE") as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads, from one moment's state of the tables."""
        with self.engine.connect() as connection:
            yield connection

    def one_at_a_time(self, connection: Connection) -> None:
        """Make this write transaction exclude every other that asks the same, of any server, until it ends."""
        if not self.is_sqlite:  # SQLite's write transactions always do
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _ONE_AT_A_TIME})

    def share_intake(self, connection: Connection) -> None:
        """Take part in the intake of reports until this write transaction ends: no round closes meanwhile."""
        if not self.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock_shared(:lock)"), {"lock": _INTAKE})

    def seconds(self, connection: Connection) -> int:
        """The time by the database's own clock, UTC seconds: the same for every server that uses it."""
        clock = "CAST(strftime('%s', 'now') AS INTEGER)"
        if not self.is_sqlite:
            clock = "CAST(extract(epoch FROM clock_timestamp()) AS BIGINT)"
        return int(connection.execute(text(f"SELECT {clock}")).scalar_one())

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def hold_intake(connection: Connection) -> None:
    """Wait for the batches of reports that are under way, of any server, and let no other begin until this write transaction
    ends. PostgreSQL queues those who wait for this lock, so that a stream of batches cannot keep a round open.
    """
    if connection.dialect.name == "postgresql":  # SQLite's write transactions exclude each other
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _INTAKE})


def _check_url(text: str) -> URL:
    """The URL with the driver that is used, if it names a database that can be."""
    try:
        url = make_url(text)
    except ArgumentError:
        raise InputError("the database setting is no URL: give sqlite:///FILE or postgresql://USER@HOST/NAME") from None
    kind = url.drivername.partition("+")[0]
    if kind in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if kind != "sqlite":
        raise InputError(f"database {url.drivername} is not supported: give sqlite:///FILE or postgresql://USER@HOST/NAME")
    if not url.database or url.database == ":memory:" or url.query:
        raise InputError("a SQLite database must be a file, because accepted reports must survive: give sqlite:///FILE")
    folder = Path(url.database).absolute().parent
    if not folder.is_dir():
        raise InputError(f"cannot use database {url.database}: there is no folder {folder}: make it first")
    return url.set(drivername="sqlite+pysqlite")


def _engine(url: URL, is_sqlite: bool) -> Engine:
    """An engine whose commits are durable and whose transactions begin where they say."""
    connecting = {"timeout": _BUSY_SECONDS, "check_same_thread": False} if is_sqlite else {"connect_timeout": 10}
    try:
        engine = create_engine(
            url,
            connect_args=connecting,
            pool_pre_ping=not is_sqlite,  # a restart of PostgreSQL is survived
            pool_timeout=60,
            hide_parameters=True,  # errors are logged, and parameters are hashes of tokens, reports and user ids
        )
    except (NoSuchModuleError, ImportError):
        raise MissingExtraError("psycopg", "server", "a PostgreSQL database") from None
    event.listen(engine, "connect", _prepare_sqlite if is_sqlite else _prepare_postgresql)
    if is_sqlite:
        event.listen(engine, "begin", _begin)
    return engine


def _make_private(path: Path) -> None:
    """Let only the owner read a SQLite database, and the files that SQLite makes beside it with the same mode."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
            if file.exists():
                file.chmod(0o600)
    except OSError as error:
        raise InputError(f"cannot use database {path}: {(error.strerror or str(error)).lower()}: choose another file") from None


def _prepare_sqlite(connection: Any, record: Any) -> None:
    connection.isolation_level = None  # transactions begin as _begin says, not as the driver guesses
    cursor = connection.cursor()
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "cache_size = -16384", "secure_delete = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _prepare_postgresql(connection: Any, record: Any) -> None:
    before, connection.autocommit = connection.autocommit, True
    connection.execute("SET synchronous_commit TO on")  # whatever the database's default is
    connection.autocommit = before


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("privact_begin", "BEGIN"))


def _reason(error: DBAPIError) -> str:
    """What the database said, in one line."""
    return " ".join(str(error.orig).split()) or type(error.orig).__name__
