"""Recommendations: the operator uploads ratings, users ask with their token."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from privact.aggregator.domain.suggestions.recommendations import LONGEST
from privact.aggregator.http.dependencies import RoundId, SignedIn, Uses, require_reader, require_scope
from privact.aggregator.http.models import RecommendResponse
from privact.aggregator.http.request_bodies import read_body
from privact.aggregator.http.responses import BY_OPERATOR, BY_USER, Json, describe, describe_bytes
from privact.aggregator.http.tree_models import QualityResponse, RatingsResponse

__all__ = ["router"]

router: Final = APIRouter(tags=["recommendations"])

_FILE: Final[dict[str, Any]] = {"schema": {"type": "string", "format": "binary"}}
_LINES: Final[dict[str, Any]] = {"schema": {"type": "string"}, "example": "user,item,rating\nada@a.example,waltz,4\n"}
_NONE: Final = "there are no ratings on this server: the operator can upload some"
_NO_RATINGS: Final = "ratings.csv: no ratings in this file: give a line 'user<TAB>item<TAB>rating' each"


@router.put(
    "/v1/ratings",
    dependencies=[require_scope("rounds")],
    responses=describe(RatingsResponse, 400, 401, 403, 413, 429, 503, _400=_NO_RATINGS),
    openapi_extra=BY_OPERATOR
    | {"requestBody": {"required": True, "content": {"text/csv": _LINES, "application/vnd.apache.parquet": _FILE}}},
)
async def put_ratings(
    request: Request,
    services: Uses,
    preview: Annotated[bool, Query(description="Only say what would be understood; nothing is replaced.")] = False,
) -> Response:
    """Replace all ratings by a CSV, TSV or Parquet file of user, item and rating. Ratings are not protected by rounds."""
    body = await read_body(request, LONGEST)
    return Json(await run_in_threadpool(partial(services.recommendations.upload, body, preview=preview)))


@router.get(
    "/v1/ratings",
    dependencies=[require_scope("read")],
    responses=describe(RatingsResponse, 401, 403, 409, 429, 503, _409=_NONE),
    openapi_extra=BY_OPERATOR,
)
async def get_ratings(services: Uses) -> Response:
    """What was understood of the ratings that are here."""
    return Json(await run_in_threadpool(services.recommendations.describe))


@router.delete(
    "/v1/ratings",
    status_code=204,
    response_class=Response,
    dependencies=[require_scope("rounds")],
    responses=describe(None, 401, 403, 429, 503) | {204: {"description": "Deleted."}},
    openapi_extra=BY_OPERATOR,
)
async def delete_ratings(services: Uses) -> Response:
    """Delete all ratings; nothing is recommended from then on."""
    await run_in_threadpool(services.recommendations.delete)
    return Response(status_code=204)


@router.get(
    "/v1/ratings/labels",
    response_class=Response,
    dependencies=[require_scope("read")],
    responses=describe_bytes("Lines `user,label`.", "text/plain") | describe(None, 400, 401, 403, 409, 429, 503, _409=_NONE),
    openapi_extra=BY_OPERATOR,
)
async def get_taste_labels(
    services: Uses,
    groups: Annotated[int, Query(description="Number of groups: the bins of the round.", ge=1, le=256)] = 5,
) -> Response:
    """Users who rated alike, in groups: labels for a round, made from ratings and never from contacts."""
    labels = await run_in_threadpool(services.recommendations.make_taste_labels, groups)
    return Response(labels, media_type="text/plain; charset=utf-8")


@router.get(
    "/v1/rounds/{round_id}/recommendations/quality",
    dependencies=[require_scope("read")],
    responses=describe(QualityResponse, 401, 403, 404, 409, 429, 503, _409=_NONE),
    openapi_extra=BY_OPERATOR,
)
async def get_quality(round_id: RoundId, services: Uses) -> Response:
    """How good recommendations are beside the most popular items, for users whose own ratings are hidden in turn."""
    measured = partial(services.trees.query, round_id, None, lambda tree: services.recommendations.measure(round_id, tree))
    return Json(await services.public.run(measured))


@router.get(
    "/v1/rounds/{round_id}/recommendations",
    dependencies=[Depends(require_reader)],
    responses=describe(
        RecommendResponse,
        *(400, 401, 404, 409, 429, 503),
        _409=_NONE,
    ),
    openapi_extra=BY_USER,
)
async def get_recommendations(
    round_id: RoundId,
    services: Uses,
    user: SignedIn,
    k: Annotated[int, Query(description="Number of items.", ge=1, le=100)] = 10,
) -> Response:
    """Items for the token's user, from the ratings of close communities in the released tree and the user's own report."""
    recommend = services.recommendations.recommend
    listed = partial(services.trees.query, round_id, user.id, lambda tree: recommend(round_id, tree, user.id, k))
    return Json(await services.public.run(listed))
