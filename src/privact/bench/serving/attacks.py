"""What attacks without a token cost an aggregator: memory under endless heads, and what users notice of floods of queries.

Each attack runs in a process of its own beside a real server, and those on memory also beside one without limits. What
counts is the server's peak memory, and the median time of `GET /v1/me` of an honest user before and during the attack.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import socket
import sqlite3
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.synchronize import Event
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from privact.bench.benchmark import Speed, Table, Task
from privact.bench.serving.unlimited_server import UnlimitedServer, run_unlimited
from privact.protocol.addresses import aggregator_address
from privact.protocol.round import Round
from privact.simulate.http_devices import Operator
from privact.simulate.local_aggregator import LocalAggregator, run_aggregator
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["list_speeds", "make_tables", "measure"]

HEADS: Final = {
    "many header lines": (b"GET / HTTP/1.1\r\nHost: x\r\n", b"X-Filler: " + b"a" * 1000 + b"\r\n"),
    "one endless header line": (b"GET / HTTP/1.1\r\nX-Filler: ", b"a" * 1024),
    "an endless address": (b"GET /?q=", b"a" * 1024),
    "requests that wait for no response": (b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
}
"""How each attack on memory begins, and what it then sends on and on."""

_FLOODS: Final = {
    "searches that find nothing": "/v1/rounds/bench/tree/explore/search?text=nothing{number}",
    "searches for digits": "/v1/rounds/bench/tree/explore/search?text={number}",
    "cuts": "/v1/rounds/bench/tree/cut?k={number}",
    "wrong tokens": "/v1/me",
}
_USER: Final = "honest@user.example"
_MOST_REQUESTS_MB: Final = 2  # of requests on one connection: a server without limits takes many times as much memory
_SETTLE_SECONDS: Final = 1.0  # for a server that still works on what it was sent


def measure(task: Task) -> dict[str, Any]:
    """Memory after each attack with heads, and response times before and during each flood."""
    users, megabytes = task.options["users"], task.options["megabytes"]
    connections, seconds = task.options["connections"], task.options["seconds"]
    heads = []
    with run_aggregator(public_rate=0) as aggregator:
        for name, (beginning, filler) in HEADS.items():
            n_bytes = (megabytes if beginning else _MOST_REQUESTS_MB) * 10**6
            task.show(f"{n_bytes // 10**6} MB: {name}")
            sent, grown = _attack_memory(aggregator, beginning, filler, n_bytes)
            with run_unlimited() as unlimited:
                _, unlimited_grown = _attack_memory(unlimited, beginning, filler, n_bytes)
            heads.append({"attack": name, "sent_mb": sent, "grown_mb": grown, "unlimited_grown_mb": unlimited_grown})
        task.show(f"a released tree of {users:,} users")
        token = _release_tree(aggregator, users)
        _ask(aggregator.url, "/v1/rounds/bench/tree/explore/search?text=ready", None)  # the search is prepared
        floods = []
        for name, path in _FLOODS.items():
            task.show(f"{connections} connections: {name}")
            quiet = _time_user(aggregator, token, seconds)
            with _flood(aggregator.url, path, connections) as answered:
                busy = _time_user(aggregator, token, seconds)
                n_answered = answered.value
            floods.append({"attack": name, "quiet_ms": quiet, "busy_ms": busy, "responses_per_second": n_answered / seconds})
        search = _time_search(aggregator, seconds)
    return {"users": users, "connections": connections, "heads": heads, "floods": floods, "search_ms": search}


def make_tables(result: dict[str, Any]) -> list[Table]:
    """Memory, then times."""
    heads = [
        [each["attack"], f"{each['sent_mb']:.0f}", f"{each['unlimited_grown_mb']:.1f}", f"{each['grown_mb']:.1f}"]
        for each in result["heads"]
    ]
    floods = [
        [each["attack"], f"{each['quiet_ms']:.1f}", f"{each['busy_ms']:.1f}", f"{each['responses_per_second']:,.0f}"]
        for each in result["floods"]
    ]
    title = f"{result['connections']} connections, a tree of {result['users']:,} users: median of /v1/me of somebody else"
    return [
        Table(
            "Memory under endless heads, without a token",
            ["attack", "sent MB", "without limits, grew MB", "aggregator grew MB"],
            heads,
            range(1, 4),
        ),
        Table(title, ["attack", "quiet ms", "attacked ms", "responses/s"], floods, range(1, 4)),
        Table(f"One search by text, nobody else asking: {result['search_ms']:.1f} ms (median over HTTP)"),
    ]


def list_speeds(result: dict[str, Any]) -> list[Speed]:
    """What must not get worse: memory and times under attack."""
    return [
        *(Speed(f"{each['attack']}, memory", each["grown_mb"], "MB") for each in result["heads"]),
        *(Speed(f"{each['attack']}, /v1/me", each["busy_ms"], "ms") for each in result["floods"]),
        Speed("search by text", result["search_ms"], "ms"),
    ]


def _attack_memory(
    server: LocalAggregator | UnlimitedServer, beginning: bytes, filler: bytes, n_bytes: int
) -> tuple[float, float]:
    """How many MB were sent before the server closed the connection, and by how many MB its peak memory grew."""
    before = server.peak_memory()
    sent = _send_head(server.url, beginning, filler, n_bytes)
    time.sleep(_SETTLE_SECONDS)
    return sent / 1e6, (server.peak_memory() - before) / 1e6


def _send_head(url: str, beginning: bytes, filler: bytes, n_bytes: int) -> int:
    """Send an endless head until n_bytes are sent or the server closes; returns how many were sent."""
    parts = urlsplit(url)
    block, sent = filler * 64, 0
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as connection, suppress(OSError):
        connection.sendall(beginning)
        while sent < n_bytes:
            connection.sendall(block)
            sent += len(block)
    return sent


def _release_tree(aggregator: LocalAggregator, n_users: int) -> str:
    """Enrol one user, and put a released tree of many made-up users beside the database; the user's token."""
    operator = Operator(aggregator_address(aggregator.url), aggregator.operator_token)
    token = operator.enrol([_USER], lambda *_: None)[_USER]
    round = Round(id="bench", epsilon=1.0, n_bins=2, n_users=n_users, seed=bytes(32), opens=1, closes=2)
    numbers = np.random.default_rng(0).permutation(10 * n_users)[:n_users]
    names = [f"user{number:09d}@server{number % 1000}.example" for number in numbers.tolist()]
    level, n_made = np.arange(n_users), 0
    left: list[NDArray[np.int64]] = []
    right: list[NDArray[np.int64]] = []
    while len(level) > 1:  # a balanced tree
        half = len(level) // 2
        made = np.arange(half) + n_users + n_made
        n_made += half
        left.append(level[: 2 * half : 2])
        right.append(level[1 : 2 * half : 2])
        level = np.concatenate((made, level[2 * half :]))
    parameters = {"round": "bench", "round_digest": round.digest().hex(), "n_reports": n_users, "epsilon": 1.0}
    tree = HierarchicalClusterTree.from_children(np.concatenate(left), np.concatenate(right), names, parameters)
    (aggregator.folder / "releases").mkdir(exist_ok=True)
    tree.save(aggregator.folder / "releases" / "bench.hct")
    wish = json.dumps({"epsilon": 1.0, "n_bins": 2, "bins": "random", "joiner_seconds": 0})
    row = {
        "id": "bench", "state": "released", "settings": wish,
        "parameters": round.to_bytes(), "digest": round.digest(), "n_users": n_users, "last_serial": 1, "opens": 1, "closes": 2,
        "joiners_until": 2, "created": 1, "opened": 1, "closed": 2, "released": 3, "search_seed": 0, "profile": "counts",
    }  # fmt: skip
    with sqlite3.connect(aggregator.folder / "privact.sqlite3", timeout=60) as database:
        columns = ", ".join(row)
        database.execute(f"INSERT INTO rounds ({columns}) VALUES ({', '.join('?' * len(row))})", list(row.values()))
        database.execute("INSERT INTO releases VALUES (?, ?, ?, ?)", ("bench", bytes(32), n_users, 3))
    return token


