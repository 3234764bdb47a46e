"""How answers go on the wire: head and body of an answer in one packet instead of two."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["OnePacket"]


class OnePacket(HttpToolsProtocol):
    """uvicorn's protocol, which hands the head and the body of an answer to the system one by one: half the calls, half the packets."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin with a new connection."""
        super().connection_made(_Gathering(transport, self.loop))  # type: ignore[arg-type]


class _Gathering:
    """A transport that writes once per turn of the event loop."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._parts:
            self._transport.write(b"".join(self._parts))
            self._parts.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
