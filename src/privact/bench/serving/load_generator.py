"""The load generator: many small HTTP requests from one process, on keep-alive connections, one request at a time on each.

A load generator beside the server must not be what is measured. This client knows HTTP/1.1 just as far as an aggregator speaks
it: answers carry Content-Length. Requests must be safe to repeat: what was cut off is sent again as it was.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Final

from privact.errors import InputError

__all__ = ["ATTEMPTS", "Endpoint", "Load", "send_all"]

ATTEMPTS: Final = 8
"""How often the same request is sent before it counts as failed."""

_AGAIN: Final = frozenset({429, 500, 502, 503, 504})
_LONGEST_HEAD: Final = 65536
_PATIENCE: Final = 60.0  # seconds for one answer


@dataclass(frozen=True)
class Endpoint:
    """Where connections go: host, port, and how they are encrypted if they are."""

    host: str
    port: int
    tls: SSLContext | None = None


@dataclass
class Load:
    """What became of many requests.

    statuses: how many ended with each status; 0 for those that never got an answer.
    retries: how often a request was sent again.
    seconds: from the first request to the last answer.
    milliseconds: of each request, from when it was first sent to its final answer, in no order.
    failure: why the first request without an answer got none.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    retries: int = 0
    seconds: float = 0.0
    milliseconds: list[float] = field(default_factory=list)
    failure: str = ""

    def percentile(self, share: float) -> float:
        """The time that a share of all requests did not exceed, in milliseconds; NaN if there were none."""
        ordered = sorted(self.milliseconds)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


class _Connection(asyncio.Protocol):
    """One connection: a request is written, its answer is awaited."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self._buffer = b""
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self._end(ConnectionResetError("the connection was closed"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > _LONGEST_HEAD:
                self._end(ConnectionResetError("the answer has no end"))
            return
        head = self._buffer[:end]
        try:
            status = int(head[9:12])
            length = _length(head, status)
        except ValueError:
            self._end(ConnectionResetError("the answer is not what an aggregator says"))
            return
        if len(self._buffer) < end + 4 + length:
            return
        self._buffer = self._buffer[end + 4 + length :]
        answer, self._answer = self._answer, None
        if b"\nconnection: close" in head.lower() and self.transport is not None:
            self.transport.close()
            self.transport = None
        if answer is not None and not answer.done():
            answer.set_result((status, head))

    def ask(self, request: bytes) -> asyncio.Future[tuple[int, bytes]]:
        """The status and head of the answer to a request."""
        assert self.transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self._answer

    def close(self) -> None:
        if self.transport is not None:
            self.transport.abort()
            self.transport = None

    def _end(self, error: Exception) -> None:
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_exception(error)
        self.close()


def _length(head: bytes, status: int) -> int:
    """How many bytes follow a head."""
    if status in (204, 304):
        return 0
    lower = head.lower()
    begin = lower.index(b"\r\ncontent-length:") + 17
    return int(lower[begin:].split(b"\r\n", 1)[0])


class _Lane:
    """One connection that is opened when it is needed, and again after it was lost."""

    def __init__(self, endpoint: Endpoint, load: Load) -> None:
        self._endpoint, self._load = endpoint, load
        self._connection = _Connection()

    async def send(self, request: bytes) -> int:
        """The final status of a request; 0 if there is none after all attempts."""
        begin = time.perf_counter()
        status = 0
        for attempt in range(ATTEMPTS):
            if attempt:
                self._load.retries += 1
                await asyncio.sleep(min(5.0, 0.05 * 2.0**attempt) * random.uniform(0.5, 1.0))
            try:
                async with asyncio.timeout(_PATIENCE):
                    status, head = await self._once(request)
            except (OSError, TimeoutError) as error:
                self._load.failure = self._load.failure or str(error) or type(error).__name__
                self.close()
                status = 0
                continue
            if status not in _AGAIN:
                break
            await asyncio.sleep(min(5.0, _retry_after(head)))
        self._load.milliseconds.append(1000 * (time.perf_counter() - begin))
        return status

    async def _once(self, request: bytes) -> tuple[int, bytes]:
        if self._connection.transport is None:
            self._connection = _Connection()
            where = self._endpoint
            await asyncio.get_running_loop().create_connection(lambda: self._connection, where.host, where.port, ssl=where.tls)
        return await self._connection.ask(request)

    def close(self) -> None:
        self._connection.close()


def _retry_after(head: bytes) -> float:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"retry-after:") and line[12:].strip().isdigit():
            return float(line[12:])
    return 0.0


async def send_all(
    endpoint: Endpoint,
    requests: Iterable[bytes],
    *,
    concurrency: int = 32,
    rate: float | None = None,
    on_progress: Callable[[int, Load], None] = lambda done, load: None,
) -> Load:
    """Send every request once, and again as it was where an response did not come.

    endpoint: where to.
    requests: whole requests, head and body, each made when it is its turn.
    concurrency: how many are under way at a time, each on a connection of its own.
    rate: most requests a second; as fast as answers come if absent.
    on_progress: called with how many are done, about five times a second.
    """
    if concurrency < 1 or (rate is not None and not rate > 0):
        raise InputError(f"concurrency {concurrency} and rate {rate}: both must be above 0")
    load, queue, begin = Load(), iter(enumerate(requests)), time.perf_counter()

    async def lane() -> None:
        sender = _Lane(endpoint, load)
        try:
            for number, request in queue:
                if rate is not None and (early := begin + number / rate - time.perf_counter()) > 0:
                    await asyncio.sleep(early)
                load.statuses[await sender.send(request)] += 1
        finally:
            sender.close()

    async def report() -> None:
        while True:
            await asyncio.sleep(0.2)
            on_progress(load.statuses.total(), load)

    teller = asyncio.create_task(report())
    try:
        async with asyncio.TaskGroup() as lanes:
            for _ in range(concurrency):  # one with nothing to do opens no connection
                lanes.create_task(lane())
    finally:
        teller.cancel()
    load.seconds = time.perf_counter() - begin
    return load
