"""Request heads with limits that hold before anything is buffered: connections -> requests with small heads.

uvicorn and httptools collect header lines, and the parts of one long line, for as long as they come. Here every byte that is
not yet part of a request or a body is counted, so that a connection holds at most LONGEST_HEAD and one network read.
"""

from __future__ import annotations

import json
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["LONGEST_HEAD", "LONGEST_URL", "MOST_HEADERS", "BoundedHeads"]

LONGEST_HEAD: Final = 32 * 2**10
"""Most bytes of a request before its body, and of the trailers after it."""
LONGEST_URL: Final = 8 * 2**10
"""Most bytes of a path with its query."""
MOST_HEADERS: Final = 100
"""Most header lines of a request."""


class _TooLong(Exception):
    """A head over a limit; raised inside the parser, which then reads nothing more."""


class BoundedHeads(HttpToolsProtocol):
    """A connection that is refused with 431 or 414 and closed when a head is too long."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._n_unused = 0  # bytes received since the parser last gave something back
        self._head_length = 0
        self._refused = False

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless the connection was refused already."""
        if self._refused:
            return
        self._n_unused += len(data)
        super().data_received(data)
        if self._n_unused > LONGEST_HEAD:
            self._refuse(431, f"a header line is longer than {LONGEST_HEAD} bytes: send a shorter one")

    def on_message_begin(self) -> None:
        """A new request: count from zero."""
        self._head_length = self._n_unused = 0
        super().on_message_begin()

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
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP; what was refused as too long has its response already."""
        if not self._refused:
            super().send_400_response(msg)

    def _refuse(self, status: int, reason: str) -> None:
        """Send one line and close, once; a response that is under way is cut off."""
        if self._refused:
            return
        self._refused = True
        self.headers = []
        if self.cycle is None or self.cycle.response_complete:
            body = json.dumps({"error": reason}).encode()
            title = {414: b"URI Too Long", 431: b"Request Header Fields Too Large"}[status]
            self.transport.write(
                b"HTTP/1.1 %d %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"
                % (status, title, len(body), body)
            )
        self.transport.close()
