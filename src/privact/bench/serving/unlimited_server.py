"""A web server without limits of its own: what the same attacks cost uvicorn as it comes, measured on the same machine."""

from __future__ import annotations

import multiprocessing
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from privact.simulate.local_aggregator import read_peak_memory

__all__ = ["UnlimitedServer", "run_unlimited"]


class UnlimitedServer(NamedTuple):
    """A running server.

    url: where it listens. process: its number.
    """

    url: str
    process: int

    def peak_memory(self) -> int:
        """The most memory that its process has used so far, in bytes; 0 where the system does not tell."""
        return read_peak_memory(self.process)


@contextmanager
def run_unlimited() -> Iterator[UnlimitedServer]:
    """Run one in a process of its own for as long as the block runs."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(port,), daemon=True)
    process.start()
    try:
        _wait_for(port)
        yield UnlimitedServer(f"http://127.0.0.1:{port}", process.pid or 0)
    finally:
        process.kill()
        process.join()


def _serve(port: int) -> None:
    import uvicorn

    uvicorn.run(_respond, host="127.0.0.1", port=port, http="httptools", ws="none", lifespan="off", log_config=None)


async def _respond(scope: Any, receive: Any, send: Any) -> None:
    """Every request is answered with nothing."""
    await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


def _wait_for(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
