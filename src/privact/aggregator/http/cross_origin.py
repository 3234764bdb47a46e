"""Which pages of other sites may call this server: any, for what a device asks and sends, and for nothing else.

The device for a browser may live on another site than the aggregator, so that its users need not trust the aggregator with its
code. It is always allowed, to every origin: no request carries a cookie or another credential of the browser, so an origin has no
authority that another lacks. A page can only say what its user gave it, the user's token. The operator's addresses are not
among these.
"""

from __future__ import annotations

import re
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from privact.protocol.round_ids import ROUND_ID

__all__ = ["CrossOrigin"]

_READ: Final = re.compile(
    rf"/v1/me|/v1/log|/v1/rounds/(?:{ROUND_ID})/(?:parameters|labels(?:/names)?|report|tree/community|recommendations|people)"
)
_JOINED: Final = re.compile(r"/v1/join")
_SENT: Final = re.compile(rf"/v1/me/discoverable|/v1/rounds/(?:{ROUND_ID})/report")
_SHARED: Final = ((b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", b"Retry-After"))
_ASKED_FIRST: Final = (
    (b"access-control-allow-headers", b"Authorization, Content-Type"),
    (b"access-control-max-age", b"86400"),
)


class CrossOrigin:
    """Adds to responses that a page of another site may read them, where devices ask.

    app: whatever responds.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        if not any(name == b"origin" for name, _ in scope["headers"]):  # not a page, or a page of this server
            await self._app(scope, receive, send)
            return
        added = _headers_for(scope["method"], scope["path"])

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"].extend(added)
            await send(message)

        await self._app(scope, receive, send_on if added else send)


def _headers_for(method: str, path: str) -> list[tuple[bytes, bytes]]:
    """What a browser must hear before it lets a page of another site do this."""
    methods = [name for name, paths in (("GET", _READ), ("PUT", _SENT), ("POST", _JOINED)) if paths.fullmatch(path)]
    if method == "OPTIONS" and methods:
        return [*_SHARED, *_ASKED_FIRST, (b"access-control-allow-methods", ", ".join(methods).encode())]
    return list(_SHARED) if method in methods else []
