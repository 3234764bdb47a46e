"""What all tests share: where the paper's datasets are, and a real PostgreSQL."""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from privact.experiments.local_postgres import postgres_programs, running_postgres


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--data", metavar="DIR", help="folder with lastfm, delicious and douban (default: PRIVACT_DATA)")


def pytest_configure() -> None:
    """Let Ctrl-C reach what tests start, also where tests themselves run in the background of a shell, which ignores it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_dir(request: pytest.FixtureRequest) -> Path:
    """The folder of the paper's datasets; tests that ask for it are marked `data` and skipped where it is not known."""
    folder = request.config.getoption("--data") or os.environ.get("PRIVACT_DATA")
    if not folder:
        pytest.skip("the paper's datasets are not here: pass --data DIR or set PRIVACT_DATA")
    return Path(folder)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The socket folder of a real PostgreSQL that only these tests use; skipped where its programs are not found.

    With PRIVACT_REQUIRE_POSTGRES=1 a missing PostgreSQL is a failure instead.
    """
    if postgres_programs() is None:
        missing = "PostgreSQL's initdb and postgres are not here: install postgresql to test with it"
        if os.environ.get("PRIVACT_REQUIRE_POSTGRES") == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    with running_postgres() as folder:
        yield folder


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of an empty place in PostgreSQL, gone after the test: a schema, which is made far quicker than a database."""
    import psycopg

    name = f"privact_{secrets.token_hex(6)}"
    with psycopg.connect(host=postgres_server, user="postgres", dbname="postgres", autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        yield f"postgresql://postgres@/postgres?host={postgres_server}&options=-csearch_path%3D{name}"
        connection.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database; the test runs once on SQLite and once on a real PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'privact.sqlite3'}"
    url: str = request.getfixturevalue("postgres_url")
    return url
