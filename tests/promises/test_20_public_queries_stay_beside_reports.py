"""Promise 20: whatever anybody asks of released trees, users and reports are served: few queries at once, cached, paced."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request

from privact.aggregator.domain.refusals import Busy
from privact.aggregator.http.public_queries import PublicQueries
from privact.aggregator.http.responses import Refusal
from privact.aggregator.settings import Settings


class Trees:
    """Open trees of one round whose tree can be exchanged."""

    def __init__(self) -> None:
        self.tree: Any = object()

    def peek(self, round_id: str) -> Any:
        return self.tree

    def query(self, round_id: str, user: str | None, ask: Any) -> Any:
        return ask(self.tree)


def request(path: str = "/v1/rounds/spring/tree/cut", host: str = "10.0.0.1") -> Request:
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"k=3", "headers": [], "client": (host, 1)}
    return Request({**scope, "server": ("x", 80), "scheme": "http", "app": SimpleNamespace()})


@pytest.fixture
def trees() -> Trees:
    return Trees()


def queries(trees: Trees, **chosen: Any) -> PublicQueries:
    return PublicQueries(Settings(**chosen), trees)  # type: ignore[arg-type]


def test_few_run_at_once_and_more_than_may_wait_are_told_that_the_server_is_busy(trees: Trees) -> None:
    public = queries(trees, public_workers=2, public_queue=5)
    running, most, go = [0], [0], threading.Event()

    def slow() -> int:
        running[0] += 1
        most[0] = max(most[0], running[0])
        go.wait(60)
        running[0] -= 1
        return 1

    async def play() -> None:
        waiting = [asyncio.create_task(public.run(slow)) for _ in range(5)]
        await asyncio.sleep(0.1)
        with pytest.raises(Busy):
            await public.run(slow)
        go.set()
        assert await asyncio.gather(*waiting) == [1] * 5
        assert await public.run(lambda: 2) == 2  # there is room again

    asyncio.run(play())
    assert most[0] <= 2
    public.stop()


def test_the_same_query_is_computed_once_until_the_tree_changes(trees: Trees) -> None:
    public, computed = queries(trees), []

    def ask(tree: Any) -> dict[str, int]:
        computed.append(tree)
        return {"n": len(computed)}

    async def play() -> list[bytes]:
        first = [bytes((await public.query(request(), "spring", None, ask)).body) for _ in range(3)]
        trees.tree = object()  # somebody joined late
        return [*first, bytes((await public.query(request(), "spring", None, ask)).body)]

    assert asyncio.run(play()) == [b'{"n":1}'] * 3 + [b'{"n":2}']
    public.stop()


def test_an_address_that_asks_too_often_is_told_to_wait_and_others_are_not(trees: Trees) -> None:
    public = queries(trees, public_rate=0.001, public_burst=3)
    for _ in range(3):
        public.pace(request())
    with pytest.raises(Refusal) as refused:
        public.pace(request())
    assert refused.value.status == 429
    public.pace(request(host="10.0.0.2"))
    public.stop()
