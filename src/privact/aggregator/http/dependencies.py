"""What routes ask for: the services, who is asking, and the parameters that several routes share."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Query, Request

from privact.aggregator.domain.enrolment import User
from privact.aggregator.http.services import Services

__all__ = ["RoundId", "SignedIn", "UserId", "Uses", "find_services", "require_operator", "require_reader"]

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


async def require_operator(request: Request, services: Uses) -> None:
    """Refuse everyone but the operator."""
    await services.gate.require_operator(request)


async def require_reader(request: Request, services: Uses) -> None:
    """Refuse who may not read released trees."""
    if not services.settings.public_trees:
        await services.gate.require_anyone_enrolled(request)
