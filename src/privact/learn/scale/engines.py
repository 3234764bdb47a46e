"""Where the parts of a tree are learned: in this process, in a pool of processes, or on a Dask cluster.

All three are executors in the manner of concurrent.futures; who dies is retried, where and by whom is their business. What is
the same for all is here: a bounded number of tasks under way, results by number whatever the order in which they come, and
cancelling everything when one fails or the user has had enough.
"""

from __future__ import annotations

import os
import pickle
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from privact.errors import InputError, PrivaCTError

MOST_WORKERS = 512
"""The most processes that are started on one machine."""


class InProcess(Executor):
    """An executor that does each task at once, here."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do it, and return a future that is done."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@dataclass(frozen=True)
class Engine:
    """What runs tasks, and how data reach them.

    executor: takes tasks as concurrent.futures does.
    workers: how many tasks run at a time.
    folder: where workers read what this process writes; None where they share its memory, or no file with it.
    in_process: whether tasks share this process's memory.
    share: makes a value ready to be given to many tasks; they get it back through `shared`.
    """

    executor: Executor
    workers: int
    folder: Path | None
    in_process: bool
    share: Callable[[Any], Any]


@dataclass(frozen=True)
class SharedFile:
    """A value that waits in a file; a worker reads it once.

    path: the file.
    """

    path: str


def shared(value: Any) -> Any:
    """The value that `Engine.share` was given, inside a task."""
    return _read_shared(value.path) if isinstance(value, SharedFile) else value


@lru_cache(maxsize=4)
def _read_shared(path: str) -> Any:
    return pickle.loads(Path(path).read_bytes())  # written by this very run


def run(engine: Engine, task: Callable[..., Any], calls: Iterable[tuple[Any, ...]], done: Callable[[int], None]) -> list[Any]:
    """Do a task for each of some arguments; returns the results in the order of the calls, however they came.

    calls: read as there is room, so that no more than a few wait at a time. done: is told the number of each finished call.
    """
    results: dict[int, Any] = {}
    waiting: dict[Future[Any], int] = {}
    room = 1 if engine.in_process else 2 * engine.workers + 2
    rest = enumerate(calls)
    try:
        while True:
            while len(waiting) < room and (following := next(rest, None)) is not None:
                number, arguments = following
                waiting[engine.executor.submit(task, *arguments)] = number
            if not waiting:
                return [results[number] for number in range(len(results))]
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                number = waiting.pop(future)
                results[number] = future.result()
                done(number)
    except BrokenProcessPool:
        raise PrivaCTError(
            f"one of {engine.workers} worker processes died, perhaps for want of memory: use fewer workers, or "
            "--cluster local:N, which tries again"
        ) from None
    finally:
        for future in waiting:
            future.cancel()


@contextmanager
def open_engine(workers: int | None = None, cluster: str | None = None, scratch: str | Path | None = None) -> Iterator[Engine]:
    """An engine for the time of a block; afterwards no process and no file of it is left.

    workers: how many processes of this machine; None or 1 for this process alone.
    cluster: instead, "tcp://HOST:PORT" of a Dask scheduler, or "local:N" for a Dask cluster of N processes of this machine.
    scratch: where a folder for what spills is made; on a cluster one that all machines share, where there is one.
    """
    if cluster is not None:
        if workers is not None:
            raise InputError(f"workers {workers} and cluster {cluster!r} exclude each other: a cluster has its own workers")
        from privact.learn.scale.dask_engine import dask_engine

        with _scratch(scratch) as folder, dask_engine(cluster, folder) as engine:
            yield engine
        return
    if workers is not None and (isinstance(workers, bool) or not 1 <= workers <= MOST_WORKERS):
        raise InputError(f"workers {workers!r} is not a whole number from 1 to {MOST_WORKERS}: one per core is usual")
    if workers is None or workers == 1:
        yield Engine(InProcess(), 1, None, True, lambda value: value)
        return
    with _scratch(scratch) as folder, _pool(workers) as pool:
        yield Engine(pool, workers, folder, False, file_sharer(folder))


def file_sharer(folder: Path) -> Callable[[Any], SharedFile]:
    """A way to share values through files in a folder."""

    def share(value: Any) -> SharedFile:
        handle, path = tempfile.mkstemp(prefix="shared-", dir=folder)
        with os.fdopen(handle, "wb") as file:
            pickle.dump(value, file, protocol=pickle.HIGHEST_PROTOCOL)
        return SharedFile(path)

    return share


@contextmanager
def _scratch(parent: str | Path | None) -> Iterator[Path]:
    """A folder of our own that is gone afterwards."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="privact-", dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise InputError(f"cannot make a folder in {parent}: {(error.strerror or str(error)).lower()}") from None
    with folder as path:
        yield Path(path).resolve()


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of fresh processes; forked ones would inherit locks of threads that they do not have."""
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_leave_interrupts_to_the_parent)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
