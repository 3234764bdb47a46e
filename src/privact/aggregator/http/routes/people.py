"""People: users ask whom they may know, and say whether others may be told about them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from privact.aggregator.domain.suggestions.people import set_discoverable
from privact.aggregator.http.dependencies import RoundId, SignedIn, Uses, require_reader, require_scope
from privact.aggregator.http.request_bodies import read_json
from privact.aggregator.http.responses import BY_OPERATOR, BY_USER, Json, describe, describe_body
from privact.aggregator.http.tree_models import (
    Discoverable,
    DiscoverableUser,
    DiscoverableUserWish,
    DiscoverableWish,
    PeopleResponse,
)

__all__ = ["router"]

router: Final = APIRouter(tags=["people"])

_LONGEST: Final = 4096
_GONE: Final = "the reports of this round are erased: people are recommended from reports alone"


@router.get(
    "/v1/rounds/{round_id}/people",
    dependencies=[Depends(require_reader)],
    responses=describe(PeopleResponse, *(400, 401, 404, 409, 429, 503), _409=_GONE),
    openapi_extra=BY_USER,
)
async def get_people(
    round_id: RoundId,
    services: Uses,
    user: SignedIn,
    k: Annotated[int, Query(description="Number of users.", ge=1, le=100)] = 10,
) -> Response:
    """Users whom the token's user may know, from the reports of the round and the released tree: no score, no extra epsilon."""
    recommend = services.people.recommend
    listed = partial(services.trees.query, round_id, user.id, lambda tree: recommend(round_id, tree, user.id, k))
    return Json(await services.public.run(listed))


@router.put(
    "/v1/me/discoverable",
    responses=describe(Discoverable, 400, 401, 413, 429, 503),
    openapi_extra=BY_USER | describe_body(DiscoverableWish, {"discoverable": False}),
)
async def put_my_discoverable(request: Request, services: Uses, user: SignedIn) -> Json:
    """Say whether the token's user may be recommended to others; lists follow at once."""
    wish = await read_json(request, DiscoverableWish, _LONGEST)
    await run_in_threadpool(set_discoverable, services.store, user.id, wish.discoverable)
    return Json({"discoverable": wish.discoverable})


@router.put(
    "/v1/users/discoverable",
    dependencies=[require_scope("users")],
    responses=describe(DiscoverableUser, 400, 401, 403, 404, 413, 429, 503, _404="no user 'ada@a.example' is enrolled"),
    openapi_extra=BY_OPERATOR | describe_body(DiscoverableUserWish, {"user": "ada@a.example", "discoverable": False}),
)
async def put_discoverable(request: Request, services: Uses) -> Json:
    """Let a user be recommended to others, or not, on the user's behalf."""
    wish = await read_json(request, DiscoverableUserWish, _LONGEST)
    request.scope["privact.subject"] = wish.user
    name = await run_in_threadpool(set_discoverable, services.store, wish.user, wish.discoverable)
    return Json({"user": name, "discoverable": wish.discoverable})
