"""Reports: each user sends one per round, and may read it back."""

from __future__ import annotations

import time
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends
from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response

from privact.aggregator.domain.batches import Batches, Overloaded
from privact.aggregator.domain.intake import Arrival, Decision, Outcome
from privact.aggregator.domain.tokens import presented
from privact.aggregator.http.auth import User, busy, signed_in
from privact.aggregator.http.models import ReportAnswer
from privact.aggregator.http.request_bodies import read_body
from privact.aggregator.http.responses import Json, Refusal, errors
from privact.aggregator.storage.schema import reports
from privact.protocol.round_ids import is_round_id

__all__ = ["router"]

router = APIRouter(tags=["reports"])

_STATUS: Final[dict[Outcome, int]] = {
    "accepted": 201, "again": 200, "different": 409, "closed": 410, "early": 425, "malformed": 400, "unknown round": 404,
}  # fmt: skip
_USER: Final[dict[str, Any]] = {"security": [{"user": []}]}
_BYTES: Final[dict[str, Any]] = {"schema": {"type": "string", "format": "binary"}, "example": "PCRP..."}


def _example(status: str) -> dict[str, Any]:
    return {"application/json": {"example": {"round": "spring", "status": status, "late": False}}}


@router.put(
    "/v1/rounds/{id}/report",
    status_code=201,
    responses={
        201: {"model": ReportAnswer, "description": "Accepted: it is on disk.", "content": _example("accepted")},
        200: {
            "model": ReportAnswer,
            "description": "The same bytes were accepted before; also after the round has closed.",
            "content": _example("already accepted"),
        },
        **errors(
            400, 401, 404, 409, 410, 413, 425, 429, 503,
            _400="3 bytes starting with b'abc' are not a report, which starts with b'PCRP'",
            _409="round 'spring' has another report of yours already; the first one stays",
        ),
    },
    openapi_extra=_USER | {"requestBody": {"required": True, "content": {"application/octet-stream": _BYTES}}},
)  # fmt: skip
async def put_report(request: Request, id: str) -> Json:
    """Send the report of the token's user, in its canonical bytes. The answer comes once it is on disk."""
    state = request.app.state
    begin, shown = time.monotonic(), presented(request.scope["headers"])
    state.gate.pace(shown)
    body = await read_body(request, await state.parameters.longest(id))
    intake: Batches[Arrival, Decision] = state.intake
    try:
        decision = await intake.ask(Arrival(id, shown, body))
    except Overloaded:
        state.metrics.outcome("overloaded").inc()
        raise busy() from None
    state.metrics.outcome(decision.outcome).inc()
    if decision.outcome == "unauthorised":
        await state.gate.refuse(request, begin)
    status = _STATUS[decision.outcome]
    if status >= 400:
        raise Refusal(status, decision.message)
    if decision.late and status == 201:
        state.learner.wake()
    return Json({"round": id, "status": "accepted" if status == 201 else "already accepted", "late": decision.late}, status)


@router.get(
    "/v1/rounds/{id}/report",
    response_class=Response,
    responses={
        200: {"description": "The bytes that were accepted.", "content": {"application/octet-stream": _BYTES}},
        **errors(401, 404, 429, 503, _404="you have no report in round 'spring'"),
    },
    openapi_extra=_USER,
)
def get_report(request: Request, id: str, user: Annotated[User, Depends(signed_in)]) -> Response:
    """The report of the token's user, as it was accepted."""
    wanted = select(reports.c.bytes).where(reports.c.round_id == id, reports.c.user == user.digest)
    stored = None
    if is_round_id(id):
        with request.app.state.store.read() as connection:
            stored = connection.execute(wanted).scalar_one_or_none()
    if stored is None:
        raise Refusal(404, f"you have no report in round {id!r}")
    return Response(stored, media_type="application/octet-stream")
