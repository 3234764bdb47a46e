"""A PostgreSQL of one's own, for as long as it is needed: from the programs that are installed, in a temporary folder."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from privact.errors import PrivaCTError

__all__ = ["find_postgres_programs", "run_postgres"]

_PLACES: Final = (
    "usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "opt/homebrew/opt/postgresql*/bin", "usr/local/opt/postgresql*/bin",
)  # fmt: skip
_SECONDS_TO_START: Final = 60


def find_postgres_programs() -> Path | None:
    """The folder of PostgreSQL's programs, the newest if there are several; None if they are not installed."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    for pattern in _PLACES:
        folders += sorted(Path("/").glob(pattern), key=lambda path: [int(part) for part in re.findall(r"\d+", str(path))])[::-1]
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


@contextmanager
def run_postgres() -> Iterator[str]:
    """The socket folder of a private PostgreSQL server with the user postgres, stopped at the end of the block.

    fsync is on, as in a real one: what it commits is on disk. It listens on no port.
    """
    programs = find_postgres_programs()
    if programs is None:
        raise PrivaCTError("PostgreSQL's initdb and postgres are not here: install postgresql")
    account: dict[str, Any] = {}
    folder = Path(tempfile.mkdtemp(prefix="privact-pg-"))
    if os.name == "posix" and os.getuid() == 0:  # initdb refuses root
        account = {"user": "postgres", "group": "postgres", "extra_groups": []}
        shutil.chown(folder, "postgres", "postgres")
    try:
        make: list[str | Path] = [
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
        subprocess.run(make, check=True, capture_output=True, cwd=folder, **account)
        settings = ["-c", "listen_addresses=", "-c", "fsync=on", "-c", "max_connections=200"]
        log = folder / "log"
        with log.open("wb") as lines:
            server = subprocess.Popen(
                [programs / "postgres", "-D", folder / "data", "-k", folder, *settings],
                stdout=lines,
                stderr=lines,
                cwd=folder,
                **account,
            )
        try:
            _wait(folder, server, log)
            yield str(folder)
        finally:
            server.send_signal(signal.SIGINT)  # the fast way to end
            server.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(folder: Path, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server takes connections."""
    import psycopg

    end = time.monotonic() + _SECONDS_TO_START
    while True:
        try:
            psycopg.connect(host=str(folder), user="postgres", dbname="postgres").close()
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > end:
                said = log.read_text(errors="replace").strip().splitlines()
                raise PrivaCTError(f"PostgreSQL did not start: {said[-1] if said else 'it said nothing'}") from None
            time.sleep(0.05)
        else:
            return
