"""What the explorer draws: a view of a cluster, its members, search, rings, cuts, comparisons; each response fits one screen."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from privact.aggregator.http.dependencies import RoundId, UserId, Uses, pace_public, require_reader
from privact.aggregator.http.responses import describe
from privact.aggregator.http.routes.trees import TREE_REFUSALS
from privact.aggregator.http.tree_models import ExploreResponse
from privact.query import explore
from privact.query.explore import MOST_LISTED

__all__ = ["router"]

_MOST_NODES: Final = 2**31 - 1

router: Final = APIRouter(
    prefix="/v1/rounds/{round_id}/tree/explore",
    tags=["explorer"],
    dependencies=[Depends(pace_public), Depends(require_reader)],
    responses=TREE_REFUSALS,
)

Node = Annotated[int, Query(description="Number of a cluster, as views name it.", ge=0, le=_MOST_NODES, examples=[0])]
Limit = Annotated[int, Query(description="Maximum number to name.", ge=1, le=MOST_LISTED)]


def _describe(**content: Any) -> dict[int | str, dict[str, Any]]:
    """The response of a route, by an example of its fields."""
    described = describe(ExploreResponse)
    described[200]["content"] = {"application/json": {"example": content | {"joined_late": ["bob@b.example"]}}}
    return described


@router.get(
    "/view",
    summary="A cluster and the clusters inside it",
    responses=_describe(node=238, size=120, n_users=120, above=[], blocks=[], groups=["a.example"]),
)
async def get_view(
    request: Request,
    round_id: RoundId,
    services: Uses,
    node: Annotated[int | None, Query(description="The cluster; by default everybody.", ge=0, le=_MOST_NODES)] = None,
    highlight: Annotated[str | None, Query(description="A user whose clusters are drawn however small.", min_length=1)] = None,
) -> Response:
    """One picture of the explorer: at most a few hundred blocks, a few rows deep, whatever the number of users."""
    return await services.public.explore(
        request,
        round_id,
        highlight,
        lambda tree: explore.view(
            tree.tree, node, highlight=None if highlight is None else tree.leaf(highlight), groups=tree.groups
        ),
    )


@router.get("/members", summary="Users of a cluster", responses=_describe(node=125, size=2, first=0, users=["ada@a.example"]))
async def get_members(
    request: Request,
    round_id: RoundId,
    services: Uses,
    node: Node,
    first: Annotated[int, Query(description="Number of users to skip.", ge=0, le=_MOST_NODES)] = 0,
    limit: Limit = 100,
) -> Response:
    """Users of a cluster in the tree's own order."""
    return await services.public.explore(request, round_id, None, lambda tree: explore.members(tree.tree, node, first, limit))


@router.get("/search", summary="Users by a part of their id", responses=_describe(text="ada", users=["ada@a.example"]))
async def get_search(
    request: Request,
    round_id: RoundId,
    services: Uses,
    text: Annotated[str, Query(description="A part of the id, in any case.", max_length=256, examples=["ada"])],
    limit: Limit = 20,
) -> Response:
    """Users whose ids hold a text: the very id first, then ids that begin with it, then others."""
    return await services.public.explore(request, round_id, None, lambda tree: explore.search(tree.tree, text, limit))


@router.get(
    "/rings",
    summary="A user's close communities",
    responses=_describe(
        user="ada@a.example", n_communities=2, communities=[{"node": 125, "size": 2, "users": ["bob@b.example"]}]
    ),
)
async def get_rings(request: Request, round_id: RoundId, services: Uses, user: UserId) -> Response:
    """The communities around a user from the smallest to everybody, each at least a tenth larger than the one before."""
    return await services.public.explore(request, round_id, user, lambda tree: explore.rings(tree.tree, tree.leaf(user)))


@router.get(
    "/cut",
    summary="The tree cut into clusters of a least size",
    responses=_describe(
        k=1,
        min_size=1,
        clusters=[{"size": 120, "users": ["ada@a.example"]}],
        left_out={"clusters": 0, "users": 0},
        in_none=0,
        groups=[],
    ),
)
async def get_cut(
    request: Request,
    round_id: RoundId,
    services: Uses,
    k: Annotated[
        int | None, Query(description="Number of clusters; by default 20, or as many as there are.", ge=1, le=MOST_LISTED)
    ] = None,
    min_size: Annotated[
        int | None,
        Query(description="Minimum number of users; by default 1, a fortieth of all without `k`.", ge=1, le=_MOST_NODES),
    ] = None,
    limit: Limit = 100,
) -> Response:
    """The sizes of k clusters, largest first, and some users of each; users in smaller groups are in none."""
    return await services.public.explore(
        request, round_id, None, lambda tree: explore.cut_sizes(tree.tree, k, min_size, limit, tree.groups)
    )


@router.get(
    "/compare",
    summary="How close two users are",
    responses=_describe(users=["ada@a.example", "bob@b.example"], node=125, size=2, n_users=120, distance=2, share=0.0167),
)
async def get_compare(
    request: Request,
    round_id: RoundId,
    services: Uses,
    a: UserId,
    b: Annotated[str, Query(description="Id of another user.", min_length=1, examples=["bob@b.example"])],
) -> Response:
    """The smallest community that holds both."""
    return await services.public.explore(
        request, round_id, None, lambda tree: explore.compare(tree.tree, tree.leaf(a), tree.leaf(b))
    )
