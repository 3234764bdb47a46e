"""Invitations: the operator makes them, and a device exchanges one for a token of its own."""

from __future__ import annotations

import io
import time
from typing import Final

import segno
from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from privact.aggregator.domain.access.invitations import accept_invitation, invite
from privact.aggregator.domain.access.tokens import read_bearer, read_claim
from privact.aggregator.http.dependencies import Uses, require_scope
from privact.aggregator.http.models import InvitationCodes, Joined, Joining, LinkToDraw, NewUsers
from privact.aggregator.http.request_bodies import read_json
from privact.aggregator.http.responses import BY_INVITATION, BY_OPERATOR, Json, describe, describe_body
from privact.protocol.users import user_digest

__all__ = ["router"]

router = APIRouter(tags=["users"])

_LONGEST: Final = 16 * 2**20
_LONGEST_JOINING: Final = 4096


@router.post(
    "/v1/users/invite",
    dependencies=[require_scope("users")],
    responses=describe(
        InvitationCodes,
        *(400, 401, 403, 404, 413, 429, 503),
        _404="no user 'ada@a.example' is enrolled: enrol the user first",
        meaning="One code for each user, shown this once.",
    ),
    openapi_extra=BY_OPERATOR | describe_body(NewUsers, {"users": ["ada@a.example"]}),
)
async def post_invite(request: Request, services: Uses) -> Json:
    """Make an invitation for each of up to 10,000 enrolled users; earlier ones are worthless from then on, tokens stay."""
    asked = await read_json(request, NewUsers, _LONGEST)
    request.scope["privact.subject"] = f"{len(asked.users)} users"
    codes = await run_in_threadpool(invite, services.store, asked.users, services.utc_seconds())
    return Json({"invitations": codes})


@router.post(
    "/v1/join",
    responses=describe(
        Joined,
        400,
        401,
        409,
        413,
        429,
        503,
        _409="this invitation was used before: go on where it was used, or ask for a new one",
    ),
    openapi_extra=BY_INVITATION | describe_body(Joining, {"token_sha256": "5d" * 32}),
)
async def post_join(request: Request, services: Uses) -> Json:
    """Exchange an invitation for a token that the device has drawn; the code is worthless afterwards.

    The same request again has the same result, as after a lost connection.
    """
    begin = time.monotonic()
    services.gate.pace_failures(request, read_claim(request.scope["headers"]))
    joining = await read_json(request, Joining, _LONGEST_JOINING)
    code, chosen = read_bearer(request.scope["headers"]), bytes.fromhex(joining.token_sha256)
    user = await run_in_threadpool(accept_invitation, services.store, code.decode("latin-1"), chosen, services.utc_seconds())
    if user is None:
        await services.gate.refuse(request, begin)
    services.gate.forget(user_digest(user))
    return Json({"user": user})


@router.post(
    "/v1/users/invitation-picture",
    response_class=Response,
    dependencies=[require_scope("users")],
    responses=describe(None, 400, 401, 403, 413, 429, 503)
    | {200: {"description": "A QR code of the link.", "content": {"image/svg+xml": {}}}},
    openapi_extra=BY_OPERATOR | describe_body(LinkToDraw, {"link": "ADDRESS/join#invite-..."}),
)
async def post_invitation_picture(request: Request, services: Uses) -> Response:
    """Draw an invitation's link as a QR code, for a phone."""
    drawn = await read_json(request, LinkToDraw, _LONGEST_JOINING)
    picture = io.BytesIO()
    segno.make(drawn.link, error="m").save(picture, kind="svg", scale=4, light="#fff", xmldecl=False, title="QR code")
    return Response(picture.getvalue(), media_type="image/svg+xml")
