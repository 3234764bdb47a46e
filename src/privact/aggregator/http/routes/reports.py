"""Reports: each user sends one per round, and may read it back."""

from __future__ import annotations

import json
import time
from functools import lru_cache
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from privact.aggregator.domain.access.tokens import read_claim
from privact.aggregator.domain.intake import Arrival, Outcome, read_report
from privact.aggregator.domain.refusals import Busy
from privact.aggregator.http.batches import Overloaded
from privact.aggregator.http.dependencies import RoundId, SignedIn, Uses
from privact.aggregator.http.models import ReportResponse
from privact.aggregator.http.request_bodies import read_body
from privact.aggregator.http.responses import BY_USER, Refusal, describe, describe_bytes
from privact.aggregator.http.services import Services

__all__ = ["put_report", "router"]

router = APIRouter(tags=["reports"])

_STATUS: Final[dict[Outcome, int]] = {
    "accepted": 201, "again": 200, "different": 409, "closed": 410, "early": 425, "malformed": 400, "unknown round": 404,
}  # fmt: skip
_BYTES: Final[dict[str, Any]] = {"schema": {"type": "string", "format": "binary"}, "example": "PCRP..."}


@router.put(
    "/v1/rounds/{round_id}/report",
    status_code=201,
    responses=describe(ReportResponse, status=201, meaning="Accepted: it is on disk.")
    | describe(
        ReportResponse,
        400, 401, 404, 409, 410, 413, 425, 429, 503,
        meaning="The same bytes were accepted before; also after the round has closed.",
        _400="3 bytes starting with b'abc' are not a report, which starts with b'PCRP'",
        _409="round 'spring' has another report of yours already; the first one stays",
    ),
    openapi_extra=BY_USER | {"requestBody": {"required": True, "content": {"application/octet-stream": _BYTES}}},
)  # fmt: skip
async def put_report(request: Request, round_id: RoundId) -> Response:
    """Send the report of the token's user, in its canonical bytes. The response comes once it is on disk."""
    services: Services = request.app.state.services  # no dependencies: the fast path of http/middleware.py calls this directly
    begin, claim = time.monotonic(), read_claim(request.scope["headers"])
    services.gate.pace_failures(request, claim)
    services.gate.pace(claim)
    body = await read_body(request, await services.parameters.longest_report(round_id))
    try:
        decision = await services.intake.ask(Arrival(round_id, claim, body))
    except Overloaded:
        services.metrics.outcome("overloaded").inc()
        raise Busy from None
    services.metrics.outcome(decision.outcome).inc()
    if decision.outcome == "unauthorised":
        await services.gate.refuse(request, begin)
    status = _STATUS[decision.outcome]
    if status >= 400:
        raise Refusal(status, decision.message)
    if decision.late and status == 201:
        services.supervisor.wake()
    return Response(_write_response(round_id, status, decision.late), status, media_type="application/json")


@lru_cache(maxsize=256)
def _write_response(round_id: str, status: int, late: bool) -> bytes:
    """The JSON of a response, which all reports of a round share."""
    said = "accepted" if status == 201 else "already accepted"
    return json.dumps({"round": round_id, "status": said, "late": late}, separators=(",", ":")).encode()


@router.get(
    "/v1/rounds/{round_id}/report",
    response_class=Response,
    responses=describe_bytes("The bytes that were accepted.", "application/octet-stream", example="PCRP...")
    | describe(None, 401, 404, 429, 503, _404="you have no report in round 'spring'"),
    openapi_extra=BY_USER,
)
def get_report(round_id: RoundId, services: Uses, user: SignedIn) -> Response:
    """The report of the token's user, as it was accepted."""
    return Response(read_report(services.store, round_id, user), media_type="application/octet-stream")
