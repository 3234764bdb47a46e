"""Rounds: everyone may see them; the operator makes, opens and closes them."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Depends
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from privact.aggregator.domain.labels import read_labels
from privact.aggregator.domain.round_descriptions import describe, described_rounds, label_bytes
from privact.aggregator.domain.rounds import close_round, create_round, find_round, keep_labels, open_round
from privact.aggregator.domain.tokens import presented
from privact.aggregator.http.auth import operator_only
from privact.aggregator.http.models import RoundAnswer, RoundList, RoundWish, body
from privact.aggregator.http.request_bodies import posted, read_body
from privact.aggregator.http.responses import Json, Refusal, errors

__all__ = ["router"]

router = APIRouter(tags=["rounds"])

_LONGEST_WISH: Final = 16 * 2**10
_LONGEST_LABELS: Final = 128 * 2**20
_OPERATOR: Final[dict[str, Any]] = {"security": [{"operator": []}]}
_FOREVER: Final = {"Cache-Control": "public, max-age=86400, immutable"}
_WISH: Final = {"id": "spring", "epsilon": 1.0, "closes": 1769904000, "joiner_seconds": 604800}
_ROUND: Final[dict[str, Any]] = {
    "id": "spring", "state": "open", "epsilon": 1.0, "epsilon_report": 0.5, "n_bins": 7, "bins": "random", "n_users": 1843,
    "opens": 1767225600, "closes": 1769904000, "joiner_seconds": 604800, "digest": "5d" * 32,
    "privacy": "Per edge: in round spring, whether any one contact exists changes ...", "reports": 912, "joiners": 0,
    "progress": None, "failure": None, "opened_at": 1767225600, "closed_at": None, "released_at": None, "created_at": 1767225000,
}  # fmt: skip
_ANSWER: Final[dict[str, Any]] = {"model": RoundAnswer, "content": {"application/json": {"example": _ROUND}}}
_BYTES: Final[dict[str, Any]] = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}


@router.get(
    "/v1/rounds",
    responses={200: {"model": RoundList, "content": {"application/json": {"example": {"rounds": [_ROUND]}}}}, **errors(503)},
    openapi_extra={"security": [{}, {"operator": []}]},
)
async def get_rounds(request: Request) -> Json:
    """All rounds, newest first; drafts only for the operator."""
    drafts = await _sees_drafts(request)

    def read() -> list[dict[str, Any]]:
        with request.app.state.store.read() as connection:
            return described_rounds(connection, drafts=drafts)

    return Json({"rounds": await run_in_threadpool(read)})


@router.get("/v1/rounds/{id}", responses={200: _ANSWER, **errors(404, 503)}, openapi_extra={"security": [{}, {"operator": []}]})
async def get_round(request: Request, id: str) -> Json:
    """One round; a draft only for the operator."""
    return await _described(request, id, drafts=await _sees_drafts(request))


@router.get(
    "/v1/rounds/{id}/parameters",
    response_class=Response,
    responses={200: {"description": "Canonical bytes; they never change.", "content": _BYTES}, **errors(404, 503)},
)
def get_parameters(request: Request, id: str) -> Response:
    """The parameters of a round, to which devices bind their reports."""
    parameters = request.app.state.parameters.find(id)
    if parameters is None:
        raise Refusal(404, f"no round {id!r}")
    return Response(parameters, media_type="application/octet-stream", headers=_FOREVER)


@router.get(
    "/v1/rounds/{id}/labels",
    response_class=Response,
    responses={
        200: {"description": "The label table in canonical bytes; it never changes.", "content": _BYTES},
        **errors(404, 503, _404="round 'spring' has random bins and no labels"),
    },
)
def get_labels(request: Request, id: str) -> Response:
    """The whole label table of a round: nobody asks for one user's label, which would tell a contact."""
    with request.app.state.store.read() as connection:
        row = find_round(connection, id)
        table = None if row.state == "draft" else label_bytes(connection, id)
    if row.state == "draft":
        raise Refusal(404, f"no round {id!r}")
    if table is None:
        raise Refusal(404, f"round {id!r} has random bins and no labels")
    return Response(table, media_type="application/octet-stream", headers=_FOREVER)


@router.post(
    "/v1/rounds",
    status_code=201,
    dependencies=[Depends(operator_only)],
    responses={201: _ANSWER, **errors(400, 401, 409, 413, 429, 503, _409="there is a round 'spring' already: choose another id")},
    openapi_extra=_OPERATOR | body(RoundWish, _WISH),
)
async def make_round(request: Request) -> Json:
    """Make a draft of a round."""
    wish = await posted(request, RoundWish, _LONGEST_WISH)
    state = request.app.state
    await run_in_threadpool(create_round, state.store, wish.model_dump(), int(state.now()))
    return await _described(request, wish.id, drafts=True, status=201)


@router.put(
    "/v1/rounds/{id}/labels",
    dependencies=[Depends(operator_only)],
    responses={200: _ANSWER, **errors(400, 401, 404, 409, 413, 429, 503)},
    openapi_extra=_OPERATOR
    | {
        "requestBody": {
            "required": True,
            "content": {"text/csv": {"schema": {"type": "string"}, "example": "user,label\nada@a.example,a.example\n"}},
        }
    },
)
async def put_labels(request: Request, id: str) -> Json:
    """Give a draft its public labels, lines `user,label`; they must not come from anyone's contacts."""
    text = await read_body(request, _LONGEST_LABELS)
    source = await run_in_threadpool(read_labels, text)
    await run_in_threadpool(keep_labels, request.app.state.store, id, source)
    return await _described(request, id, drafts=True)


@router.post(
    "/v1/rounds/{id}/open",
    dependencies=[Depends(operator_only)],
    responses={200: _ANSWER, **errors(400, 401, 404, 409, 429, 503)},
    openapi_extra=_OPERATOR,
)
async def open_(request: Request, id: str) -> Json:
    """Open a draft for everyone who is enrolled now. Its parameters are fixed from then on."""
    state = request.app.state
    await run_in_threadpool(open_round, state.store, id, int(state.now()), state.settings.minimum_users)
    return await _described(request, id, drafts=True)


@router.post(
    "/v1/rounds/{id}/close",
    dependencies=[Depends(operator_only)],
    responses={200: _ANSWER, **errors(401, 404, 409, 429, 503, _409="round 'spring' is draft, not open")},
    openapi_extra=_OPERATOR,
)
async def close(request: Request, id: str) -> Json:
    """Close an open round; its tree is then learned and released by itself."""
    state = request.app.state
    await run_in_threadpool(close_round, state.store, id, int(state.now()))
    state.learner.wake()
    return await _described(request, id, drafts=True)


async def _described(request: Request, round_id: str, *, drafts: bool, status: int = 200) -> Json:
    """A round as the API shows it."""

    def read() -> dict[str, Any]:
        with request.app.state.store.read() as connection:
            row = find_round(connection, round_id)
            if row.state == "draft" and not drafts:
                raise Refusal(404, f"no round {round_id!r}")
            return describe(row)

    return Json(await run_in_threadpool(read), status)


async def _sees_drafts(request: Request) -> bool:
    """Whether it is the operator who asks; everyone else is simply not shown drafts."""
    shown = presented(request.scope["headers"])
    return bool(await request.app.state.gate.is_operator(shown))
