"""Worker processes, seen from the server: orders go in as lines of JSON, results come out as lines of JSON.

Each is a new Python process, never a copy of the server: no connection, lock or secret of the server's memory is in it. The
database URL, which may hold a password, travels through its standard input and not through its command line. When the server is
gone, its standard input ends and so does the worker.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

__all__ = ["WorkerProcess", "Workers"]

_PROGRAM: Final = "privact.aggregator.jobs.worker"
_SECRET: Final = {"PRIVACT_OPERATOR_TOKEN", "PRIVACT_TOKEN", "PRIVACT_DATABASE"}
_GROUPS: Final = hasattr(os, "killpg")


class WorkerProcess:
    """One running worker. Threads may call `kill` while another reads results.

    order: what to do first; see worker.py.
    """

    def __init__(self, order: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", _PROGRAM],  # -P: nothing is imported from the folder in which the server was started
            env={name: value for name, value in os.environ.items() if name not in _SECRET},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=_GROUPS,  # Ctrl-C in the server's terminal is for the server, which then ends the worker
        )
        self.send(order)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def send(self, order: dict[str, Any]) -> None:
        """Send an order; a worker that has died shows in its results."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError, OSError):
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()

    def results(self) -> Iterator[dict[str, Any]]:
        """What the worker sends, as it sends it; ends when the worker has ended."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with suppress(ValueError):  # half a line of a process that was killed
                yield json.loads(line)

    def wait_for_end(self) -> str:
        """Wait for the end, and say in words how it came."""
        code = self._process.wait()
        if code < 0:
            return f"killed by {signal.Signals(-code).name}" if -code in set(signal.Signals) else f"killed by signal {-code}"
        return f"ended with code {code}"

    def kill(self) -> None:
        """End the worker and everything it started, at once. What it was writing never appears."""
        with suppress(ProcessLookupError, PermissionError):
            if _GROUPS and self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def close(self) -> None:
        """Kill the worker if it still runs, and let go of its pipes."""
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(OSError):
                stream.close()


class Workers:
    """All worker processes of one server, so that stopping ends every one of them. Threads may share it."""

    def __init__(self) -> None:
        self.closing: threading.Event = threading.Event()
        """Set from the moment the server stops: nothing new is begun, and waits end early."""
        self._lock = threading.Lock()
        self._running: set[WorkerProcess] = set()

    def open(self) -> None:
        """Allow processes, after a start or a restart."""
        self.closing.clear()

    def start(self, order: dict[str, Any]) -> WorkerProcess:
        """Start a process with its first order; once the server stops it is killed at once."""
        process = WorkerProcess(order)
        with self._lock:
            self._running.add(process)
            if self.closing.is_set():
                process.kill()
        return process

    def end(self, process: WorkerProcess) -> None:
        """Kill a process if it still runs, and let go of it."""
        with self._lock:
            self._running.discard(process)
        process.close()

    def close(self) -> None:
        """Kill every process and allow no more."""
        self.closing.set()
        with self._lock:
            for process in self._running:
                process.kill()
