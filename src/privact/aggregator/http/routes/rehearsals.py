"""Rehearsals: a round with made-up devices, before anybody is asked."""

from __future__ import annotations

from functools import partial
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request

from privact.aggregator.domain.enrolment import count_users
from privact.aggregator.http.dependencies import Uses, require_scope
from privact.aggregator.http.request_bodies import read_json
from privact.aggregator.http.responses import BY_OPERATOR, Json, describe, describe_body
from privact.aggregator.http.tree_models import RehearsalResponse, RehearsalWish
from privact.aggregator.jobs.rehearsal import rehearse

__all__ = ["router"]

router: Final = APIRouter(tags=["rounds"])

_LONGEST: Final = 4096
_WISH: Final = {"contacts": 20.0, "epsilon": 1.0}


@router.post(
    "/v1/rehearsals",
    dependencies=[require_scope("rounds")],
    responses=describe(RehearsalResponse, 400, 401, 403, 413, 429, 503),
    openapi_extra=BY_OPERATOR | describe_body(RehearsalWish, _WISH),
)
async def post_rehearsal(request: Request, services: Uses) -> Json:
    """Play a round with as many made-up users as are enrolled, 500 at most; nothing of it is kept."""
    wish = await read_json(request, RehearsalWish, _LONGEST)

    def enrolled() -> int:
        with services.store.read() as connection:
            return count_users(connection)

    n_users = max(await services.public.run(enrolled), services.settings.minimum_users)
    return Json(await services.public.run(partial(rehearse, n_users, wish.contacts, wish.epsilon)))
