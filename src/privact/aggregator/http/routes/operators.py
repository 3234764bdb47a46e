"""Operators: tokens by name and scope, and the record of what was done with them."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Path, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from privact.aggregator.domain.access.operators import add_operator, list_actions, list_operators, remove_operator
from privact.aggregator.http.dependencies import Uses, require_scope
from privact.aggregator.http.request_bodies import read_json
from privact.aggregator.http.responses import BY_OPERATOR, Json, describe, describe_body
from privact.aggregator.http.routes.operator_models import ActionList, NewOperator, OperatorList, OperatorToken

__all__ = ["router"]

router = APIRouter(tags=["operators"])

_LONGEST: Final = 16 * 2**10
_LAST: Final = 2**31 - 1  # the largest number of an action: the column has four bytes
_EXAMPLE: Final = {"name": "night-shift", "scopes": ["read", "rounds"], "expires_at": 1798761600}


@router.post(
    "/v1/operators",
    status_code=201,
    dependencies=[require_scope("operators")],
    responses=describe(OperatorToken, 400, 401, 403, 409, 413, 429, 503, status=201, meaning="The token, shown this once."),
    openapi_extra=BY_OPERATOR | describe_body(NewOperator, _EXAMPLE),
)
async def post_operator(request: Request, services: Uses) -> Json:
    """Give somebody a token with some scopes, until a date."""
    new = await read_json(request, NewOperator, _LONGEST)
    request.scope["privact.subject"] = f"{new.name}: {', '.join(new.scopes)}"
    now = services.utc_seconds()
    token = await run_in_threadpool(add_operator, services.store, new.name, new.scopes, new.expires_at, now)
    services.gate.forget_operators()
    return Json({"name": new.name, "token": token}, 201)


@router.get(
    "/v1/operators",
    dependencies=[require_scope("read")],
    responses=describe(OperatorList, 401, 403, 429, 503),
    openapi_extra=BY_OPERATOR,
)
def get_operators(services: Uses) -> Json:
    """Who operates, with which scopes and until when."""
    return Json({"operators": list_operators(services.store)})


@router.delete(
    "/v1/operators/{name}",
    status_code=204,
    response_class=Response,
    dependencies=[require_scope("operators")],
    responses=describe(None, 401, 403, 404, 409, 429, 503, _404="no operator 'night-shift'") | {204: {"description": "Removed."}},
    openapi_extra=BY_OPERATOR,
)
async def delete_operator(
    services: Uses, name: Annotated[str, Path(description="Name of the operator.", examples=["night-shift"])]
) -> Response:
    """Make an operator's token worthless."""
    await run_in_threadpool(remove_operator, services.store, name)
    services.gate.forget_operators()
    return Response(status_code=204)


@router.get(
    "/v1/operators/actions",
    dependencies=[require_scope("read")],
    responses=describe(ActionList, 400, 401, 403, 429, 503),
    openapi_extra=BY_OPERATOR,
)
def get_actions(
    services: Uses,
    before: Annotated[int, Query(ge=1, le=_LAST, description="`next` of the page before.")] = _LAST,
    limit: Annotated[int, Query(ge=1, le=1000, description="Maximum number of actions.")] = 100,
) -> Json:
    """What operators did, newest first, page by page; reading is not recorded."""
    actions = list_actions(services.store, before, limit)
    return Json({"actions": actions, "next": actions[-1]["id"] if len(actions) == limit else None})
