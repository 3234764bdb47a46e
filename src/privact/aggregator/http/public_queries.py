"""Queries that anybody may send, kept from getting in the way of reports: few at once, in threads of their own, cached, paced.

Reports and logins never wait for these threads. Who asks more often than the rate is told to wait; when too many wait, the
server says that it is busy; the same query on the same tree is computed once.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from privact.aggregator.domain.open_trees import OpenTrees
from privact.aggregator.domain.refusals import Busy
from privact.aggregator.domain.released_tree import ReleasedTree
from privact.aggregator.http.rate_limits import Buckets, address_key, too_many
from privact.aggregator.http.responses import Json
from privact.aggregator.settings import Settings

__all__ = ["PublicQueries"]

_MOST_CACHED: Final = 4096  # responses
_MOST_BYTES: Final = 32 * 2**20  # of cached responses together
_LONGEST_CACHED: Final = 256 * 2**10  # bytes of one cached response

Result = TypeVar("Result")


class _Cached(NamedTuple):
    """A response that was computed before.

    tree: on which. body: the bytes.
    """

    tree: ReleasedTree
    body: bytes


class PublicQueries:
    """The queue of public queries of one server.

    settings: how many run and wait at once, and how often an address may ask. trees: what is queried.
    """

    def __init__(self, settings: Settings, trees: OpenTrees) -> None:
        self._threads = ThreadPoolExecutor(settings.public_workers, thread_name_prefix="privact-public")
        self._most_waiting = settings.public_queue
        self._n_waiting = 0
        self._by_address = Buckets(settings.public_rate, settings.public_burst)
        self._trees = trees
        self._cache: OrderedDict[tuple[str, bytes], _Cached] = OrderedDict()
        self._n_bytes = 0

    def pace(self, request: Request) -> None:
        """Refuse an address that asks too often."""
        if wait := self._by_address.take(address_key(request.client.host if request.client else None)):
            raise too_many(wait)

    async def run(self, compute: Callable[[], Result]) -> Result:
        """Compute something in a thread of its own; refused when too many wait already."""
        if self._n_waiting >= self._most_waiting:
            raise Busy
        self._n_waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, compute)
        finally:
            self._n_waiting -= 1

    async def query(
        self, request: Request, round_id: str, user: str | None, ask: Callable[[ReleasedTree], dict[str, Any]]
    ) -> Response:
        """The response to a query; arguments as for OpenTrees.query."""
        return await self._respond(request, round_id, lambda: self._trees.query(round_id, user, ask))

    async def explore(
        self, request: Request, round_id: str, user: str | None, ask: Callable[[ReleasedTree], dict[str, Any]]
    ) -> Response:
        """The response to a query of the explorer; arguments as for OpenTrees.explore."""
        return await self._respond(request, round_id, lambda: self._trees.explore(round_id, user, ask))

    async def _respond(self, request: Request, round_id: str, query: Callable[[], dict[str, Any]]) -> Response:
        """The response to a query on the tree of a round, from the cache if the tree is still the same."""
        key = (request.url.path, request.scope["query_string"])
        tree = self._trees.peek(round_id)
        kept = self._cache.get(key)
        if kept is not None and kept.tree is tree:
            self._cache.move_to_end(key)
            return Response(kept.body, media_type="application/json")
        body = bytes((await self.run(lambda: Json(query()))).body)
        tree = self._trees.peek(round_id)
        if tree is not None:
            self._keep(key, _Cached(tree, body))
        return Response(body, media_type="application/json")

    def stop(self) -> None:
        """Let queries that run end, and take no more."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _keep(self, key: tuple[str, bytes], cached: _Cached) -> None:
        old = self._cache.pop(key, None)
        self._n_bytes -= 0 if old is None else len(old.body)
        if len(cached.body) > _LONGEST_CACHED:
            return
        self._cache[key] = cached
        self._n_bytes += len(cached.body)
        while len(self._cache) > _MOST_CACHED or self._n_bytes > _MOST_BYTES:
            _, dropped = self._cache.popitem(last=False)
            self._n_bytes -= len(dropped.body)
