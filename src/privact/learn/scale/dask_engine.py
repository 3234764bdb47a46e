"""A Dask cluster as an engine: one that its operator already runs, or one of processes on this machine."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from privact.errors import InputError, MissingExtraError, PrivaCTError
from privact.learn.scale.task_runner import MOST_WORKERS, Engine, share_in_folder

RETRIES = 3
"""How often a task that failed on a worker is tried again; one whose worker died is tried again in any case."""

PATIENCE = 30
"""Seconds within which a cluster must answer and show a worker."""


@contextmanager
def dask_engine(cluster: str, folder: Path) -> Iterator[Engine]:
    """A cluster for the time of a block.

    cluster: "tcp://HOST:PORT" (or tls://) of a scheduler, or "local:N". folder: for temporary files, if the workers can read it.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise MissingExtraError("distributed", "cluster", "--cluster") from None
    local = re.fullmatch(r"local:(\d+)", cluster)
    if local and not 1 <= int(local[1]) <= MOST_WORKERS:
        raise InputError(f"cluster {cluster!r} asks for {local[1]} workers, outside 1 to {MOST_WORKERS}: one per core is usual")
    if not local and not re.fullmatch(r"(tcp|tls|ws|wss|ucx)://\S+:\d+", cluster):
        raise InputError(f"cluster {cluster!r} is neither tcp://HOST:PORT nor local:N: give a scheduler's address, or local:2")
    if local:
        # Looking at every stack a hundred times a second takes a twentieth of a core, in this process and in each worker.
        with (
            dask.config.set({"distributed.worker.profile.enabled": False}),
            LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=int(local[1]),
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",
                local_directory=str(folder),
                silence_logs=logging.CRITICAL,
            ) as home,
            Client(home) as client,  # type: ignore[no-untyped-call]
            one_line_errors(),
        ):
            yield engine_of(client, folder)
        return
    try:
        client = Client(cluster, timeout=PATIENCE)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {cluster} ({type(error).__name__}): start one with 'dask scheduler', or use local:2"
        ) from None
    with client, one_line_errors():
        yield engine_of(client, folder)


def engine_of(client: Any, folder: Path) -> Engine:
    """An engine of a Dask client that is already there.

    client: a distributed.Client. folder: for temporary files, if the workers can read it; it is the caller's to remove.
    """
    from distributed import TimeoutError as DaskTimeoutError

    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except (DaskTimeoutError, TimeoutError):
        raise InputError(
            f"the Dask cluster shows no worker for {PATIENCE} seconds: start one with 'dask worker {client.scheduler.address}'"
        ) from None
    token = folder / f"token-{secrets.token_hex(8)}"
    token.write_text("privact")
    try:
        seen = client.run(can_read, str(token))
    except ImportError as error:
        raise InputError(f"the Dask workers cannot import privact ({error}): install the same version there") from None
    token.unlink()
    files = bool(seen) and all(seen.values())
    return Engine(
        executor=client.get_executor(pure=False, retries=RETRIES),
        workers=max(1, sum(client.nthreads().values())),
        folder=folder if files else None,
        in_process=False,
        share=share_in_folder(folder) if files else _future_sharer(client),
    )


def can_read(path: str) -> bool:
    """Whether a worker sees a file of ours."""
    return Path(path).is_file()


def itself(value: Any) -> Any:
    """The value: a task whose result stays on the cluster, and which the scheduler can do again where it was lost."""
    return value


def _future_sharer(client: Any) -> Callable[[Any], Any]:
    """A way to share values as the result of a task: workers fetch it from each other, and it outlives any of them."""
    return lambda value: client.submit(itself, value, pure=False)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Errors of a cluster, for the time of a block, as one line each."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise PrivaCTError(
            f"a task was given up because its workers died again and again, perhaps for want of memory ({error.task}): "
            "give workers more memory"
        ) from None
    except CancelledError:
        raise PrivaCTError("the Dask cluster cancelled the work: see the scheduler's log, and run it again") from None
