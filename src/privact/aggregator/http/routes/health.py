"""Whether the server lives, is ready, and how it does; and what it is."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import Response

from privact import __version__
from privact.aggregator.http.responses import Json, Refusal, errors
from privact.aggregator.metrics import CONTENT_TYPE
from privact.aggregator.storage.migrations import is_current
from privact.protocol.round import Round

__all__ = ["router"]

router = APIRouter(tags=["service"])

_OK: Final = {"status": "ok"}
_NOT_READY: Final = "the database does not answer: try again in 1 s"


class Status(BaseModel):
    """All is well."""

    status: Literal["ok"]


class Service(BaseModel):
    """What this server is."""

    name: Literal["privact"]
    version: str
    protocol_version: int = Field(description="Version of round parameters and reports.")
    minimum_users: Annotated[int, Field(description="Fewest users of a round.")]
    accepts: dict[str, str] = Field(description="Media type of each kind of upload.")


@router.get("/healthz", responses={200: {"model": Status, "content": {"application/json": {"example": _OK}}}})
async def healthz() -> Json:
    """Whether the process lives."""
    return Json(_OK)


@router.get(
    "/readyz",
    responses={200: {"model": Status, "content": {"application/json": {"example": _OK}}}, **errors(503, _503=_NOT_READY)},
)
def readyz(request: Request) -> Json:
    """Whether the database answers and has the tables of this version."""
    try:
        with request.app.state.store.read() as connection:
            if is_current(connection):
                return Json(_OK)
    except SQLAlchemyError:
        raise Refusal(503, _NOT_READY, retry_after=1) from None
    raise Refusal(503, "the database has tables of another version: restart the server", retry_after=60)


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {
            "description": "Prometheus' text format.",
            "content": {
                "text/plain": {"schema": {"type": "string"}, "example": 'privact_reports_total{outcome="accepted"} 1843.0\n'}
            },
        },
        **errors(503),
    },
)
def metrics(request: Request) -> Response:
    """Counters for Prometheus: reports, requests, the queue, rounds and learning times. No user is in them."""
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE)


_SERVICE: Final[dict[str, Any]] = {
    "name": "privact",
    "version": __version__,
    "protocol_version": Round.version,
    "minimum_users": 100,
    "accepts": {"report": "application/octet-stream", "labels": "text/csv"},
}


@router.get("/v1", responses={200: {"model": Service, "content": {"application/json": {"example": _SERVICE}}}})
async def service(request: Request) -> Json:
    """What this server is."""
    return Json(_SERVICE | {"minimum_users": request.app.state.settings.minimum_users})
