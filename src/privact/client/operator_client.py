"""What an operator asks of an aggregator: HTTP with the operator's token, and one line when something is wrong."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final

import httpx

from privact.client.connection import Connection, Patience, Response
from privact.errors import AggregatorError
from privact.protocol.addresses import Address

__all__ = ["OperatorClient"]

# Enrolling twice would lose tokens: only what was refused unread is sent again.
_PATIENCE: Final = Patience(frozenset({429}), lost_connections=False, seconds=120.0)
_LONGEST: Final = 2**30  # bytes: the operator trusts the own aggregator


class OperatorClient:
    """A connection to one aggregator, for its operator.

    address: where it is.
    token: the operator's secret.
    transport: how requests travel; the network if absent.
    sleep: takes seconds; waits between attempts.
    """

    def __init__(
        self,
        address: Address,
        token: str,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address = address
        self._connection = Connection(address, token, _PATIENCE, "privact-operator", transport=transport, sleep=sleep)

    def __enter__(self) -> OperatorClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._connection.close()

    def ask(self, method: str, path: str, document: Any = None, content: bytes | None = None) -> Response:
        """The response to a request; anything but success is an error in one line.

        method, path: of the request; the path begins with /v1.
        document: a JSON body; content: a text body instead.
        """
        kind = "text/csv; charset=utf-8"
        if document is not None:
            content, kind = json.dumps(document).encode(), "application/json"
        response = self._connection.ask(method, path, longest=_LONGEST, content=content, content_type=kind)
        if response.is_success:
            return response
        line = response.error_line()
        if line == f"status {response.status}":
            line = f"{self.address.url} answered {response.status}: is it an aggregator?"
        raise AggregatorError(line)

    def ask_json(self, method: str, path: str, document: Any = None, content: bytes | None = None) -> Any:
        """The JSON object that the aggregator sends, or None if it sends nothing; arguments as for ask."""
        response = self.ask(method, path, document, content)
        if not response.content:
            return None
        try:
            found = response.json()
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise AggregatorError(f"{self.address.url} did not answer in JSON: is it an aggregator?")
        return found