def _ask(url: str, path: str, token: str | None) -> int:
    """One request on a connection of its own; its status."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
    try:
        connection.request("GET", path, headers={} if token is None else {"Authorization": f"Bearer {token}"})
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


def _time_user(aggregator: LocalAggregator, token: str, seconds: float) -> float:
    """Median milliseconds of /v1/me, asked again and again for some seconds."""
    return _time(aggregator.url, lambda number: "/v1/me", token, seconds)


def _time_search(aggregator: LocalAggregator, seconds: float) -> float:
    """Median milliseconds of searches that are all different."""
    return _time(aggregator.url, lambda number: f"/v1/rounds/bench/tree/explore/search?text=r{number}x", None, seconds)


def _time(url: str, path: Any, token: str | None, seconds: float) -> float:
    taken: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(taken) < 3:
        begin = time.perf_counter()
        _ask(url, path(len(taken)), token)
        taken.append(time.perf_counter() - begin)
    return 1000 * statistics.median(taken)


@contextmanager
def _flood(url: str, path: str, connections: int) -> Iterator[Any]:
    """Ask from many connections at once, in another process, for as long as the block runs; how often there was a response."""
    context = multiprocessing.get_context("spawn")
    stop, answered = context.Event(), context.Value("q", 0)
    process = context.Process(target=_ask_forever, args=(url, path, connections, stop, answered), daemon=True)
    process.start()
    try:
        while not answered.value and process.is_alive():
            time.sleep(0.05)
        with answered.get_lock():
            answered.value = 0
        yield answered
    finally:
        stop.set()
        process.join(30)
        process.kill()


def _ask_forever(url: str, path: str, connections: int, stop: Event, answered: Any) -> None:
    """What the attacking process does."""

    def ask(first: int) -> None:
        number = first
        while not stop.is_set():
            with suppress(OSError, http.client.HTTPException):
                wrong = f"{number:032x}.{'x' * 43}" if path == "/v1/me" else None
                _ask(url, path.format(number=1 + number % 1000), wrong)
                with answered.get_lock():
                    answered.value += 1
            number += connections

    threads = [threading.Thread(target=ask, args=(first,), daemon=True) for first in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
