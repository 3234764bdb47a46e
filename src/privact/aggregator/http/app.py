"""The aggregator as a web application: settings -> services and routes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import FastAPI
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

from privact import __version__
from privact.aggregator.domain.erasure.retention import purge
from privact.aggregator.domain.erasure.user_erasure import finish_erasures
from privact.aggregator.domain.rounds import close_due
from privact.aggregator.http.cross_origin import CrossOrigin
from privact.aggregator.http.middleware import Middleware
from privact.aggregator.http.responses import Refusal, describe_api, respond_to
from privact.aggregator.http.routes import (
    explore,
    health,
    invitations,
    join,
    operators,
    pages,
    people,
    recommendations,
    rehearsals,
    reports,
    rounds,
    series,
    trees,
    users,
)
from privact.aggregator.http.services import Services
from privact.aggregator.http.statuses import EXPECTED, find_refusal
from privact.aggregator.settings import Settings
from privact.errors import PrivaCTError

__all__ = ["Aggregator", "create_app"]

_TICK_SECONDS: Final = 0.5
_ERASE_SECONDS: Final = 10.0
_PURGE_SECONDS: Final = 3600.0
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "DELETE")
_log = logging.getLogger("privact.aggregator")


class Aggregator(FastAPI):
    """The application; every request goes through its middleware first."""

    middleware_in_front: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request, or start and stop with the server."""
        scope["app"] = self
        await (self.middleware_in_front if scope["type"] == "http" else super().__call__)(scope, receive, send)

    async def call_routes(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What is behind the middleware: the routes."""
        await super().__call__(scope, receive, send)


def create_app(settings: Settings, now: Callable[[], float] = time.time) -> Aggregator:
    """The aggregator; its database is opened and brought up to date here.

    settings: how it runs.
    now: the clock, UTC seconds since 1970.
    """
    services = Services.build(settings, now)
    app = Aggregator(
        title="PrivaCT aggregator",
        version=__version__,
        docs_url=None,  # the pages that FastAPI brings load scripts from another host
        redoc_url=None,
        redirect_slashes=False,  # a redirect would repeat whatever host the client named
        lifespan=_lifespan,
    )
    app.state.services = services
    for module in (
        reports, rounds, series, rehearsals, invitations, users, operators, trees, explore, recommendations, people,
        health, join, pages,
    ):  # fmt: skip
        app.include_router(module.router)
    for kind in EXPECTED:
        app.add_exception_handler(kind, _refuse)
    app.add_exception_handler(HTTPException, _refuse_address)
    app.middleware_in_front = CrossOrigin(Middleware(app.call_routes, reports.put_report, services))
    app.openapi = lambda: describe_api(app)  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Start what runs beside the routes; at the end write what was taken in, then stop."""
    services: Services = app.state.services
    await services.start()
    beside = [asyncio.create_task(_close_in_time(services)), asyncio.create_task(_erase_in_time(services))]
    try:
        yield
    finally:
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        await services.stop()


async def _close_in_time(services: Services) -> None:
    """Close each round when its time is over, for as long as the server runs."""
    while True:
        try:
            closed = await run_in_threadpool(close_due, services.store, services.utc_seconds())
        except SQLAlchemyError:
            _log.exception("cannot look for rounds to close")
            closed = []
        for round_id in closed:
            _log.info("a round closed in time", extra={"round": round_id})
        if closed:
            services.supervisor.wake()
        await asyncio.sleep(_TICK_SECONDS)


async def _erase_in_time(services: Services) -> None:
    """Finish erasures that had to wait, and every hour erase what is older than the retention, for as long as the server runs."""
    next_purge = 0.0
    while True:
        try:
            finished = await run_in_threadpool(finish_erasures, services.store, services.settings)
            if finished:
                services.supervisor.forget_users(finished)
                _log.info("finished erasures that had to wait", extra={"users": len(finished)})
            if time.monotonic() >= next_purge:
                next_purge = time.monotonic() + _PURGE_SECONDS
                purged = await run_in_threadpool(purge, services.store, services.settings, services.utc_seconds())
                if any(purged):
                    services.supervisor.forget_users(purged.users)
        except (SQLAlchemyError, PrivaCTError):
            _log.exception("cannot erase what is to be erased")
        await asyncio.sleep(_ERASE_SECONDS)


async def _refuse(request: Request, error: Exception) -> Response:
    refusal = find_refusal(error)
    assert refusal is not None
    if refusal.status == 404 and pages.is_for_reading(request):
        return pages.respond_missing()
    return respond_to(refusal)


async def _refuse_address(request: Request, error: Any) -> Response:
    """Unknown addresses and methods; the response to OPTIONS names the methods that there are."""
    if error.status_code != 405:
        if error.status_code == 404 and pages.is_for_reading(request):
            return pages.respond_missing()
        message = "nothing is at this address" if error.status_code == 404 else str(error.detail)
        return respond_to(Refusal(error.status_code, message))
    allowed = [
        method
        for method in _METHODS
        for route in request.app.router.routes
        if route.matches({**request.scope, "method": "GET" if method == "HEAD" else method})[0] is Match.FULL
    ]
    response = Response(status_code=204)
    if request.method != "OPTIONS":
        response = respond_to(Refusal(405, f"this address does not take {request.method[:20]}"))
    response.headers["Allow"] = ", ".join(dict.fromkeys([*allowed, "OPTIONS"]))
    return response
