"""Request heads with limits that hold before anything is buffered: connections -> requests with small heads.

uvicorn and httptools collect header lines, and the parts of one long line, for as long as they come. Here every byte that is
not yet part of a request or a body is counted, so that a connection holds at most LONGEST_HEAD and one network read. Neither do
they bound how many requests one read may hold (7,000 of them took 150 MB), nor how long a head may take: both have limits here.
"""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = [
    "CHECK_SECONDS",
    "HEAD_SECONDS",
    "LONGEST_HEAD",
    "LONGEST_URL",
    "MOST_HEADERS",
    "MOST_WAITING",
    "SILENT_SECONDS",
    "BoundedHeads",
]

LONGEST_HEAD: Final = 32 * 2**10
"""Most bytes of a request before its body, and of the trailers after it."""
LONGEST_URL: Final = 8 * 2**10
"""Most bytes of a path with its query."""
MOST_HEADERS: Final = 100
"""Most header lines of a request."""
MOST_WAITING: Final = 32
"""Most requests of a connection that were sent before the response to the one before them."""
HEAD_SECONDS: Final = 20.0
"""How long a head may take, from the first byte or from the beginning of the connection."""
SILENT_SECONDS: Final = 60.0
"""How long nothing of a body may come while the server waits for it."""
CHECK_SECONDS: Final = 5.0
"""How often a connection is looked at."""


class _TooLong(Exception):
    """A head over a limit; raised inside the parser, which then reads nothing more."""


class BoundedHeads(HttpToolsProtocol):
    """A connection that is refused with 431, 414, 429 or 408 and closed when heads are too long, too many or too slow."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._n_unused = 0  # bytes received since the parser last gave something back
        self._head_length = 0
        self._refused = False
        self._since: float | None = None  # when the request that is being received began
        self._last_data = 0.0
        self._in_body = False
        self._check: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client connected; its first head is waited for."""
        super().connection_made(transport)
        self._since = self._last_data = self.loop.time()
        self._check = self.loop.call_later(CHECK_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        if self._check is not None:
            self._check.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless the connection was refused already."""
        if self._refused:
            return
        self._last_data = self.loop.time()
        if self._since is None:
            self._since = self._last_data
        self._n_unused += len(data)
        super().data_received(data)
        if self._n_unused > LONGEST_HEAD:
            self._refuse(431, f"a header line is longer than {LONGEST_HEAD} bytes: send a shorter one")

    def on_message_begin(self) -> None:
        """A new request: count from zero."""
        if len(self.pipeline) >= MOST_WAITING:
            self._refuse(429, f"more than {MOST_WAITING} requests wait on one connection: wait for responses")
            raise _TooLong
        self._head_length = self._n_unused = 0
        self._since = self._last_data
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head has ended; a body may follow."""
        self._in_body = True
        super().on_headers_complete()

    def on_url(self, url: bytes) -> None:
        """A part of the address."""
        if len(self.url) + len(url) > LONGEST_URL:
            self._refuse(414, f"the address is longer than {LONGEST_URL} bytes: send a shorter one")
            raise _TooLong
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header line, or a trailer."""
        self._n_unused = 0
        self._head_length += len(name) + len(value) + 4
        if self._head_length > LONGEST_HEAD or len(self.headers) >= MOST_HEADERS:
            limits = f"at most {LONGEST_HEAD} bytes in {MOST_HEADERS} lines"
            self._refuse(431, f"the head of the request is too long: send {limits}")
            raise _TooLong
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """A part of the body; how much is read is the matter of the route."""
        self._n_unused = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request has ended."""
        self._n_unused = 0
        self._since, self._in_body = None, False
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP; what was refused as too long has its response already."""
        if not self._refused:
            super().send_400_response(msg)

    def _look(self) -> None:
        """Close a connection on which a head takes too long, or a body that the server waits for does not come."""
        now = self.loop.time()
        if self._since is not None and not self.flow.read_paused and not self.transport.is_closing():
            if not self._in_body and now - self._since > HEAD_SECONDS:
                self._refuse(408, f"the head of a request took longer than {HEAD_SECONDS:g} s: send it faster")
            elif self._in_body and now - self._last_data > SILENT_SECONDS:
                self._refuse(408, f"nothing of the body came for {SILENT_SECONDS:g} s: send it again")
        self._check = self.loop.call_later(CHECK_SECONDS, self._look)

    def _refuse(self, status: int, reason: str) -> None:
        """Send one line and close, once; a response that is under way is cut off."""
        if self._refused:
            return
        self._refused = True
        self.headers = []
        if self.cycle is None or self.cycle.response_complete:
            body = json.dumps({"error": reason}).encode()
            title = HTTPStatus(status).phrase.encode()
            self.transport.write(
                b"HTTP/1.1 %d %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"
                % (status, title, len(body), body)
            )
        self.transport.close()
