"""How the server responds, and how routes describe it: JSON in plain ASCII, and every refusal as one line of the same shape."""

from __future__ import annotations

import json
import math
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from starlette.responses import Response

from privact.aggregator.http.models import ErrorResponse

__all__ = [
    "BY_INVITATION",
    "BY_OPERATOR",
    "BY_USER",
    "Json",
    "Refusal",
    "describe",
    "describe_api",
    "describe_body",
    "describe_bytes",
    "respond_to",
]

BY_USER: Final[dict[str, Any]] = {"security": [{"user": []}]}
"""OpenAPI: the route needs a user's token."""
BY_INVITATION: Final[dict[str, Any]] = {"security": [{"invitation": []}]}
"""OpenAPI: the route needs the code of an invitation."""
BY_OPERATOR: Final[dict[str, Any]] = {"security": [{"operator": []}]}
"""OpenAPI: the route needs an operator's token."""

_TOKENS: Final = {
    "user": {
        "type": "http",
        "scheme": "bearer",
        "description": "A user's token: 32 hexadecimal digits, a dot and 43 characters. The operator hands it out, once.",
    },
    "invitation": {
        "type": "http",
        "scheme": "bearer",
        "description": "The code of an invitation: `invite-`, 32 hexadecimal digits, a dot and 22 characters. It works once.",
    },
    "operator": {
        "type": "http",
        "scheme": "bearer",
        "description": "The operator's token: `operator.` and 43 characters, shown at the first start.",
    },
}
_ABOUT: Final = (
    "Devices send one noisy report per round; when a round closes, a cluster tree is learned from the reports and released. "
    'Every refusal is `{"error": "one line"}`. Times are UTC seconds since 1970.'
)
_REFUSALS: Final = {
    400: (
        "The request is malformed.",
        "user id '' is empty after normalising; give an id with at least one character besides spaces and @",
    ),
    401: (
        "The token is missing or wrong, or its user is unknown: the same response for all three.",
        "a valid token is needed: send it as 'Authorization: Bearer TOKEN'",
    ),
    403: (
        "The token of this operator lacks the scope.",
        "the token of operator 'night' may not do this: it has read, this needs rounds",
    ),
    404: ("There is no such thing.", "no round 'spring'"),
    405: ("This address does not take this method.", "this address does not take DELETE"),
    409: ("Not in this state.", "round 'spring' is open, not a draft"),
    410: ("Too late.", "round 'spring' takes no more reports"),
    413: ("The body is too long.", "the body is longer than 65536 bytes"),
    425: ("Too early.", "round 'spring' opens on 1 January 2026, 00:00 UTC; try again then"),
    429: ("Too many requests.", "too many requests: try again in 3 s"),
    503: ("The server is busy or its database does not answer.", "the server is busy: try again in 1 s"),
}


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
    """A response in JSON. Everything but ASCII is escaped, so that no text, however broken, can fail to be sent."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes of the response."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def respond_to(refusal: Refusal) -> Json:
    """The response to a refused request."""
    headers = {}
    if refusal.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if refusal.status == 413:
        headers["Connection"] = "close"  # the rest of the body is not read
    if refusal.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(refusal.retry_after)))
    return Json({"error": " ".join(refusal.message.split())}, refusal.status, headers)


def describe(
    model: type[BaseModel] | None, *refusals: int, status: int = 200, meaning: str = "", **examples: str
) -> dict[int | str, dict[str, Any]]:
    """The responses of a route for its OpenAPI description.

    model: what a successful response holds; None if it is not JSON (see describe_bytes) or is described elsewhere.
    refusals: the HTTP statuses with which it may refuse.
    status, meaning: of the successful response.
    examples: a message of its own for a refusal, as `_404="..."`.
    """
    described: dict[int | str, dict[str, Any]] = {}
    if model is not None:
        described[status] = {"model": model} | ({"description": meaning} if meaning else {})
    for refusal in refusals:
        meant, message = _REFUSALS[refusal]
        described[refusal] = {
            "model": ErrorResponse,
            "description": meant,
            "content": {"application/json": {"example": {"error": examples.get(f"_{refusal}", message)}}},
        }
        if refusal in (429, 503):
            seconds = {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}
            described[refusal]["headers"] = {"Retry-After": seconds}
    return described


def describe_bytes(meaning: str, *media_types: str, example: str | None = None) -> dict[int | str, dict[str, Any]]:
    """A successful response that is not JSON, for the OpenAPI description.

    meaning: what the bytes are. media_types: how HTTP calls them; text types are described as text.
    """

    def content(media_type: str) -> dict[str, Any]:
        schema = {"type": "string"} if media_type.startswith("text/plain") else {"type": "string", "format": "binary"}
        return {"schema": schema} | ({} if example is None else {"example": example})

    return {200: {"description": meaning, "content": {media_type: content(media_type) for media_type in media_types}}}


def describe_body(model: type[BaseModel], example: dict[str, Any]) -> dict[str, Any]:
    """The JSON body of a route that reads it itself, after it knows who asks.

    model: what the body must be.
    example: a body.
    """
    schema = model.model_json_schema()
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema, "example": example}}}}


def describe_api(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of an application."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, routes=app.routes, description=_ABOUT)
        document.setdefault("components", {})["securitySchemes"] = _TOKENS
        for path in document["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)  # refused with 400 and one line instead
        for unused in ("HTTPValidationError", "ValidationError"):
            document["components"].get("schemas", {}).pop(unused, None)
        app.openapi_schema = document
    return app.openapi_schema
