"""Tasks on an executor in the manner of concurrent.futures, whatever is behind it: this process, a pool, or a Dask cluster.

The executor decides where tasks run. A Dask cluster retries tasks whose worker died; a pool of processes is started again once
for them. What is the same for all is here: a bounded number of tasks under way, results by number whatever the order in which
they finish, and cancelling the rest when one fails or the user interrupts.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from privact.errors import PrivaCTError

__all__ = [
    "IN_PROCESS",
    "MOST_WORKERS",
    "Engine",
    "InProcess",
    "RestartedPool",
    "SharedFile",
    "read_shared",
    "run",
    "share_in_folder",
]

MOST_WORKERS = 512
"""The most worker processes on one machine."""


_Call = tuple[int, tuple[Any, ...]]  # the number of a call and its arguments


class InProcess(Executor):
    """An executor that runs each task at once in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run the task; returns a finished future."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class RestartedPool(Executor):
    """A pool of processes that is started again once, after a worker has died.

    start: starts a pool.
    """

    def __init__(self, start: Callable[[], Executor]) -> None:
        self._start = start
        self._pool = start()
        self._restarts = 1

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Give a task to the pool; raises BrokenProcessPool once a worker has died."""
        return self._pool.submit(fn, *args, **kwargs)

    def restart(self) -> bool:
        """Replace a broken pool by a new one; whether it may be."""
        if self._restarts == 0:
            return False
        self._restarts -= 1
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = self._start()
        return True

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes."""
        self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)


@dataclass(frozen=True)
class Engine:
    """Where tasks run, and how data reach them.

    executor: takes tasks as concurrent.futures does.
    workers: the number of tasks that run at a time.
    folder: where workers read what this process writes; None where they share its memory, or no file with it.
    in_process: whether tasks share this process's memory.
    share: makes a value ready to be given to many tasks; they get it back through `read_shared`.
    """

    executor: Executor
    workers: int
    folder: Path | None
    in_process: bool
    share: Callable[[Any], Any]


IN_PROCESS = Engine(InProcess(), 1, None, True, lambda value: value)
"""This process alone."""


@dataclass(frozen=True)
class SharedFile:
    """A value in a file, which each worker reads once.

    path: the file.
    """

    path: str


def read_shared(value: Any) -> Any:
    """The value that `Engine.share` was given, inside a task."""
    return _unpickle(value.path) if isinstance(value, SharedFile) else value


@lru_cache(maxsize=4)
def _unpickle(path: str) -> Any:
    return pickle.loads(Path(path).read_bytes())  # written by this very run


def run(engine: Engine, task: Callable[..., Any], calls: Iterable[tuple[Any, ...]], done: Callable[[int], None]) -> list[Any]:
    """Run a task once for each tuple of arguments; returns the results in the order of the calls.

    calls: read as workers become free, so that only a few wait at a time. done: called with the number of each finished call.
    """
    results: dict[int, Any] = {}
    waiting: dict[Future[Any], _Call] = {}
    again: list[_Call] = []
    rest = enumerate(calls)
    try:
        while True:
            try:
                _submit(engine, task, again, rest, waiting)
                if not waiting:
                    return [results[number] for number in range(len(results))]
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    number, _ = waiting[future]
                    results[number] = future.result()
                    del waiting[future]
                    done(number)
            except BrokenProcessPool:
                if not isinstance(engine.executor, RestartedPool) or not engine.executor.restart():
                    raise
                again += waiting.values()
                waiting.clear()
    except BrokenProcessPool:
        raise PrivaCTError(
            f"some of {engine.workers} worker processes died, and again after a new start, perhaps for want of memory: use fewer "
            "workers, or --cluster local:N, which tries again"
        ) from None
    finally:
        for future in waiting:
            future.cancel()


def _submit(
    engine: Engine,
    task: Callable[..., Any],
    again: list[_Call],
    rest: Iterator[_Call],
    waiting: dict[Future[Any], _Call],
) -> None:
    """Give calls to the executor until enough wait: first those to repeat, then the rest."""
    room = 1 if engine.in_process else 2 * engine.workers + 2
    while len(waiting) < room:
        if not again:
            following = next(rest, None)
            if following is None:
                return
            again.append(following)
        waiting[engine.executor.submit(task, *again[-1][1])] = again[-1]
        again.pop()


def share_in_folder(folder: Path) -> Callable[[Any], SharedFile]:
    """Make a function that shares values through files in a folder."""

    def share(value: Any) -> SharedFile:
        handle, path = tempfile.mkstemp(prefix="shared-", dir=folder)
        with os.fdopen(handle, "wb") as file:
            pickle.dump(value, file, protocol=pickle.HIGHEST_PROTOCOL)
        return SharedFile(path)

    return share
