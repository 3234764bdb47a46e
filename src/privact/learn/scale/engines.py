"""Open an engine: this process, a pool of processes, or a Dask cluster."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from pathlib import Path

from privact.errors import InputError
from privact.learn.limits import LIMITS, Limits
from privact.learn.scale.task_runner import IN_PROCESS, MOST_WORKERS, Engine, RestartedPool, share_in_folder

__all__ = ["Engine", "open_engine", "workers_for"]


def workers_for(n_users: int, limits: Limits = LIMITS) -> int:
    """How many processes of this machine are worth starting: one per core for very many users, else this one alone."""
    if n_users <= limits.one_process:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_WORKERS)


@contextmanager
def open_engine(workers: int | None = None, cluster: str | None = None, scratch: str | Path | None = None) -> Iterator[Engine]:
    """Open an engine for the duration of a block; its processes and files are removed at the end.

    workers: the number of processes of this machine; None or 1 for this process alone.
    cluster: instead, "tcp://HOST:PORT" of a Dask scheduler, or "local:N" for a Dask cluster of N processes of this machine.
    scratch: the folder for temporary files; on a cluster one that all machines share, where there is one.
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
        yield IN_PROCESS
        return
    with _scratch(scratch) as folder, _pool(workers) as pool:
        yield Engine(pool, workers, folder, False, share_in_folder(folder))


@contextmanager
def _scratch(parent: str | Path | None) -> Iterator[Path]:
    """A new folder, removed at the end of the block."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="privact-", dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise InputError(f"cannot make a folder in {parent}: {(error.strerror or str(error)).lower()}") from None
    with folder as path:
        yield Path(path).resolve()


@contextmanager
def _pool(workers: int) -> Iterator[RestartedPool]:
    """A pool of fresh processes; forked ones would inherit locks of threads that they do not have."""
    pool = RestartedPool(lambda: ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_follow_parent))
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _follow_parent() -> None:
    """Leave interrupts to the parent, and end when it has ended, however that came."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
