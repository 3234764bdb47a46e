"""What happens to every request and every response: safe headers, HEAD, the log, the metrics, the record of operators.

The fast path: `PUT /v1/rounds/{round_id}/report` is recognised here and goes straight to its route function, past the routing
and dependency injection that every other request goes through. A round brings one report from every user within days, and that
machinery would cost more than taking the report. It is the only exception; everything else is in http/routes.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from functools import lru_cache
from time import perf_counter
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from privact.aggregator.domain.access.operators import record_action
from privact.aggregator.http.responses import Refusal, respond_to
from privact.aggregator.http.services import Services
from privact.aggregator.http.statuses import find_refusal
from privact.protocol.round_ids import ROUND_ID

__all__ = ["Middleware"]

_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
"""Sent with every response that does not set them itself."""
_METHODS: Final = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"}
_READING: Final = {"GET", "HEAD", "OPTIONS"}
_REPORT: Final = re.compile(rf"/v1/rounds/({ROUND_ID})/report")
_REPORT_ROUTE: Final = "/v1/rounds/{round_id}/report"
_log = logging.getLogger("privact.requests")


class Middleware:
    """Wraps the routes.

    app: the routes.
    put_report: the route function of reports, called directly (the fast path).
    services: where requests are counted and what operators do is recorded.
    """

    def __init__(self, app: ASGIApp, put_report: Callable[[Request, str], Awaitable[Response]], services: Services) -> None:
        self._app = app
        self._put_report = put_report
        self._services = services
        self._observer = lru_cache(maxsize=1024)(services.metrics.requests.labels)  # labels() is slow

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        begin, method, status = perf_counter(), scope["method"], 0
        headers_only = method == "HEAD"
        if headers_only:
            scope = {**scope, "method": "GET"}

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if "privact.operator" in scope and method not in _READING:
                    await run_in_threadpool(self._record, scope, method, status)  # on disk before the operator is told
                headers = message["headers"]
                there = {name for name, _ in headers}
                headers.extend(header for header in _HEADERS if header[0] not in there)
            elif headers_only:
                message = {**message, "body": b""}
            await send(message)

        report = _REPORT.fullmatch(scope["path"]) if method == "PUT" else None
        try:
            if report is not None:
                response = await self._respond_to_report(Request(scope, receive), report[1])
                await response(scope, receive, send_on)
            else:
                await self._app(scope, receive, send_on)
        except Exception:
            _log.exception("a request failed", extra={"method": _known(method), "route": _route(scope)})
            if status:  # the response is under way: it can only be cut off
                raise
            await respond_to(Refusal(500, "the server failed; its log says why"))(scope, receive, send_on)
        self._note(_known(method), _REPORT_ROUTE if report else _route(scope), status, perf_counter() - begin)

    def _record(self, scope: Scope, method: str, status: int) -> None:
        """Write down what an operator did."""
        services, operator = self._services, scope["privact.operator"]
        subject = scope.get("privact.subject") or " ".join(map(str, scope.get("path_params", {}).values()))
        record_action(services.store, services.utc_seconds(), operator.name, f"{method} {_route(scope)}", subject, status)

    async def _respond_to_report(self, request: Request, round_id: str) -> Response:
        try:
            return await self._put_report(request, round_id)
        except Exception as error:
            refusal = find_refusal(error)
            if refusal is None:
                raise
            return respond_to(refusal)

    def _note(self, method: str, route: str, status: int, seconds: float) -> None:
        self._observer(method, route, str(status)).observe(seconds)
        if method == "PUT" and status in (200, 201) and route == _REPORT_ROUTE:
            return
        told = status in (401, 403) or status >= 500  # pages and devices poll, also what is not there yet
        level = logging.DEBUG if method in _READING and not told else logging.INFO
        _log.log(level, "request", extra={"method": method, "route": route, "status": status, "seconds": round(seconds, 3)})


def _route(scope: Scope) -> Any:
    """The route without what was filled in: addresses may hold user ids."""
    return getattr(scope.get("route"), "path", "none")


def _known(method: str) -> str:
    """The method, if it is one; a client may invent any number of them."""
    return method if method in _METHODS else "other"
