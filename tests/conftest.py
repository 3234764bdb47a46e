"""What all tests share: where the paper's datasets are, and a real PostgreSQL."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--data", metavar="DIR", help="folder with lastfm, delicious and douban (default: PRIVACT_DATA)")


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
    programs = _postgres_programs()
    if programs is None:
        missing = "PostgreSQL's initdb and postgres are not here: install postgresql to test with it"
        if os.environ.get("PRIVACT_REQUIRE_POSTGRES") == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    account: dict[str, Any] = {}
    folder = Path(tempfile.mkdtemp(prefix="privact-pg-"))
    if os.name == "posix" and os.getuid() == 0:  # initdb refuses root
        account = {"user": "postgres", "group": "postgres", "extra_groups": []}
        shutil.chown(folder, "postgres", "postgres")
    try:
        log = folder / "log"
        made = [
            programs / "initdb",
            "-D",
            folder / "data",
            "-U",
            "postgres",
            "-A",
            "trust",
            "--no-sync",
            "--no-locale",
            "-E",
            "UTF8",
        ]
        subprocess.run(made, check=True, capture_output=True, cwd=folder, **account)
        arguments = [
            "-D",
            folder / "data",
            "-k",
            folder,
            "-c",
            "listen_addresses=",
            "-c",
            "fsync=on",
            "-c",
            "max_connections=200",
        ]
        with log.open("wb") as lines:
            server = subprocess.Popen([programs / "postgres", *arguments], stdout=lines, stderr=lines, cwd=folder, **account)
        try:
            _wait_for_postgres(folder, server, log)
            yield str(folder)
        finally:
            server.send_signal(signal.SIGQUIT)  # at once: nothing in it is needed any more
            server.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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


def _postgres_programs() -> Path | None:
    """The folder of PostgreSQL's programs."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    for pattern in (
        "usr/lib/postgresql/*/bin",
        "usr/pgsql-*/bin",
        "opt/homebrew/opt/postgresql*/bin",
        "usr/local/opt/postgresql*/bin",
    ):
        folders += sorted(
            Path("/").glob(pattern), key=lambda path: [int(part) for part in re.findall(r"\d+", str(path))], reverse=True
        )
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


def _wait_for_postgres(folder: Path, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server takes connections."""
    import psycopg

    end = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(host=str(folder), user="postgres", dbname="postgres").close()
            return
        except psycopg.OperationalError:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
