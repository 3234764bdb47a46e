"""Released trees: summary, nearest, community, path, cut, download.

Queries use the released tree with everyone who joined late; downloads are the release itself.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from fastapi import APIRouter, Depends, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, Response

from privact.aggregator.http.dependencies import RoundId, UserId, Uses, pace_public, require_reader
from privact.aggregator.http.responses import Refusal, describe, describe_bytes
from privact.aggregator.http.tree_models import CommunityResponse, CutResponse, NearestResponse, PathResponse, SummaryResponse
from privact.query.lookups import MOST
from privact.tree.formats.registry import FORMATS

__all__ = ["TREE_REFUSALS", "router"]

TREE_REFUSALS: Final = describe(
    None,
    *(400, 401, 404, 409, 429, 503),
    _404="no user 'eve@e.example' among the 120 users of this tree",
    _409="round 'spring' is open: its tree can be read once it is released",
)
"""How queries on a tree may be refused."""

Download = Literal["hct", "newick", "json", "linkage"]
"""The formats of `privact.tree.formats.registry` that can be downloaded."""
_DOWNLOADS: Final = get_args(Download)

router: Final = APIRouter(
    prefix="/v1/rounds/{round_id}/tree",
    tags=["trees"],
    dependencies=[Depends(pace_public), Depends(require_reader)],
    responses=TREE_REFUSALS,
)


@router.get("", responses=describe(SummaryResponse), summary="A released tree as a whole")
async def get_summary(request: Request, round_id: RoundId, services: Uses) -> Response:
    """How many users it has, how deep it is, what it promises, and what can be downloaded."""
    return await services.public.query(request, round_id, None, lambda tree: tree.summary | {"formats": list(_DOWNLOADS)})


@router.get("/nearest", responses=describe(NearestResponse), summary="Users near a user")
async def get_nearest(
    request: Request,
    round_id: RoundId,
    services: Uses,
    user: UserId,
    m: Annotated[int, Query(description="Number of users.", ge=1, le=MOST)] = 10,
) -> Response:
    """The m users nearest to a user, nearest communities first, each with the size of the community they share."""
    return await services.public.query(request, round_id, user, lambda tree: tree.nearest(user, m))


@router.get("/community", responses=describe(CommunityResponse), summary="The close community of a user")
async def get_community(
    request: Request,
    round_id: RoundId,
    services: Uses,
    user: UserId,
    size: Annotated[int, Query(description="Minimum number of users.", ge=1, le=2**31 - 1)] = 50,
    limit: Annotated[int, Query(description="Maximum number of users to name.", ge=1, le=MOST)] = 100,
    offset: Annotated[int, Query(description="Number of users to skip.", ge=0, le=2**31 - 1)] = 0,
) -> Response:
    """The smallest cluster that holds the user and has at least `size` users."""
    return await services.public.query(request, round_id, user, lambda tree: tree.community(user, size, limit, offset))


@router.get("/path", responses=describe(PathResponse), summary="All clusters that hold a user")
async def get_path(
    request: Request,
    round_id: RoundId,
    services: Uses,
    user: UserId,
    limit: Annotated[int, Query(description="Maximum number of sizes.", ge=1, le=MOST)] = 100,
) -> Response:
    """The sizes of the clusters that hold a user, from the user alone to everybody."""
    return await services.public.query(request, round_id, user, lambda tree: tree.path(user, limit))


@router.get("/cut", responses=describe(CutResponse), summary="The tree cut into clusters")
async def get_cut(
    request: Request,
    round_id: RoundId,
    services: Uses,
    k: Annotated[int, Query(description="Number of clusters.", ge=1, le=MOST)] = 8,
) -> Response:
    """The sizes of k clusters, found by always splitting the largest, and some users of each."""
    return await services.public.query(request, round_id, None, lambda tree: tree.cut(k))


@router.get(
    "/download",
    response_class=FileResponse,
    summary="The released tree as a file",
    responses=describe_bytes(
        "The file. ETag names the release: the same ETag is the same bytes.",
        *dict.fromkeys(FORMATS[name].media_type for name in _DOWNLOADS),
    )
    | {304: {"description": "The file is the one named by If-None-Match."}},
)
async def get_download(
    request: Request,
    round_id: RoundId,
    services: Uses,
    format: Annotated[
        Download, Query(description="hct: the release itself; newick and json: text; linkage: SciPy's matrix as .npy.")
    ] = "hct",
) -> Response:
    """The release, which holds nobody who joined late. Formats other than hct are made when first asked for."""
    release, digest = await run_in_threadpool(services.trees.find_release, round_id)
    tag = f'"{digest.hex()}"' if format == "hct" else f'"{digest.hex()}-{format}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if _names_tag(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=304, headers=headers)
    file = await run_in_threadpool(services.supervisor.conversions.find_file, release, digest, format)
    if not file.is_file():
        raise Refusal(409, f"the tree of round {round_id!r} is missing on this server: the operator can restore its file")
    kind = FORMATS[format]
    return FileResponse(file, headers=headers, media_type=kind.media_type, filename=f"{round_id}.{kind.suffix}")


def _names_tag(header: str, tag: str) -> bool:
    """Whether If-None-Match names a tag."""
    named = {part.strip().removeprefix("W/") for part in header.split(",")}
    return tag in named or "*" in named
