"""The aggregator as a web application: settings -> routes, and what runs beside them."""

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
from starlette.types import Receive, Scope, Send

from privact import __version__
from privact.aggregator.domain.batches import Batches
from privact.aggregator.domain.intake import Intake
from privact.aggregator.domain.round_parameters import Parameters
from privact.aggregator.domain.rounds import close_due
from privact.aggregator.domain.tokens import store_operator_token
from privact.aggregator.http.auth import Gate
from privact.aggregator.http.middleware import Front
from privact.aggregator.http.openapi import described
from privact.aggregator.http.refusals import MEANT, refusal_of
from privact.aggregator.http.responses import Refusal, refused
from privact.aggregator.http.routes import explore, health, recommendations, reports, rounds, trees, users
from privact.aggregator.jobs.learner import Learner
from privact.aggregator.metrics import Metrics
from privact.aggregator.pages import site
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store

__all__ = ["Aggregator", "create_app"]

_TICK_SECONDS: Final = 0.5
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "DELETE")
_log = logging.getLogger("privact.aggregator")


class Aggregator(FastAPI):
    """The application; every request goes through its front first."""

    front: Front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or start and stop with the server."""
        scope["app"] = self
        await (self.front if scope["type"] == "http" else super().__call__)(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What is behind the front: the routes."""
        await super().__call__(scope, receive, send)


def create_app(settings: Settings, now: Callable[[], float] = time.time) -> Aggregator:
    """The aggregator; its database is opened and brought up to date here.

    settings: how it runs.
    now: the clock, UTC seconds since 1970.
    """
    settings.data_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = Store.open(settings.database_url)
    if settings.operator_token is not None:
        with store.write() as connection:
            store_operator_token(connection, settings.operator_token.get_secret_value())
    app = Aggregator(
        title="PrivaCT aggregator",
        version=__version__,
        docs_url=None,  # the pages that FastAPI brings load scripts from another host
        redoc_url=None,
        redirect_slashes=False,  # a redirect would repeat whatever host the client named
        lifespan=_lifespan,
    )
    intake = Batches(Intake(store, now).take, name="privact-intake", most_waiting=settings.queue_length)
    app.state.store = store
    app.state.settings = settings
    app.state.now = now
    app.state.intake = intake
    app.state.gate = Gate(store, settings)
    app.state.parameters = Parameters(store)
    app.state.learner = Learner(store, settings)
    app.state.metrics = Metrics(store, lambda: intake.n_waiting)
    for module in (reports, rounds, users, trees, explore, recommendations, health, site):
        app.include_router(module.router)
    for kind in MEANT:
        app.add_exception_handler(kind, _refusal)
    app.add_exception_handler(HTTPException, _no_such_route)
    app.front = Front(app.answer, reports.put_report, app.state.metrics)
    app.openapi = lambda: described(app)  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Start what runs beside the routes; at the end write what was taken in, then stop."""
    state = app.state
    state.intake.start()
    state.gate.start()
    await run_in_threadpool(state.learner.start)
    closing = asyncio.create_task(_close_in_time(app))
    try:
        yield
    finally:
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        await state.intake.stop()
        await state.gate.stop()
        await run_in_threadpool(state.learner.stop)
        state.store.close()


async def _close_in_time(app: FastAPI) -> None:
    """Close each round when its time is over, for as long as the server runs."""
    state = app.state
    while True:
        try:
            closed = await run_in_threadpool(close_due, state.store, int(state.now()))
        except SQLAlchemyError:
            _log.exception("cannot look for rounds to close")
            closed = []
        for round_id in closed:
            _log.info("a round closed in time", extra={"round": round_id})
        if closed:
            state.learner.wake()
        await asyncio.sleep(_TICK_SECONDS)


async def _refusal(request: Request, error: Exception) -> Response:
    refusal = refusal_of(error)
    assert refusal is not None
    return refused(refusal)


async def _no_such_route(request: Request, error: Any) -> Response:
    """Unknown addresses and methods; OPTIONS is answered with the methods that there are."""
    if error.status_code != 405:
        return refused(
            Refusal(error.status_code, "nothing is at this address" if error.status_code == 404 else str(error.detail))
        )
    allowed = [
        method
        for method in _METHODS
        for route in request.app.router.routes
        if route.matches({**request.scope, "method": "GET" if method == "HEAD" else method})[0] is Match.FULL
    ]
    answer = Response(status_code=204)
    if request.method != "OPTIONS":
        answer = refused(Refusal(405, f"this address does not take {request.method[:20]}"))
    answer.headers["Allow"] = ", ".join(dict.fromkeys([*allowed, "OPTIONS"]))
    return answer
