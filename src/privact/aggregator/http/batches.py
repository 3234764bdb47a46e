"""Batches: many waiting requests, one thread that serves all of them at once.

While a batch is handled the next one gathers, so batches are as large as the load makes them and nobody waits for a timer.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Final, Generic, TypeVar

__all__ = ["Batches", "Overloaded"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class Overloaded(Exception):
    """More is waiting than may wait, or nothing is taken any more."""


class Batches(Generic[Item, Result]):
    """A queue of requests before a thread.

    handle: from a batch of items to one result each, in order; called in the thread. If it raises, every item of the batch does.
    name: of the thread.
    most_waiting: how many requests may wait or be handled; one more raises Overloaded.
    most_at_once: how many requests make a batch.
    """

    def __init__(
        self, handle: Callable[[list[Item]], Sequence[Result]], *, name: str, most_waiting: int, most_at_once: int = 512
    ) -> None:
        self._handle = handle
        self._name = name
        self._most_waiting: Final = most_waiting
        self._most_at_once: Final = most_at_once
        self._queue: SimpleQueue[tuple[Item, asyncio.Future[Result]] | None] = SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self.n_waiting = 0
        """Requests that wait or are being handled."""

    def start(self) -> None:
        """Begin to serve; call it in the event loop that asks."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
        self._thread.start()

    def ask(self, item: Item) -> asyncio.Future[Result]:
        """The result for one item, once its batch is handled; call it in the event loop."""
        if self._thread is None or self._loop is None or self.n_waiting >= self._most_waiting:
            raise Overloaded
        future: asyncio.Future[Result] = self._loop.create_future()
        self.n_waiting += 1
        self._queue.put((item, future))
        return future

    async def stop(self) -> None:
        """Handle everything that waits, then end the thread; nothing more is taken meanwhile."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            await asyncio.get_running_loop().run_in_executor(None, thread.join)

    def _serve(self) -> None:
        while True:
            batch = [self._queue.get()]
            while len(batch) < self._most_at_once and batch[-1] is not None and not self._queue.empty():
                batch.append(self._queue.get())
            asked = [entry for entry in batch if entry is not None]
            if asked:
                self._handle_batch(asked)
            if batch[-1] is None:
                return

    def _handle_batch(self, asked: list[tuple[Item, asyncio.Future[Result]]]) -> None:
        results: Sequence[Result] | None = None
        failure: BaseException | None = None
        try:
            results = self._handle([item for item, _ in asked])
        except Exception as error:
            failure = error
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._resolve, [future for _, future in asked], results, failure)

    def _resolve(
        self, futures: list[asyncio.Future[Result]], results: Sequence[Result] | None, failure: BaseException | None
    ) -> None:
        self.n_waiting -= len(futures)
        for place, future in enumerate(futures):
            if future.done():  # the client has disconnected
                continue
            if results is None:
                assert failure is not None
                future.set_exception(failure)
            else:
                future.set_result(results[place])
