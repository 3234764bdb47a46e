"""Whether the server lives, is ready, and how it does; and what it is."""

from __future__ import annotations

import shutil
from typing import Final

from fastapi import APIRouter
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import Response

from privact import __version__
from privact.aggregator.http.dependencies import Uses
from privact.aggregator.http.models import Service, Status
from privact.aggregator.http.prometheus import CONTENT_TYPE
from privact.aggregator.http.responses import Json, Refusal, describe, describe_bytes
from privact.aggregator.storage.migrations import is_current
from privact.protocol.round import Round

__all__ = ["router"]

router = APIRouter(tags=["service"])

_OK: Final = {"status": "ok"}
_NOT_READY: Final = "the database does not answer: try again in 1 s"


@router.get("/healthz", responses=describe(Status))
async def healthz() -> Json:
    """Whether the process lives."""
    return Json(_OK)


@router.get("/readyz", responses=describe(Status, 503, _503=_NOT_READY))
def readyz(services: Uses) -> Json:
    """Whether the database answers, has the tables of this version, and there is room on the disk."""
    free = shutil.disk_usage(services.settings.data_folder).free
    if free < services.settings.minimum_free_bytes:
        least = services.settings.minimum_free_bytes
        raise Refusal(503, f"{free} bytes are free on the disk, fewer than {least}: make room on it", retry_after=60)
    try:
        with services.store.read() as connection:
            if is_current(connection):
                return Json(_OK)
    except SQLAlchemyError:
        raise Refusal(503, _NOT_READY, retry_after=1) from None
    raise Refusal(503, "the database has tables of another version: restart the server", retry_after=60)


@router.get(
    "/metrics",
    response_class=Response,
    responses=describe_bytes(
        "Prometheus' text format.", "text/plain", example='privact_reports_total{outcome="accepted"} 1843.0\n'
    )
    | describe(None, 503),
)
def get_metrics(services: Uses) -> Response:
    """Counters for Prometheus: reports, requests, the queue, rounds and learning times. No user is in them."""
    return Response(services.metrics.text(), media_type=CONTENT_TYPE)


@router.get("/v1", responses=describe(Service))
async def get_service(services: Uses) -> Json:
    """What this server is."""
    return Json(
        {
            "name": "privact",
            "version": __version__,
            "protocol_version": Round.version,
            "minimum_users": services.settings.minimum_users,
            "accepts": {"report": "application/octet-stream", "labels": "text/csv"},
        }
    )
