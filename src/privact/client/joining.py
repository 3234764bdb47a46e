"""Accepting an invitation: its code + a token that this device has drawn -> the token is the user's, the code is worthless."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import Final

import httpx

from privact.client.connection import Connection, Patience
from privact.errors import AggregatorError
from privact.protocol.addresses import Address

__all__ = ["accept_invitation"]

# The same request again has the same result: whatever happened to the first, another does no harm.
_PATIENCE: Final = Patience(frozenset({429, 500, 502, 503, 504}), lost_connections=True, seconds=20.0)


def accept_invitation(
    address: Address,
    code: str,
    token: str,
    *,
    transport: httpx.BaseTransport | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Make a token the user's; refused if the invitation was used with another token, revoked or replaced.

    address: the aggregator. code: of the invitation. token: drawn and stored on this device; only its SHA-256 is sent.
    transport, sleep: as for DeviceClient.
    """
    body = json.dumps({"token_sha256": hashlib.sha256(token.encode()).hexdigest()}).encode()
    connection = Connection(address, code, _PATIENCE, "privact-device", transport=transport, sleep=sleep)
    with connection:
        response = connection.ask("POST", "/v1/join", longest=65536, content=body, content_type="application/json")
    if response.status == 401:
        raise AggregatorError(f"{address.url} does not know this invitation: it was revoked or renewed, so ask for a new one")
    if response.status == 409:
        raise AggregatorError("this invitation was used before: go on where it was used; if that was not you, ask for a new one")
    if response.status == 404:
        raise AggregatorError(f"{address.url} takes no invitations: ask the operator for a token")
    if not response.is_success:
        raise AggregatorError(f"{address.url} did not take the invitation: {response.error_line()}: ask the operator")
