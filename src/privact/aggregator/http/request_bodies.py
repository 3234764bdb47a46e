"""Bodies of requests: read to a limit, then checked; nothing is read before it is known who asks."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from privact.aggregator.http.responses import Refusal

__all__ = ["explain", "read_body", "read_json"]

Model = TypeVar("Model", bound=BaseModel)


async def read_body(request: Request, longest: int) -> bytes:
    """The body of a request, refused as soon as it is known to be too long.

    request: whose body was not read yet.
    longest: bytes.
    """
    announced = next((value for name, value in request.scope["headers"] if name == b"content-length"), b"")
    if announced.isdigit() and (len(announced) > 18 or int(announced) > longest):
        raise _too_long(longest)
    parts, length = [], 0
    async for part in request.stream():
        length += len(part)
        if length > longest:
            raise _too_long(longest)
        parts.append(part)
    return b"".join(parts)


async def read_json(request: Request, model: type[Model], longest: int) -> Model:
    """The body of a request as a checked object.

    request: whose body was not read yet.
    model: what the body must be, as JSON.
    longest: bytes.
    """
    body = await read_body(request, longest)
    try:
        return model.model_validate_json(body, strict=True)
    except ValidationError as error:
        raise Refusal(400, explain(error.errors(include_url=False, include_input=False, include_context=False)[0])) from None


def explain(complaint: object) -> str:
    """What pydantic complains about, in one line: where, and what should be there.

    complaint: an entry of ValidationError.errors().
    """
    assert isinstance(complaint, dict)
    place = ".".join(str(part)[:40] for part in complaint["loc"])
    message = str(complaint["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    return f"{place or 'the body'}: {message[:1].lower()}{message[1:300]}"


def _too_long(longest: int) -> Refusal:
    return Refusal(413, f"the body is longer than {longest} bytes")
