"""Users: the operator enrols and removes them; a user sees himself."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from privact.aggregator.domain.enrolment import count_users, enrol, list_users, remove, replace_token
from privact.aggregator.domain.round_descriptions import rounds_of_user
from privact.aggregator.http.auth import User, operator_only, signed_in
from privact.aggregator.http.models import Me, NewUsers, OneUser, Token, Tokens, UserList, body
from privact.aggregator.http.request_bodies import posted
from privact.aggregator.http.responses import Json, errors

__all__ = ["router"]

router = APIRouter(tags=["users"])

_LONGEST: Final = 16 * 2**20
_TOKEN: Final = "b7e0c5d1f0b94d1c8f6ab2c77f4b9a35.Zr0m6Q3mXw0d3b1nq8m2oZ5yN0c4u7T9aF1kE2hJ3Lw"
_OPERATOR: Final[dict[str, Any]] = {"security": [{"operator": []}]}
_USER: Final[dict[str, Any]] = {"security": [{"user": []}]}


@router.post(
    "/v1/users",
    status_code=201,
    dependencies=[Depends(operator_only)],
    responses={
        201: {
            "model": Tokens,
            "description": "One token for each new user, shown this once.",
            "content": {"application/json": {"example": {"tokens": {"ada@a.example": _TOKEN}, "existing": ["bob@b.example"]}}},
        },
        **errors(400, 401, 413, 429, 503),
    },
    openapi_extra=_OPERATOR | body(NewUsers, {"users": ["@Ada@a.example", "bob@b.example"]}),
)
async def add_users(request: Request) -> Json:
    """Enrol up to 10,000 users. Who is enrolled already keeps the token and is listed in `existing`."""
    new = await posted(request, NewUsers, _LONGEST)
    state = request.app.state
    enrolled = await run_in_threadpool(enrol, state.store, new.users, int(state.now()))
    return Json(enrolled._asdict(), 201)


@router.get(
    "/v1/users",
    dependencies=[Depends(operator_only)],
    responses={
        200: {
            "model": UserList,
            "content": {
                "application/json": {
                    "example": {"users": [{"user": "ada@a.example", "enrolled_at": 1767225600}], "total": 1, "next": None}
                }
            },
        },
        **errors(400, 401, 429, 503),
    },
    openapi_extra=_OPERATOR,
)
def get_users(
    request: Request,
    after: Annotated[int, Query(ge=0, le=2**63 - 1, description="`next` of the page before.")] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000, description="How many at most.")] = 1000,
) -> Json:
    """Who is enrolled, in the order of enrolment, page by page."""
    with request.app.state.store.read() as connection:
        total = count_users(connection)
        rows = list_users(connection, after, limit)
    listed = [{"user": user, "enrolled_at": enrolled} for user, enrolled, _ in rows]
    return Json({"users": listed, "total": total, "next": rows[-1][2] if len(rows) == limit else None})


@router.post(
    "/v1/users/token",
    dependencies=[Depends(operator_only)],
    responses={
        200: {"model": Token, "content": {"application/json": {"example": {"user": "ada@a.example", "token": _TOKEN}}}},
        **errors(400, 401, 404, 413, 429, 503, _404="no user 'ada@a.example' is enrolled"),
    },
    openapi_extra=_OPERATOR | body(OneUser, {"user": "ada@a.example"}),
)
async def new_token(request: Request) -> Json:
    """Give a user a new token; the old one is worthless from then on."""
    one = await posted(request, OneUser, _LONGEST)
    user, digest, token = await run_in_threadpool(replace_token, request.app.state.store, one.user)
    request.app.state.gate.forget(digest)
    return Json({"user": user, "token": token})


@router.delete(
    "/v1/users/{user:path}",
    status_code=204,
    response_class=Response,
    dependencies=[Depends(operator_only)],
    responses={
        204: {"description": "Removed."},
        **errors(400, 401, 404, 429, 503, _404="no user 'ada@a.example' is enrolled"),
    },
    openapi_extra=_OPERATOR,
)
async def remove_user(request: Request, user: str) -> Response:
    """Remove a user: the token is worthless and future rounds leave the user out. Reports that were accepted stay."""
    state = request.app.state
    state.gate.forget(await run_in_threadpool(remove, state.store, user, int(state.now())))
    return Response(status_code=204)


@router.get(
    "/v1/me",
    responses={
        200: {
            "model": Me,
            "content": {
                "application/json": {
                    "example": {
                        "user": "ada@a.example",
                        "enrolled_at": 1767225600,
                        "rounds": [
                            {
                                "id": "spring",
                                "state": "open",
                                "digest": "5d" * 32,
                                "may_answer": True,
                                "answered_at": None,
                                "late": False,
                            }
                        ],
                    }
                }
            },
        },
        **errors(401, 429, 503),
    },
    openapi_extra=_USER,
)
def me(request: Request, user: Annotated[User, Depends(signed_in)]) -> Json:
    """The user whose token it is, and which rounds take an answer now."""
    with request.app.state.store.read() as connection:
        listed = rounds_of_user(connection, user, int(request.app.state.now()))
    return Json({"user": user.id, "enrolled_at": user.enrolled, "rounds": listed})
