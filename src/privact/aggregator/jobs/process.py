"""A worker process, seen from the server: orders go in as lines of JSON, what it has to say comes out as lines of JSON.

It is a new Python process, never a copy of the server: no connection, lock or secret of the server's memory is in it. The
database URL, which may hold a password, travels through its standard input and not through its command line. When the server is
gone, its standard input ends and so does the worker.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

__all__ = ["WorkerProcess"]

_PROGRAM: Final = "privact.aggregator.jobs.tasks"
_SECRET: Final = {"PRIVACT_OPERATOR_TOKEN", "PRIVACT_TOKEN", "PRIVACT_DATABASE"}
_GROUPS: Final = hasattr(os, "killpg")


class WorkerProcess:
    """One running worker. Threads may call `kill` while another reads answers.

    order: what to do first; see tasks.py.
    """

    def __init__(self, order: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", _PROGRAM],  # -P: nothing is imported from the folder in which the server was started
            env={name: value for name, value in os.environ.items() if name not in _SECRET},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=_GROUPS,  # Ctrl-C in the server's terminal is for the server, which then ends the worker
        )
        self.tell(order)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def tell(self, order: dict[str, Any]) -> None:
        """Send an order; a worker that has died shows in its answers."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError, OSError):
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()

    def answers(self) -> Iterator[dict[str, Any]]:
        """What the worker says, as it says it; ends when the worker has ended."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with suppress(ValueError):  # half a line of a process that was killed
                yield json.loads(line)

    def ending(self) -> str:
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
