"""One HTTP connection to an aggregator: bounded, repeated where that does no harm, never redirected, one line per error.

What an aggregator sends is not trusted: it is read up to a length and for a time. Redirects are not followed, since a token
belongs to one address. A proxy is used for other machines only.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

from privact.client.certificates import explain_certificate
from privact.errors import AggregatorError, MissingExtraError
from privact.protocol.addresses import Address

try:
    import httpx
except ImportError:
    raise MissingExtraError("httpx", "device", "speaking to an aggregator") from None

__all__ = ["ATTEMPTS", "Connection", "Patience", "Response"]

ATTEMPTS: Final = 6
"""How often a request is sent before giving up."""

_LONGEST_WAIT: Final = 30.0  # seconds between two attempts
_LONGEST_TRANSFER: Final = 300.0  # seconds for one response


@dataclass(frozen=True)
class Response:
    """What an aggregator sent: status, content, and after how many attempts."""

    status: int
    content: bytes
    attempts: int = 1

    @property
    def is_success(self) -> bool:
        """Whether the aggregator did what was asked."""
        return 200 <= self.status < 300

    def json(self) -> Any:
        """The content as JSON; ValueError if it is none, or nested too deeply to be read."""
        try:
            return json.loads(self.content)
        except RecursionError:
            raise ValueError("nested too deeply") from None

    def error_line(self) -> str:
        """The one line that an aggregator sends when something is wrong, made harmless for a terminal."""
        try:
            line = str(self.json()["error"])
        except (ValueError, LookupError, TypeError):
            return f"status {self.status}"
        return "".join(letter if letter.isprintable() else " " for letter in line[:300])


@dataclass(frozen=True)
class Patience:
    """When a request is sent again.

    statuses: that promise that another attempt does no harm.
    lost_connections: whether also where nobody knows what became of the request.
    seconds: how long one attempt may wait for the aggregator.
    """

    statuses: frozenset[int]
    lost_connections: bool
    seconds: float


class Connection:
    """Requests to one aggregator with one token.

    address: where it is.
    token: the secret that is sent along.
    patience: when requests are repeated.
    agent: what the program calls itself.
    transport: how requests travel; the network if absent.
    sleep: takes seconds; waits between attempts.
    """

    def __init__(
        self,
        address: Address,
        token: str,
        patience: Patience,
        agent: str,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address, self._token, self._patience, self._sleep = address, token, patience, sleep
        self._client = httpx.Client(
            transport=transport,
            headers={"Accept-Encoding": "identity", "User-Agent": agent},
            timeout=httpx.Timeout(patience.seconds),
            trust_env=not address.loopback,
            follow_redirects=False,
        )

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the network."""
        self._client.close()

    def ask(
        self,
        method: str,
        path: str,
        *,
        longest: int,
        content: bytes | None = None,
        content_type: str = "application/octet-stream",
        anonymous: bool = False,
    ) -> Response:
        """The response to a request.

        method, path: of the request; the path begins with /v1.
        longest: most bytes that are read.
        content, content_type: the body, if there is one.
        anonymous: leave the token out, so that the aggregator cannot tell who asks.
        """
        headers = {} if anonymous else {"Authorization": f"Bearer {self._token}"}
        if content is not None:
            headers["Content-Type"] = content_type
        reason = ""
        for attempt in range(1, ATTEMPTS + 1):
            wait = min(_LONGEST_WAIT, 0.5 * 2.0 ** (attempt - 1)) * random.uniform(0.5, 1.0)
            try:
                status, asked_for, body = self._send(method, path, longest, content, headers)
            except httpx.TransportError as error:
                if refused := explain_certificate(error):
                    raise AggregatorError(f"{self.address.url} is not to be trusted: {refused}") from None
                reason = " ".join(str(error).split()).lower() or type(error).__name__
                if not self._patience.lost_connections:
                    raise AggregatorError(f"cannot reach {self.address.url}: {reason}: is privact serve running there?") from None
                reason = type(error).__name__
            else:
                if status not in self._patience.statuses:
                    return Response(status, body, attempt)
                reason = f"status {status}"
                if asked_for.isascii() and asked_for.isdigit():
                    wait = min(_LONGEST_WAIT, max(wait, float(asked_for)))
            if attempt < ATTEMPTS:
                self._sleep(wait)
        raise AggregatorError(
            f"{self.address.url} cannot be reached ({reason}, {ATTEMPTS} attempts): run this again later, the same bytes are sent"
        )

    def _send(
        self, method: str, path: str, longest: int, content: bytes | None, headers: dict[str, str]
    ) -> tuple[int, str, bytes]:
        """Send a request once: status, Retry-After, and content of the response."""
        end = time.monotonic() + max(_LONGEST_TRANSFER, self._patience.seconds)
        with self._client.stream(method, self.address.url + path, content=content, headers=headers) as response:
            body = bytearray()
            if response.headers.get("Content-Encoding", "identity") != "identity":  # it could unpack to anything
                raise AggregatorError(f"{path} at {self.address.url} is packed, which nobody asked for: tell the operator")
            for part in response.iter_bytes():
                body += part
                if len(body) > longest:
                    raise AggregatorError(f"{path} at {self.address.url} is longer than {longest} bytes: tell the operator")
                if time.monotonic() > end:
                    raise httpx.ReadTimeout("too slow")
            return response.status_code, response.headers.get("Retry-After", ""), bytes(body)
