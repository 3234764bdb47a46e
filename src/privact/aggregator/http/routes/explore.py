"""Routes behind the explorer: a view of a cluster, its members, search, rings, cuts, comparisons; each answer fits one screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from privact.aggregator.domain.released_tree import ReleasedTree
from privact.aggregator.http.auth import reader
from privact.aggregator.http.routes.trees import REFUSALS, RoundId, Trees, UserId, answer
from privact.query import explore
from privact.query.explore import MOST_LISTED

__all__ = ["router"]

_MOST_NODES: Final = 2**31 - 1

router: Final = APIRouter(
    prefix="/v1/rounds/{round_id}/tree/explore", tags=["explorer"], dependencies=[Depends(reader)], responses=REFUSALS
)

Node = Annotated[int, Query(description="Number of a cluster, as views name it.", ge=0, le=_MOST_NODES, examples=[0])]
Limit = Annotated[int, Query(description="Name at most so many.", ge=1, le=MOST_LISTED)]


def _example(**content: Any) -> dict[int | str, dict[str, Any]]:
    """The answer of a route for its OpenAPI description."""
    example = content | {"joined_late": ["bob@b.example"]}
    return {200: {"content": {"application/json": {"schema": {"type": "object"}, "example": example}}}}


def _asked(trees: Trees, round_id: str, user: str | None, ask: Callable[[ReleasedTree], dict[str, Any]]) -> Response:
    """An answer, and which of the users it names joined late."""

    def marked(tree: ReleasedTree) -> dict[str, Any]:
        found = ask(tree)
        return found | {"joined_late": tree.late_among(_users_in(found))}

    return answer(trees, round_id, user, marked)


def _users_in(found: Any) -> set[str]:
    """All users that an answer names."""
    if isinstance(found, dict):
        named = {found["user"]} if isinstance(found.get("user"), str) else set()
        return named.union(*(_users_in(value) for key, value in found.items() if key != "user"))
    if isinstance(found, list):
        return {item for item in found if isinstance(item, str)}.union(*(_users_in(item) for item in found))
    return set()


@router.get(
    "/view",
    summary="A cluster and the clusters inside it",
    responses=_example(node=238, size=120, n_users=120, above=[], blocks=[]),
)
def view(
    round_id: RoundId,
    trees: Trees,
    node: Annotated[int | None, Query(description="The cluster; by default everybody.", ge=0, le=_MOST_NODES)] = None,
    highlight: Annotated[str | None, Query(description="A user whose clusters are drawn however small.", min_length=1)] = None,
) -> Response:
    """One picture of the explorer: at most a few hundred blocks, a few rows deep, whatever the number of users."""
    return _asked(
        trees,
        round_id,
        highlight,
        lambda tree: explore.view(tree.tree, node, highlight=None if highlight is None else tree.leaf(highlight)),
    )


@router.get("/members", summary="Users of a cluster", responses=_example(node=125, size=2, first=0, users=["ada@a.example"]))
def members(
    round_id: RoundId,
    trees: Trees,
    node: Node,
    first: Annotated[int, Query(description="Pass over so many.", ge=0, le=_MOST_NODES)] = 0,
    limit: Limit = 100,
) -> Response:
    """Users of a cluster in the tree's own order."""
    return _asked(trees, round_id, None, lambda tree: explore.members(tree.tree, node, first, limit))


@router.get("/search", summary="Users by a part of their id", responses=_example(text="ada", users=["ada@a.example"]))
def search(
    round_id: RoundId,
    trees: Trees,
    text: Annotated[str, Query(description="A part of the id, in any case.", max_length=256, examples=["ada"])],
    limit: Limit = 20,
) -> Response:
    """Users whose ids hold a text: the very id first, then ids that begin with it, then others."""
    return _asked(trees, round_id, None, lambda tree: explore.search(tree.tree, text, limit))


@router.get(
    "/rings",
    summary="A user's close communities",
    responses=_example(user="ada@a.example", n_communities=2, communities=[{"node": 125, "size": 2, "users": ["bob@b.example"]}]),
)
def rings(round_id: RoundId, trees: Trees, user: UserId) -> Response:
    """The communities around a user from the smallest to everybody, each at least a tenth larger than the one before."""
    return _asked(trees, round_id, user, lambda tree: explore.rings(tree.tree, tree.leaf(user)))


@router.get(
    "/cut",
    summary="The tree cut into clusters of a least size",
    responses=_example(
        k=1, min_size=1, clusters=[{"size": 120, "users": ["ada@a.example"]}], left_out={"clusters": 0, "users": 0}, in_none=0
    ),
)
def cut(
    round_id: RoundId,
    trees: Trees,
    k: Annotated[int, Query(description="How many clusters.", ge=1, le=MOST_LISTED)] = 8,
    min_size: Annotated[int, Query(description="The fewest users of a cluster.", ge=1, le=_MOST_NODES)] = 1,
    limit: Limit = 100,
) -> Response:
    """The sizes of k clusters, largest first, and some users of each; users in smaller groups are in none."""
    return _asked(trees, round_id, None, lambda tree: explore.cut_sizes(tree.tree, k, min_size, limit))


@router.get(
    "/compare",
    summary="How close two users are",
    responses=_example(users=["ada@a.example", "bob@b.example"], node=125, size=2, n_users=120, distance=2, share=0.0167),
)
def compare(
    round_id: RoundId,
    trees: Trees,
    a: UserId,
    b: Annotated[str, Query(description="Id of another user.", min_length=1, examples=["bob@b.example"])],
) -> Response:
    """The smallest community that holds both."""
    return _asked(trees, round_id, None, lambda tree: explore.compare(tree.tree, tree.leaf(a), tree.leaf(b)))
