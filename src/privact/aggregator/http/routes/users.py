"""Users: the operator enrols and removes them; a user sees himself."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from privact.aggregator.domain.access.invitations import invite
from privact.aggregator.domain.access.operators import ERASED_SUBJECT
from privact.aggregator.domain.enrolment import count_users, enrol, list_users, remove, replace_token, revoke, revoke_all
from privact.aggregator.domain.erasure.user_erasure import erase_user
from privact.aggregator.domain.round_descriptions import list_rounds_for
from privact.aggregator.domain.suggestions.people import find_discoverable
from privact.aggregator.http.dependencies import SignedIn, Uses, require_scope
from privact.aggregator.http.models import Joined, Me, OneUser, RevokedUsers, Token, Tokens, UserList, UsersToEnrol
from privact.aggregator.http.request_bodies import read_json
from privact.aggregator.http.responses import BY_OPERATOR, BY_USER, Json, describe, describe_body
from privact.aggregator.http.routes.operator_models import ErasedUser

__all__ = ["router"]

router = APIRouter(tags=["users"])

_LONGEST: Final = 16 * 2**20
_ERASED: Final = "Erased, but for what these rounds hold until they end; that goes by itself."


@router.post(
    "/v1/users",
    status_code=201,
    dependencies=[require_scope("users")],
    responses=describe(Tokens, 400, 401, 403, 413, 429, 503, status=201, meaning="One token for each new user, shown this once."),
    openapi_extra=BY_OPERATOR | describe_body(UsersToEnrol, {"users": ["@Ada@a.example", "bob@b.example"]}),
)
async def post_users(request: Request, services: Uses) -> Json:
    """Enrol up to 10,000 users. Who is enrolled already keeps the token and is listed in `existing`."""
    new = await read_json(request, UsersToEnrol, _LONGEST)
    request.scope["privact.subject"] = f"{len(new.users)} users"
    enrolled = await run_in_threadpool(enrol, services.store, new.users, services.utc_seconds())
    codes: dict[str, str] = {}
    if new.invite and enrolled.tokens:
        codes = await run_in_threadpool(invite, services.store, enrolled.tokens, services.utc_seconds())
    return Json(enrolled._asdict() | {"invitations": codes}, 201)


@router.get(
    "/v1/users",
    dependencies=[require_scope("read")],
    responses=describe(UserList, 400, 401, 403, 429, 503),
    openapi_extra=BY_OPERATOR,
)
def get_users(
    services: Uses,
    after: Annotated[int, Query(ge=0, le=2**63 - 1, description="`next` of the page before.")] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000, description="Maximum number of users.")] = 1000,
    search: Annotated[str, Query(max_length=256, description="Only users whose id contains this text, in any case.")] = "",
) -> Json:
    """Who is enrolled, in the order of enrolment, page by page."""
    with services.store.read() as connection:
        total = count_users(connection)
        rows = list_users(connection, after, limit, search.strip())
    listed = [
        {"user": row.user, "enrolled_at": row.enrolled, "invitation": row.invitation, "discoverable": row.discoverable}
        for row in rows
    ]
    return Json({"users": listed, "total": total, "next": rows[-1].serial if len(rows) == limit else None})


@router.post(
    "/v1/users/token",
    dependencies=[require_scope("users")],
    responses=describe(Token, 400, 401, 403, 404, 413, 429, 503, _404="no user 'ada@a.example' is enrolled"),
    openapi_extra=BY_OPERATOR | describe_body(OneUser, {"user": "ada@a.example"}),
)
async def post_token(request: Request, services: Uses) -> Json:
    """Give a user a new token; the old one is worthless from then on."""
    one = await read_json(request, OneUser, _LONGEST)
    request.scope["privact.subject"] = one.user
    user, digest, token = await run_in_threadpool(replace_token, services.store, one.user)
    services.gate.forget(digest)
    return Json({"user": user, "token": token})


@router.delete(
    "/v1/users/{user:path}",
    status_code=204,
    response_class=Response,
    dependencies=[require_scope("users")],
    responses=describe(None, 400, 401, 403, 404, 429, 503, _404="no user 'ada@a.example' is enrolled")
    | {204: {"description": "Removed."}, **describe(ErasedUser, status=202, meaning=_ERASED)},
    openapi_extra=BY_OPERATOR,
)
async def delete_user(
    request: Request,
    services: Uses,
    user: str,
    erase: Annotated[bool, Query(description="Also erase reports and ids; released trees keep a leaf without a name.")] = False,
) -> Response:
    """Remove a user: the token is worthless and future rounds leave the user out. Accepted reports stay, unless erased.

    Erasing responds 202 if something has to wait: a label that a round fixes until it takes no more reports, or a round that is
    being learned. It then goes by itself.
    """
    if not erase:
        services.gate.forget(await run_in_threadpool(remove, services.store, user, services.utc_seconds()))
        return Response(status_code=204)
    request.scope["privact.subject"] = ERASED_SUBJECT
    erased = await run_in_threadpool(erase_user, services.store, services.settings, user)
    services.gate.forget(erased.digest)
    services.supervisor.forget_users([erased.name])
    if erased.waits_for:
        return Json({"user": erased.name, "waits_for": erased.waits_for}, status_code=202)
    return Response(status_code=204)


@router.post(
    "/v1/users/revoke",
    dependencies=[require_scope("users")],
    responses=describe(Joined, 400, 401, 403, 404, 413, 429, 503, _404="no user 'ada@a.example' is enrolled"),
    openapi_extra=BY_OPERATOR | describe_body(OneUser, {"user": "ada@a.example"}),
)
async def post_revoke(request: Request, services: Uses) -> Json:
    """Make a user's token and invitation worthless; the user stays enrolled and can be invited again."""
    one = await read_json(request, OneUser, _LONGEST)
    request.scope["privact.subject"] = one.user
    user, digest = await run_in_threadpool(revoke, services.store, one.user)
    services.gate.forget(digest)
    return Json({"user": user})


@router.post(
    "/v1/users/revoke-all",
    dependencies=[require_scope("users")],
    responses=describe(RevokedUsers, 401, 403, 429, 503),
    openapi_extra=BY_OPERATOR,
)
async def post_revoke_all(services: Uses) -> Json:
    """Make every user's token and invitation worthless, as after restoring a backup; each user then needs a new one."""
    n_users = await run_in_threadpool(revoke_all, services.store)
    services.gate.forget_all()
    return Json({"revoked": n_users})


@router.get("/v1/me", responses=describe(Me, 401, 429, 503), openapi_extra=BY_USER)
def get_me(services: Uses, user: SignedIn) -> Json:
    """The user whose token it is, and which rounds take a report now."""
    listed = list_rounds_for(services.store, user, services.utc_seconds())
    discoverable = find_discoverable(services.store, user.digest)
    return Json({"user": user.id, "enrolled_at": user.enrolled, "discoverable": discoverable, "rounds": listed})
