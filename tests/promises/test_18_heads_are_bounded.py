"""Promise 18: without a token nobody makes the server hold more than a small head for each connection, or hold it for long."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from privact.aggregator.http import bounded_heads

from .conftest import Aggregator

MEGABYTE = 2**20
TARGETS = {
    "many header lines": (b"GET / HTTP/1.1\r\nHost: x\r\n", b"X-Filler: " + b"a" * 1000 + b"\r\n", 431),
    "one endless header line": (b"GET / HTTP/1.1\r\nX-Filler: ", b"a" * 1012, 431),
    "an endless header name": (b"GET / HTTP/1.1\r\n", b"a" * 1012, 431),
    "an endless address": (b"GET /", b"a" * 1012, 414),
    "an endless query": (b"GET /?q=", b"a" * 1012, 414),
    "endless trailers": (
        b"PUT /v1/rounds/x/report HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
        b"X-Filler: " + b"a" * 1000 + b"\r\n",
        None,
    ),
    "requests that wait for no response": (b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", None),
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aggregator]:
    server = Aggregator(tmp_path_factory.mktemp("aggregator"))
    server.start()
    yield server
    server.stop()


def memory(server: Aggregator) -> int:
    """Resident bytes of the server's process."""
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def attack(server: Aggregator, beginning: bytes, filler: bytes, n_bytes: int) -> bytes:
    """Send a beginning and then filler until so many bytes are sent or the server closes; what the server said."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        block = filler * (64 * 1024 // len(filler))
        with suppress(ConnectionError, BrokenPipeError):
            connection.sendall(beginning)
            for _ in range(n_bytes // len(block)):
                connection.sendall(block)
        said = b""
        with suppress(ConnectionError, TimeoutError):
            connection.settimeout(5)
            while part := connection.recv(65536):
                said += part
        return said


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", TARGETS)
def test_memory_stays_and_the_connection_is_closed_in_one_line(running: Aggregator, name: str) -> None:
    beginning, filler, status = TARGETS[name]
    running.ask("GET", "/healthz")
    before = memory(running)
    said = attack(running, beginning, filler, 48 * MEGABYTE)
    assert memory(running) - before < 8 * MEGABYTE
    if status is not None and said:  # a reset may overtake the response
        head, _, body = said.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert list(json.loads(body)) == ["error"]
    assert running.ask("GET", "/healthz") == (200, {"status": "ok"})


def test_heads_within_the_limit_are_taken(running: Aggregator) -> None:
    connection = running.connection()
    connection.request("GET", "/healthz", headers={f"X-{number}": "a" * 300 for number in range(90)})
    assert connection.getresponse().status == 200
    connection.close()


def test_pipelined_requests_count_from_zero(running: Aggregator) -> None:
    one = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Filler: " + b"a" * 8000 + b"\r\n\r\n"
    with socket.create_connection(("127.0.0.1", running.port), timeout=30) as connection:
        connection.sendall(one * 20)
        said = b""
        while said.count(b"HTTP/1.1 200 OK") < 20:
            part = connection.recv(65536)
            assert part, said[-200:]
            said += part


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a server whose connections have little time; its application reads whole bodies."""
    for name, seconds in {"HEAD_SECONDS": 0.3, "SILENT_SECONDS": 2.0, "CHECK_SECONDS": 0.05}.items():
        monkeypatch.setattr(bounded_heads, name, seconds)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    config = uvicorn.Config(application, http=bounded_heads.BoundedHeads, lifespan="off", log_config=None, ws="none")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\r\n",
        b"GET / HTTP/1.1\r\nX-Slow: ",
        b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n",
    ],
    ids=["nothing", "an empty line", "half a head", "half a body", "half of the next head"],
)
def test_who_is_slow_is_let_go(hurried: int, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", hurried), timeout=30) as connection:
        connection.sendall(sent)
        said = b""
        while part := connection.recv(65536):  # ends when the server closes
            said += part
    if b"PUT" not in sent:  # a response that was never begun is not sent in the middle of a request
        assert b"HTTP/1.1 408 Request Timeout" in said
        assert b'"error"' in said


def test_who_sends_a_body_slowly_but_steadily_is_served(hurried: int) -> None:
    with socket.create_connection(("127.0.0.1", hurried), timeout=30) as connection:
        connection.sendall(b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n")
        for _ in range(12):
            time.sleep(0.2)
            connection.sendall(b"a")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
