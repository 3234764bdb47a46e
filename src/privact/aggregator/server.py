"""A running server: settings -> a process that listens, and that ends without losing an accepted report."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import IO

import uvicorn
from pydantic import SecretStr

from privact.aggregator.domain.access.operators import has_operators
from privact.aggregator.domain.access.tokens import new_operator_token
from privact.aggregator.http.app import create_app
from privact.aggregator.http.bounded_heads import BoundedHeads
from privact.aggregator.logs import log_to
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store
from privact.errors import InputError
from privact.storage import write_privately

__all__ = ["TOKEN_FILE", "serve"]

TOKEN_FILE = "operator-token"
"""The file in the data folder to which a new operator's token is written."""

_BACKLOG = 2048
_log = logging.getLogger("privact.aggregator")


def serve(
    settings: Settings, *, new_token: bool = False, on_token: Callable[[Path], None], on_ready: Callable[[str], None]
) -> None:
    """Serve until SIGTERM or Ctrl-C; then finish the requests that are under way. A second Ctrl-C ends at once.

    settings: how.
    new_token: make a new operator's token, also if there is one.
    on_token: called with the file of the operator's token, mode 0600, if one was made.
    on_ready: called with the address once requests are served.
    """
    _make_folder(settings.data_folder)
    with _hold_folder(settings), _listen(settings) as listener:
        settings = _ensure_token(settings, new_token, on_token)
        app = create_app(settings)
        log_to(level=settings.log_level)
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=True,
            forwarded_allow_ips=settings.forwarded_allow_ips,
            timeout_graceful_shutdown=max(1, round(settings.drain_seconds)),
            backlog=_BACKLOG,
            lifespan="on",
            http=BoundedHeads,
            ws="none",
        )
        _Server(config, lambda: on_ready(_address(listener))).run(sockets=[listener])


class _Server(uvicorn.Server):
    """uvicorn that says when it is ready, ends with success after a signal, and ends at once after a second one."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._handle_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        if self.should_exit and number == signal.SIGINT:
            os._exit(130)  # at once: whatever was accepted is on disk, and workers end with this process
        self.should_exit = True


def _make_folder(folder: Path) -> None:
    """Make the data folder for its owner only, also if it is there already; refuse one that cannot be written to."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make data folder {folder}: {(error.strerror or str(error)).lower()}: choose another") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"cannot write to data folder {folder}: permission denied: choose another")
    try:
        folder.chmod(0o700)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"cannot make data folder {folder} private: {reason}: chown it to this user") from None


@contextmanager
def _hold_folder(settings: Settings) -> Iterator[None]:
    """Hold the data folder and the database file for this process alone; the system lets go however the process ends."""
    database = Store(settings.database_url)
    held = [settings.data_folder / "lock"]
    if database.is_sqlite:
        held.append(Path(f"{database.url.database}.lock"))
    with ExitStack() as files:
        for path in held:
            try:
                file = files.enter_context(open(path, "a", opener=partial(os.open, mode=0o600)))
            except OSError as error:
                raise InputError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None
            try:
                _lock(file)
            except OSError:
                raise InputError(f"another server holds {path}: stop it, or choose another data folder and database") from None
        yield


def _lock(file: IO[str]) -> None:
    """Lock a file until it is closed; an OSError if it is locked already."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def _listen(settings: Settings) -> Iterator[socket.socket]:
    """The socket, bound before anything else is done."""
    host, port = settings.host.strip("[]"), settings.port
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except OSError as error:
        named = None if isinstance(error, socket.gaierror) else error.errno
        reason = (os.strerror(named) if named else error.strerror or str(error)).lower()
        raise InputError(f"cannot listen on {settings.host} port {port}: {reason}: choose another with --port") from None
    with listener:
        yield listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _ensure_token(settings: Settings, new_token: bool, tell: Callable[[Path], None]) -> Settings:
    """The settings with an operator's token to keep, if there is none yet or a new one is wanted."""
    if settings.operator_token is not None:
        return settings
    store = Store.open(settings.database_url)
    with store.read() as connection:
        there = has_operators(connection)
    store.close()
    if there and not new_token:
        return settings
    token, path = new_operator_token(), settings.data_folder / TOKEN_FILE
    write_privately(path, token.encode() + b"\n")
    tell(path)
    return settings.model_copy(update={"operator_token": SecretStr(token)})
