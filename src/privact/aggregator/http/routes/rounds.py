"""Rounds: everyone may see them; the operator makes, opens and closes them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from privact.aggregator.domain.label_upload import read_labels
from privact.aggregator.domain.refusals import NotFound
from privact.aggregator.domain.round_descriptions import describe_round, list_rounds, read_label_names, read_label_table
from privact.aggregator.domain.rounds import (
    close_round,
    create_round,
    delete_draft,
    find_round,
    keep_labels,
    open_round,
    retry_round,
)
from privact.aggregator.domain.signed_rounds import read_log
from privact.aggregator.http.dependencies import RoundId, Uses, find_sight, pace_public, require_label_reader, require_scope
from privact.aggregator.http.models import AnswersResponse, RoundList, RoundResponse, RoundWish
from privact.aggregator.http.request_bodies import read_body, read_json
from privact.aggregator.http.responses import BY_OPERATOR, Json, Refusal, describe, describe_body, describe_bytes
from privact.aggregator.http.services import Services
from privact.aggregator.http.tree_models import LabelNamesResponse
from privact.aggregator.storage.answer_times import count_answers

__all__ = ["router"]

router = APIRouter(tags=["rounds"])

_LONGEST_WISH: Final = 16 * 2**10
_LONGEST_LABELS: Final = 128 * 2**20
_FOREVER: Final = {"Cache-Control": "public, max-age=86400, immutable"}
_WISH: Final = {"id": "spring", "epsilon": 1.0, "closes": 1769904000, "joiner_seconds": 604800}
_LABELS: Final[dict[str, Any]] = {"schema": {"type": "string"}, "example": "user,label\nada@a.example,a.example\n"}
_ANYONE_OR_OPERATOR: Final[dict[str, Any]] = {"security": [{}, {"operator": []}]}


@router.get(
    "/v1/rounds",
    dependencies=[Depends(pace_public)],
    responses=describe(RoundList, 429, 503),
    openapi_extra=_ANYONE_OR_OPERATOR,
)
async def get_rounds(request: Request, services: Uses) -> Json:
    """All rounds, newest first; drafts only for the operator."""
    drafts, reads = await find_sight(request, services)
    return Json({"rounds": await run_in_threadpool(list_rounds, services.store, drafts=drafts, reads=reads)})


@router.get("/v1/rounds/{round_id}", responses=describe(RoundResponse, 404, 503), openapi_extra=_ANYONE_OR_OPERATOR)
async def get_round(request: Request, round_id: RoundId, services: Uses) -> Json:
    """One round; a draft only for the operator."""
    drafts, reads = await find_sight(request, services)
    return Json(await run_in_threadpool(describe_round, services.store, round_id, drafts=drafts, reads=reads))


@router.get(
    "/v1/rounds/{round_id}/answers",
    dependencies=[Depends(pace_public)],
    responses=describe(AnswersResponse, 404, 429, 503),
)
async def get_answers(round_id: RoundId, services: Uses) -> Json:
    """How many reports came when, in at most a few dozen equal stretches from the opening to the close or to now."""

    def count() -> dict[str, Any]:
        with services.store.read() as connection:
            row = find_round(connection, round_id)
            if row.opened is None:
                raise NotFound(f"no round {round_id!r}")
            until = row.closed or services.utc_seconds()
            return {"round": round_id} | count_answers(connection, round_id, row.opened, until)

    return Json(await services.public.run(count))


@router.get(
    "/v1/rounds/{round_id}/parameters",
    response_class=Response,
    responses=describe_bytes("Canonical bytes; they never change.", "application/octet-stream") | describe(None, 404, 503),
)
def get_parameters(round_id: RoundId, services: Uses) -> Response:
    """The parameters of a round, to which devices bind their reports."""
    parameters = services.parameters.find(round_id)
    if parameters is None:
        raise Refusal(404, f"no round {round_id!r}")
    return Response(parameters, media_type="application/octet-stream", headers=_FOREVER)


@router.get(
    "/v1/rounds/{round_id}/labels",
    response_class=Response,
    dependencies=[Depends(pace_public), Depends(require_label_reader)],
    responses=describe_bytes("The label table in canonical bytes; it never changes.", "application/octet-stream")
    | describe(None, 401, 404, 429, 503, _404="round 'spring' has random bins and no labels"),
)
async def get_labels(round_id: RoundId, services: Uses) -> Response:
    """The whole label table of a round: nobody asks for one user's label, which would tell a contact."""
    table = await services.public.run(partial(read_label_table, services.store, round_id))
    return Response(table, media_type="application/octet-stream", headers=_FOREVER)


@router.get(
    "/v1/rounds/{round_id}/labels/names",
    dependencies=[Depends(pace_public), Depends(require_label_reader)],
    responses=describe(LabelNamesResponse, 401, 404, 429, 503, _404="round 'spring' has random bins and no labels"),
)
async def get_label_names(round_id: RoundId, services: Uses) -> Response:
    """What the labels of a round are called, by number: for people to read."""
    names = await services.public.run(partial(read_label_names, services.store, round_id))
    return Json({"round": round_id, "names": names})


