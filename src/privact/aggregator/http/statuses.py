"""Which status an exception becomes: what the domain refuses -> what the client is told."""

from __future__ import annotations

import logging

from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.requests import ClientDisconnect

from privact.aggregator.domain.refusals import Busy, NotFound, Refused, WrongState
from privact.aggregator.http.request_bodies import explain
from privact.aggregator.http.responses import Refusal
from privact.errors import InputError, ProtocolError, UnknownUserError

__all__ = ["EXPECTED", "find_refusal"]

EXPECTED = (
    Refusal,
    Refused,
    InputError,
    ProtocolError,
    UnknownUserError,
    RequestValidationError,
    DBAPIError,
    PoolTimeout,
    ClientDisconnect,
)
"""Exceptions that are no fault of the program."""
_log = logging.getLogger("privact.aggregator")


def find_refusal(error: Exception) -> Refusal | None:
    """What a client is told about an exception; None if the program is at fault."""
    match error:
        case Refusal():
            return error
        case NotFound() | UnknownUserError():
            return Refusal(404, str(error))
        case WrongState():
            return Refusal(409, str(error), error.retry_after)
        case Busy():
            return Refusal(503, "the server is busy: try again in 1 s", retry_after=1)
        case InputError() | ProtocolError():
            return Refusal(400, str(error))
        case RequestValidationError():
            return Refusal(400, explain(error.errors()[0]))
        case ClientDisconnect():
            return Refusal(400, "the body ended early")
        case DBAPIError() | PoolTimeout():
            reason = " ".join(str(getattr(error, "orig", error)).split())
            _log.error("the database does not answer", extra={"error": type(error).__name__, "reason": reason})
            return Refusal(503, "the database does not answer: try again in 1 s", retry_after=1)
    return None
