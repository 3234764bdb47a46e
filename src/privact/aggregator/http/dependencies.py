"""What routes ask for: the services, who is asking, and the parameters that several routes share."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Path, Query, Request
from starlette.concurrency import run_in_threadpool

from privact.aggregator.domain.access.tokens import read_bearer, read_claim
from privact.aggregator.domain.enrolment import User
from privact.aggregator.http.services import Services
from privact.aggregator.storage.schema import VISIBILITIES

__all__ = [
    "RoundId",
    "SignedIn",
    "UserId",
    "Uses",
    "find_services",
    "find_sight",
    "pace_public",
    "require_label_reader",
    "require_reader",
    "require_scope",
]

RoundId = Annotated[str, Path(description="Id of the round.", examples=["spring"])]
UserId = Annotated[str, Query(description="Id of a user of the tree, in any spelling.", min_length=1, examples=["ada@a.example"])]


async def find_services(request: Request) -> Services:
    """The services of this server."""
    services: Services = request.app.state.services
    return services


Uses = Annotated[Services, Depends(find_services)]


async def _require_user(request: Request, services: Uses) -> User:
    return await services.gate.require_user(request)


SignedIn = Annotated[User, Depends(_require_user)]
"""The user whose token the request shows; everyone else is refused."""


def require_scope(scope: str) -> Any:
    """A dependency that refuses everyone but operators whose token has a scope; what they do is recorded (http/middleware.py)."""

    async def require(request: Request, services: Uses) -> None:
        operator = await services.gate.require_operator(request)
        request.scope["privact.operator"] = operator
        services.gate.check_scope(operator, scope)

    return Depends(require)


class Sight(NamedTuple):
    """What somebody is shown of rounds; nobody is refused.

    drafts: whether drafts. reads: of which visibilities what is derived from a round, such as its evidence.
    """

    drafts: bool
    reads: frozenset[str]


async def find_sight(request: Request, services: Services) -> Sight:
    """What is shown of rounds: everything to an operator, to users what is for them, to others what is public."""
    headers = request.scope["headers"]
    operator = await services.gate.find_operator(read_claim(headers))
    if operator is not None and "read" in operator.scopes:
        return Sight(True, frozenset(VISIBILITIES))
    if read_bearer(headers) and operator is None and await services.gate.is_user(request):
        return Sight(False, frozenset({"public", "users"}))
    return Sight(False, frozenset({"public"} if services.settings.public_trees else ()))


async def pace_public(request: Request, services: Uses) -> None:
    """Refuse an address that sends public queries too often."""
    services.public.pace(request)


async def require_reader(request: Request, round_id: RoundId, services: Uses) -> None:
    """Refuse who may not read what is derived from a round: its release is public, for users, or for operators."""
    visibility = await _find_visibility(services, round_id)
    if visibility == "operator":
        services.gate.check_scope(await services.gate.require_operator(request), "read")
    elif visibility == "users":
        await services.gate.require_anyone_enrolled(request)


async def require_label_reader(request: Request, round_id: RoundId, services: Uses) -> None:
    """Refuse who may not read the labels of a round; users always may, since their devices need them to report."""
    if await _find_visibility(services, round_id) != "public":
        await services.gate.require_anyone_enrolled(request)


async def _find_visibility(services: Services, round_id: str) -> str:
    visibility = await run_in_threadpool(services.parameters.find_visibility, round_id)
    return "users" if visibility == "public" and not services.settings.public_trees else visibility