@router.get(
    "/v1/log",
    response_class=Response,
    dependencies=[Depends(pace_public)],
    responses=describe_bytes("The signed log in canonical bytes.", "application/octet-stream") | describe(None, 429, 503),
)
async def get_log(services: Uses) -> Response:
    """Every round that was ever opened, in order and signed: devices refuse a round that is not in it."""

    def read() -> bytes:
        with services.store.read() as connection:
            return read_log(connection, services.signing_key).to_bytes()

    return Response(await services.public.run(read), media_type="application/octet-stream")


@router.post(
    "/v1/rounds",
    status_code=201,
    dependencies=[require_scope("rounds")],
    responses=describe(
        RoundResponse, 400, 401, 403, 409, 413, 429, 503, status=201, _409="there is a round 'spring' already: choose another id"
    ),
    openapi_extra=BY_OPERATOR | describe_body(RoundWish, _WISH),
)
async def post_round(request: Request, services: Uses) -> Json:
    """Make a draft of a round."""
    wish = await read_json(request, RoundWish, _LONGEST_WISH)
    request.scope["privact.subject"] = wish.id
    minimum = services.settings.minimum_epsilon
    await run_in_threadpool(create_round, services.store, wish.model_dump(), services.utc_seconds(), minimum)
    return await _respond(services, wish.id, status=201)


@router.put(
    "/v1/rounds/{round_id}/labels",
    dependencies=[require_scope("rounds")],
    responses=describe(RoundResponse, 400, 401, 403, 404, 409, 413, 429, 503),
    openapi_extra=BY_OPERATOR | {"requestBody": {"required": True, "content": {"text/csv": _LABELS}}},
)
async def put_labels(request: Request, round_id: RoundId, services: Uses) -> Json:
    """Give a draft its public labels, lines `user,label`; they must not come from anyone's contacts."""
    text = await read_body(request, _LONGEST_LABELS)
    source = await run_in_threadpool(read_labels, text)
    await run_in_threadpool(keep_labels, services.store, round_id, source)
    return await _respond(services, round_id)


@router.delete(
    "/v1/rounds/{round_id}",
    status_code=204,
    response_class=Response,
    dependencies=[require_scope("rounds")],
    responses=describe(None, 401, 403, 404, 409, 429, 503, _409="round 'spring' is open, not a draft: only drafts can be deleted")
    | {204: {"description": "Deleted."}},
    openapi_extra=BY_OPERATOR,
)
async def delete_round(round_id: RoundId, services: Uses) -> Response:
    """Delete a draft with its labels. A round that was ever open stays."""
    await run_in_threadpool(delete_draft, services.store, round_id)
    return Response(status_code=204)


@router.post(
    "/v1/rounds/{round_id}/open",
    dependencies=[require_scope("rounds")],
    responses=describe(RoundResponse, 400, 401, 403, 404, 409, 429, 503),
    openapi_extra=BY_OPERATOR,
)
async def post_open(round_id: RoundId, services: Uses) -> Json:
    """Open a draft for everyone who is enrolled now. Its parameters are fixed from then on."""
    minimum = services.settings.minimum_users
    await run_in_threadpool(open_round, services.store, round_id, services.utc_seconds(), minimum, services.signing_key)
    return await _respond(services, round_id)


@router.post(
    "/v1/rounds/{round_id}/close",
    dependencies=[require_scope("rounds")],
    responses=describe(RoundResponse, 400, 401, 403, 404, 409, 429, 503, _409="round 'spring' is draft, not open"),
    openapi_extra=BY_OPERATOR,
)
async def post_close(
    round_id: RoundId,
    services: Uses,
    force: Annotated[bool, Query(description="Close it even with too few reports to learn from: the round then fails.")] = False,
) -> Json:
    """Close an open round; its tree is then learned and released by itself. Below the minimum of users it must be forced."""
    minimum = 0 if force else services.settings.minimum_users
    await run_in_threadpool(close_round, services.store, round_id, services.utc_seconds(), minimum)
    services.supervisor.wake()
    return await _respond(services, round_id)


@router.post(
    "/v1/rounds/{round_id}/learn",
    dependencies=[require_scope("rounds")],
    responses=describe(RoundResponse, 401, 403, 404, 409, 429, 503, _409="round 'spring' is open, not failed"),
    openapi_extra=BY_OPERATOR,
)
async def post_learn(round_id: RoundId, services: Uses) -> Json:
    """Learn a failed round again."""
    await run_in_threadpool(retry_round, services.store, round_id)
    services.supervisor.wake()
    return await _respond(services, round_id)


async def _respond(services: Services, round_id: str, status: int = 200) -> Json:
    """A round as an operator sees it."""
    return Json(await run_in_threadpool(describe_round, services.store, round_id, drafts=True), status)
