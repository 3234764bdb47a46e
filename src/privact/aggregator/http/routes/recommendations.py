"""Routes of recommendations: the operator uploads ratings, users ask with their token."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from privact.aggregator.domain.recommendations import LONGEST, Recommendations
from privact.aggregator.http.auth import User, operator_only, signed_in
from privact.aggregator.http.request_bodies import read_body
from privact.aggregator.http.responses import Json, errors
from privact.aggregator.http.routes.trees import RoundId, Trees, answer

__all__ = ["router"]

router: Final = APIRouter(tags=["recommendations"])

_FILE: Final[dict[str, Any]] = {"schema": {"type": "string", "format": "binary"}}
_LINES: Final[dict[str, Any]] = {"schema": {"type": "string"}, "example": "user,item,rating\nada@a.example,waltz,4\n"}


class UploadAnswer(BaseModel):
    """What was uploaded."""

    model_config = ConfigDict(json_schema_extra={"example": {"users": 100, "items": 500, "ratings": 2000}})

    users: int
    items: int
    ratings: int


class RecommendedItem(BaseModel):
    """An item for the user."""

    item: str
    score: float = Field(description="How well it suits, comparable within one list.")
    reason: str = Field(description="Why it is listed, in words.")


class RecommendAnswer(BaseModel):
    """Items for the token's user, best first."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "user": "ada@a.example",
                "items": [{"item": "waltz", "score": 0.31, "reason": "4 of 12 in your close community rated this"}],
            }
        }
    )

    user: str
    items: list[RecommendedItem]


async def recommendations_of(request: Request, trees: Trees) -> Recommendations:
    """What this server recommends; made when first asked for, in the event loop and so only once."""
    state = request.app.state
    if not hasattr(state, "recommendations"):
        state.recommendations = Recommendations(state.store, state.settings, trees)
    made: Recommendations = state.recommendations
    return made


Recommending = Annotated[Recommendations, Depends(recommendations_of)]


@router.put(
    "/v1/ratings",
    response_model=UploadAnswer,
    dependencies=[Depends(operator_only)],
    responses=errors(
        400, 401, 413, 429, 503, _400="ratings.csv: no ratings in this file: give a line 'user<TAB>item<TAB>rating' each"
    ),
    openapi_extra={
        "security": [{"operator": []}],
        "requestBody": {"required": True, "content": {"text/csv": _LINES, "application/vnd.apache.parquet": _FILE}},
    },
)
async def put_ratings(request: Request, recommending: Recommending) -> Response:
    """Replace all ratings by a CSV, TSV or Parquet file of user, item and rating. Ratings are not protected by rounds."""
    body = await read_body(request, LONGEST)
    return Json(await run_in_threadpool(recommending.upload, body))


@router.get(
    "/v1/rounds/{round_id}/recommendations",
    response_model=RecommendAnswer,
    responses=errors(400, 401, 404, 409, 429, 503, _409="there are no ratings on this server: the operator can upload some"),
    openapi_extra={"security": [{"user": []}]},
)
def get_recommendations(
    round_id: RoundId,
    trees: Trees,
    recommending: Recommending,
    user: Annotated[User, Depends(signed_in)],
    k: Annotated[int, Query(description="How many items.", ge=1, le=100)] = 10,
) -> Response:
    """Items for the token's user, from the ratings of close communities in the released tree and the user's own report."""
    return answer(trees, round_id, user.id, lambda tree: recommending.recommend(round_id, user.id, k))
