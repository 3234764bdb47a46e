"""How the server answers: JSON in plain ASCII, and every refusal as one line of the same shape."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, Field
from starlette.responses import Response

__all__ = ["ErrorAnswer", "Json", "Refusal", "errors", "refused"]

_EXAMPLES: Final = {
    400: "user id '' is empty after normalising; give an id with at least one character besides spaces and @",
    401: "a valid token is needed: send it as 'Authorization: Bearer TOKEN'",
    404: "no round 'spring'",
    405: "this address does not take DELETE",
    409: "round 'spring' is open, not a draft",
    410: "round 'spring' takes no more reports",
    413: "the body is longer than 65536 bytes",
    425: "round 'spring' opens at 1767225600; try again then",
    429: "too many requests: try again in 3 s",
    503: "the server is busy: try again in 1 s",
}


class ErrorAnswer(BaseModel):
    """What every refusal looks like."""

    error: str = Field(description="What is wrong and what to do, in one line.")


class Refusal(Exception):
    """A request that is refused.

    status: the HTTP status, 400 to 599.
    message: what is wrong and what to do, in one line.
    retry_after: seconds after which to try again, if that helps.
    """

    def __init__(self, status: int, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after


class Json(Response):
    """An answer in JSON. Everything but ASCII is escaped, so that no text, however broken, can fail to be sent."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes of the answer."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def refused(refusal: Refusal) -> Json:
    """The answer to a refused request."""
    headers = {}
    if refusal.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if refusal.status == 413:
        headers["Connection"] = "close"  # the rest of the body is not read
    if refusal.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(refusal.retry_after)))
    return Json({"error": " ".join(refusal.message.split())}, refusal.status, headers)


def errors(*statuses: int, **examples: str) -> dict[int | str, dict[str, Any]]:
    """The refusals of a route for its OpenAPI description.

    statuses: the HTTP statuses with which it may refuse.
    examples: an example of its own for a status, as `_404="..."`.
    """
    return {status: _described(status, examples.get(f"_{status}", _EXAMPLES[status])) for status in statuses}


def _described(status: int, example: str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "model": ErrorAnswer,
        "description": _MEANING[status],
        "content": {"application/json": {"example": {"error": example}}},
    }
    if status in (429, 503):
        described["headers"] = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}}
    return described


_MEANING: Final[Mapping[int, str]] = {
    400: "The request is malformed.",
    401: "The token is missing or wrong, or its user is unknown: the same answer for all three.",
    404: "There is no such thing.",
    405: "This address does not take this method.",
    409: "Not in this state.",
    410: "Too late.",
    413: "The body is too long.",
    425: "Too early.",
    429: "Too many requests.",
    503: "The server is busy or its database does not answer.",
}
