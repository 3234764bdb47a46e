"""Routes of released trees: summary, nearest, community, path, cut, download.

Questions are answered from the released tree with everyone who joined late; downloads are the release itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, Response

from privact.aggregator.domain.downloads import Downloads
from privact.aggregator.domain.export_formats import FORMATS, Format
from privact.aggregator.domain.open_trees import Shelf
from privact.aggregator.domain.released_tree import MOST, ReleasedTree
from privact.aggregator.http.auth import reader
from privact.aggregator.http.responses import Json, Refusal, errors
from privact.aggregator.http.tree_models import CommunityAnswer, CutAnswer, NearestAnswer, PathAnswer, SummaryAnswer
from privact.errors import InputError, UnknownUserError

__all__ = ["REFUSALS", "RoundId", "Trees", "UserId", "answer", "router"]

REFUSALS = errors(
    400, 401, 404, 409, 429, 503, _404="no user 'eve@e.example' among the 120 users of this tree", _409="round 'spring' is open"
)
"""How questions about a tree may be refused."""

router: Final = APIRouter(prefix="/v1/rounds/{id}/tree", tags=["trees"], dependencies=[Depends(reader)], responses=REFUSALS)

RoundId = Annotated[str, Path(description="Id of the round.", examples=["spring"])]
UserId = Annotated[str, Query(description="Id of a user of the tree, in any spelling.", min_length=1, examples=["ada@a.example"])]


async def shelf_of(request: Request) -> Shelf:
    """The open trees of this server; made when first asked for, in the event loop and so only once."""
    state = request.app.state
    if not hasattr(state, "shelf"):
        state.shelf = Shelf(state.store, state.settings)
    shelf: Shelf = state.shelf
    return shelf


async def downloads_of(request: Request) -> Downloads:
    """The converted trees of this server."""
    state = request.app.state
    if not hasattr(state, "downloads"):
        state.downloads = Downloads(state.settings.data_folder / "downloads")
    downloads: Downloads = state.downloads
    return downloads


Trees = Annotated[Shelf, Depends(shelf_of)]


@router.get("", response_model=SummaryAnswer, summary="A released tree as a whole")
def summary(id: RoundId, trees: Trees) -> Response:
    """How many users it has, how deep it is, what it promises, and what can be downloaded."""
    return Json(trees.tree(id).summary | {"formats": list(FORMATS)})


@router.get("/nearest", response_model=NearestAnswer, summary="Users near a user")
def nearest(
    id: RoundId,
    trees: Trees,
    user: UserId,
    m: Annotated[int, Query(description="How many.", ge=1, le=MOST)] = 10,
) -> Response:
    """The m users nearest to a user, nearest communities first, each with the size of the community they share."""
    return answer(trees, id, user, lambda tree: tree.nearest(user, m))


@router.get("/community", response_model=CommunityAnswer, summary="The close community of a user")
def community(
    id: RoundId,
    trees: Trees,
    user: UserId,
    size: Annotated[int, Query(description="At least so many users.", ge=1, le=2**31 - 1)] = 50,
    limit: Annotated[int, Query(description="Name at most so many of them.", ge=1, le=MOST)] = 100,
    offset: Annotated[int, Query(description="Leave out so many before.", ge=0, le=2**31 - 1)] = 0,
) -> Response:
    """The smallest cluster that holds the user and has at least `size` users."""
    return answer(trees, id, user, lambda tree: tree.community(user, size, limit, offset))


@router.get("/path", response_model=PathAnswer, summary="All clusters that hold a user")
def path(
    id: RoundId,
    trees: Trees,
    user: UserId,
    limit: Annotated[int, Query(description="Give at most so many sizes.", ge=1, le=MOST)] = 100,
) -> Response:
    """The sizes of the clusters that hold a user, from the user alone to everybody."""
    return answer(trees, id, user, lambda tree: tree.path(user, limit))


@router.get("/cut", response_model=CutAnswer, summary="The tree cut into clusters")
def cut(id: RoundId, trees: Trees, k: Annotated[int, Query(description="How many clusters.", ge=1, le=MOST)] = 8) -> Response:
    """The sizes of k clusters, found by always splitting the largest, and some users of each."""
    return answer(trees, id, None, lambda tree: tree.cut(k))


@router.get(
    "/download",
    response_class=FileResponse,
    summary="The released tree as a file",
    responses={
        200: {
            "description": "The file. ETag names the release: the same ETag is the same bytes.",
            "content": {kind.media_type: {"schema": {"type": "string", "format": "binary"}} for kind in FORMATS.values()},
        },
        304: {"description": "The file is the one named by If-None-Match."},
    },
)
async def download(
    request: Request,
    id: RoundId,
    trees: Trees,
    downloads: Annotated[Downloads, Depends(downloads_of)],
    format: Annotated[
        Format, Query(description="hct: the release itself; newick and json: text; linkage: SciPy's matrix as .npy.")
    ] = "hct",
) -> Response:
    """The release, which holds nobody who joined late. Formats other than hct are made when first asked for."""
    release, digest = await run_in_threadpool(trees.release, id)
    tag = f'"{digest.hex()}"' if format == "hct" else f'"{digest.hex()}-{format}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if _matches(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=304, headers=headers)
    file = await run_in_threadpool(downloads.file, release, digest, format)
    if not file.is_file():
        raise Refusal(409, f"the tree of round {id!r} is missing on this server: the operator can restore its file")
    kind = FORMATS[format]
    return FileResponse(file, headers=headers, media_type=kind.media_type, filename=f"{id}.{kind.suffix}")


def answer(trees: Shelf, round_id: str, user: str | None, ask: Callable[[ReleasedTree], dict[str, Any]]) -> Response:
    """What a tree answers, or why it does not."""
    tree = trees.tree(round_id)
    try:
        return Json(ask(tree))
    except UnknownUserError as error:
        if user is not None and trees.waits(round_id, user):
            raise Refusal(409, f"user {user!r} joined late and is being placed: ask again soon", retry_after=2) from None
        raise Refusal(404, str(error)) from None
    except InputError as error:
        raise Refusal(400, str(error)) from None


def _matches(header: str, tag: str) -> bool:
    """Whether If-None-Match names a tag."""
    named = {part.strip().removeprefix("W/") for part in header.split(",")}
    return tag in named or "*" in named
