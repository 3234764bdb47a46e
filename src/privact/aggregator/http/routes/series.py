"""Series of rounds: everyone may see them; the operator makes and stops them, and the aggregator opens the rounds."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from privact.aggregator.domain.label_upload import read_labels
from privact.aggregator.domain.rounds import keep_labels, open_round
from privact.aggregator.domain.series.running_series import create_series, stop_series
from privact.aggregator.domain.series.series_descriptions import describe_series, list_series
from privact.aggregator.http.dependencies import Uses, find_sight, pace_public, require_scope
from privact.aggregator.http.request_bodies import read_body, read_json
from privact.aggregator.http.responses import BY_OPERATOR, Json, describe, describe_body
from privact.aggregator.http.routes.series_models import SeriesList, SeriesResponse, SeriesWish
from privact.aggregator.http.services import Services

__all__ = ["router"]

router = APIRouter(tags=["series"])

_LONGEST_WISH: Final = 16 * 2**10
_LONGEST_LABELS: Final = 128 * 2**20
_LABELS: Final[dict[str, Any]] = {"schema": {"type": "string"}, "example": "user,label\nada@a.example,a.example\n"}
_WISH: Final = {"name": "autumn", "epsilon": 4.0, "rounds": 4, "every_seconds": 604800}
_ANYONE_OR_OPERATOR: Final[dict[str, Any]] = {"security": [{}, {"operator": []}]}
_Name = Annotated[str, Path(description="The name of the series.")]


@router.get(
    "/v1/series",
    dependencies=[Depends(pace_public)],
    responses=describe(SeriesList, 429, 503),
    openapi_extra=_ANYONE_OR_OPERATOR,
)
async def get_all_series(request: Request, services: Uses) -> Json:
    """All series, newest first; drafts only for the operator."""
    drafts, reads = await find_sight(request, services)
    return Json({"series": await run_in_threadpool(list_series, services.store, drafts=drafts, reads=reads)})


@router.get(
    "/v1/series/{name}",
    dependencies=[Depends(pace_public)],
    responses=describe(SeriesResponse, 404, 429, 503, _404="no series 'autumn'"),
    openapi_extra=_ANYONE_OR_OPERATOR,
)
async def get_series(request: Request, name: _Name, services: Uses) -> Json:
    """One series, with its rounds and the evidence so far; a draft only for the operator."""
    drafts, reads = await find_sight(request, services)
    return Json(await run_in_threadpool(describe_series, services.store, name, drafts=drafts, reads=reads))


@router.post(
    "/v1/series",
    status_code=201,
    dependencies=[require_scope("rounds")],
    responses=describe(
        SeriesResponse, 400, 401, 403, 409, 413, 429, 503, status=201,
        _409="there is a series 'autumn' already, or a round of its name: choose another name",
    ),
    openapi_extra=BY_OPERATOR | describe_body(SeriesWish, _WISH),
)  # fmt: skip
async def post_series(request: Request, services: Uses) -> Json:
    """Make a series, whose first round is the draft `<name>.1`: give it labels if bins are labels, and open it.

    From then on the server closes each round in time, infers groups from all reports so far, opens the next round with
    these groups as bins, and releases the tree of the series after the last one.
    """
    wish = await read_json(request, SeriesWish, _LONGEST_WISH)
    request.scope["privact.subject"] = wish.name
    minimum = services.settings.minimum_epsilon
    await run_in_threadpool(create_series, services.store, wish.model_dump(), services.utc_seconds(), minimum)
    return await _respond(services, wish.name, status=201)


@router.put(
    "/v1/series/{name}/labels",
    dependencies=[require_scope("rounds")],
    responses=describe(SeriesResponse, 400, 401, 403, 404, 409, 413, 429, 503),
    openapi_extra=BY_OPERATOR | {"requestBody": {"required": True, "content": {"text/csv": _LABELS}}},
)
async def put_series_labels(request: Request, name: _Name, services: Uses) -> Json:
    """Give the first round of a series its public labels, lines `user,label`; they must not come from anyone's contacts."""
    source = await run_in_threadpool(read_labels, await read_body(request, _LONGEST_LABELS))
    await run_in_threadpool(keep_labels, services.store, f"{name}.1", source)
    return await _respond(services, name)


@router.post(
    "/v1/series/{name}/open",
    dependencies=[require_scope("rounds")],
    responses=describe(SeriesResponse, 400, 401, 403, 404, 409, 429, 503, _409="round 'autumn.1' is open, not a draft"),
    openapi_extra=BY_OPERATOR,
)
async def post_series_open(name: _Name, services: Uses) -> Json:
    """Open the first round of a series for everyone who is enrolled now; the others follow by themselves."""
    minimum = services.settings.minimum_users
    await run_in_threadpool(open_round, services.store, f"{name}.1", services.utc_seconds(), minimum, services.signing_key)
    return await _respond(services, name)


@router.post(
    "/v1/series/{name}/stop",
    dependencies=[require_scope("rounds")],
    responses=describe(SeriesResponse, 401, 403, 404, 409, 429, 503, _409="series 'autumn' has ended already"),
    openapi_extra=BY_OPERATOR,
)
async def post_stop(
    name: _Name,
    services: Uses,
    force: Annotated[bool, Query(description="Stop it even with too few reports to learn from: the series then fails.")] = False,
) -> Json:
    """Stop a series early: no further round is opened, and the tree is learned from what was reported.

    If no round has the minimum of reports, nothing could be learned, and it must be forced.
    """
    minimum = 0 if force else services.settings.minimum_users
    await run_in_threadpool(stop_series, services.store, name, services.utc_seconds(), minimum)
    services.supervisor.wake()
    return await _respond(services, name)


async def _respond(services: Services, name: str, status: int = 200) -> Json:
    """A series as an operator sees it."""
    return Json(await run_in_threadpool(describe_series, services.store, name, drafts=True), status)
