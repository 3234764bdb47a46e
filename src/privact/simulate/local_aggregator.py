"""An aggregator of one's own, for as long as it is needed: a real one in its own process, on loopback, in a temporary folder."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from privact.errors import PrivaCTError

__all__ = ["LocalAggregator", "read_peak_memory", "run_aggregator"]

_SECONDS_TO_END = 30


@dataclass(frozen=True)
class LocalAggregator:
    """A running aggregator.

    url: where it listens.
    operator_token: of its operator.
    process: number of its process.
    folder: where its database and releases are; gone when it ends.
    """

    url: str
    operator_token: str
    process: int
    folder: Path

    def peak_memory(self) -> int:
        """The most memory that its process has used so far, in bytes; 0 where the system does not tell."""
        return read_peak_memory(self.process)


def read_peak_memory(process: int) -> int:
    """The most memory that a process has used so far, in bytes; 0 where the system does not tell. process: its number."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


@contextmanager
def run_aggregator(**settings: object) -> Iterator[LocalAggregator]:
    """Start an aggregator, and end it with everything it wrote when the block ends, also after Ctrl-C.

    settings: of the aggregator, as in docs/operate.md; by default SQLite, any free port, and no limit on requests.
    """
    token = "operator." + secrets.token_urlsafe(32)
    with tempfile.TemporaryDirectory(prefix="privact-", ignore_cleanup_errors=True) as folder:
        chosen = {
            "data_folder": folder, "port": 0, "operator_token": token, "log_level": "warning",
            "report_rate": 0, "operator_rate": 0, "public_rate": 0, **settings,
        }  # fmt: skip
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PRIVACT_")}
        environment = kept | {f"PRIVACT_{name.upper()}": str(value) for name, value in chosen.items()}
        log = Path(folder) / "server.log"
        with log.open("wb") as lines:
            server = subprocess.Popen(
                [sys.executable, "-m", "privact", "serve", "--json"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=lines,
                start_new_session=True,  # Ctrl-C is for us; we end it below
            )
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            if not line:
                server.wait()
                said = log.read_text(errors="replace").strip().splitlines()
                raise PrivaCTError(f"the aggregator did not start: {said[-1] if said else f'exit {server.returncode}'}")
            yield LocalAggregator(json.loads(_whole(line, server))["url"], token, server.pid, Path(folder))
        finally:
            _end(server)


def _whole(line: bytes, server: subprocess.Popen[bytes]) -> bytes:
    """The JSON document that begins with a line: it may go over several."""
    assert server.stdout is not None
    while True:
        try:
            json.loads(line)
        except ValueError:
            more = server.stdout.readline()
            if not more:
                return line
            line += more
        else:
            return line


def _end(server: subprocess.Popen[bytes]) -> None:
    """Ask it to end; if it does not, end it."""
    if server.poll() is None:
        server.send_signal(signal.SIGTERM)
    try:
        server.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    if server.stdout is not None:
        server.stdout.close()
