"""The load generator's client: every request gets its own answer, the same bytes again where the connection fails."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

import pytest

from privact.bench.serving import load_generator
from privact.bench.serving.load_generator import Endpoint, Load, send_all
from privact.errors import InputError


def ok(status=201, body=b"{}", head=b""):
    return b"HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n%s" % (status, head, len(body), body)


class Listener:
    """A server whose answers a test decides.

    answer: called with a request's body; gives bytes to send, or None to cut the connection.
    """

    def __init__(self, answer):
        self.answer, self.bodies, self.connections, self.busy, self.busiest = answer, [], 0, 0, 0

    async def serve(self, reader, writer):
        self.connections += 1
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                body = await reader.readexactly(3)
                self.busy += 1
                self.busiest = max(self.busiest, self.busy)
                self.bodies.append(body.decode())
                await asyncio.sleep(0.001)
                self.busy -= 1
                data = self.answer(body.decode())
                if data is None:
                    break
                for part in data if isinstance(data, list) else [data]:
                    writer.write(part)
                    await writer.drain()
                    await asyncio.sleep(0)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def requests(count):
    return [f"PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n{number:03d}".encode() for number in range(count)]


def play(answer, count=60, **options):
    """Send requests to a listener; what became of them, and the listener."""
    listener = Listener(answer)

    async def run():
        server = await asyncio.start_server(listener.serve, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await send_all(Endpoint("127.0.0.1", port), requests(count), **options)

    return asyncio.run(run()), listener


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr(load_generator.random, "uniform", lambda low, high: 0.001)


def test_every_request_is_answered_once_on_connections_that_are_kept():
    load, listener = play(lambda body: ok(), concurrency=7)
    assert load.statuses == {201: 60}
    assert sorted(listener.bodies) == [f"{number:03d}" for number in range(60)]
    assert (listener.connections, load.retries) == (7, 0)
    assert listener.busiest <= 7
    assert len(load.milliseconds) == 60
    assert 0 < load.percentile(0.5) <= load.percentile(0.99) <= 1000 * load.seconds


def test_no_request_is_a_load_too():
    load, _ = play(lambda body: ok(), 0)
    assert load.statuses == {}


def test_each_answer_belongs_to_its_request_however_it_is_cut():
    def answer(body):
        data = ok(200 + int(body) % 3, b"x" * int(body))
        return [data[:5], data[5:30], data[30:]]

    load, _ = play(answer, concurrency=3)
    assert load.statuses == {200: 20, 201: 20, 202: 20}


def test_what_is_cut_off_or_busy_is_sent_again_as_it_was():
    seen = Counter()

    def answer(body):
        seen[body] += 1
        failures = [None, ok(503), ok(429, head=b"Retry-After: 0\r\n"), b"junk junk junk\r\n\r\n"]
        return failures[int(body) % 4] if seen[body] == 1 else ok()

    load, listener = play(answer, 40, concurrency=5)
    assert load.statuses == {201: 40}
    assert load.retries == 40
    assert Counter(listener.bodies) == {f"{number:03d}": 2 for number in range(40)}


def test_a_server_that_closes_after_each_answer_is_connected_to_again():
    load, listener = play(lambda body: ok(head=b"Connection: close\r\n"), 10, concurrency=2)
    assert (load.statuses, load.retries) == ({201: 10}, 0)
    assert listener.connections == 10


def test_refusals_are_counted_and_not_repeated():
    load, listener = play(lambda body: ok(409 if body < "005" else 201), 20)
    assert load.statuses == {201: 15, 409: 5}
    assert len(listener.bodies) == 20


def test_a_request_without_an_answer_fails_after_so_many_attempts(monkeypatch):
    monkeypatch.setattr(load_generator, "ATTEMPTS", 3)
    load, listener = play(lambda body: None, 4, concurrency=2)
    assert load.statuses == {0: 4}
    assert len(listener.bodies) == 12
    assert "connection was closed" in load.failure


def test_nobody_listening_is_a_failure_with_a_reason(monkeypatch):
    monkeypatch.setattr(load_generator, "ATTEMPTS", 2)
    load = asyncio.run(send_all(Endpoint("127.0.0.1", 1), requests(3)))
    assert load.statuses == {0: 3}
    assert load.failure


def test_an_answer_without_an_end_is_given_up(monkeypatch):
    monkeypatch.setattr(load_generator, "ATTEMPTS", 1)
    load, _ = play(lambda body: b"x" * 70_000, 1)
    assert load.statuses == {0: 1}


def test_a_rate_spreads_the_requests():
    begin = time.perf_counter()
    load, _ = play(lambda body: ok(), 20, rate=100.0, concurrency=10)
    assert time.perf_counter() - begin >= 0.19  # the twentieth is sent 19 hundredths after the first
    assert load.statuses == {201: 20}


@pytest.mark.parametrize("options", [{"concurrency": 0}, {"rate": 0.0}, {"rate": -1.0}])
def test_a_load_that_is_none_is_refused(options):
    with pytest.raises(InputError, match="above 0"):
        asyncio.run(send_all(Endpoint("127.0.0.1", 1), requests(1), **options))


def test_percentiles_are_those_of_the_times():
    load = Load(milliseconds=[float(number) for number in range(100, 0, -1)])
    assert (load.percentile(0.5), load.percentile(0.99), load.percentile(1.0)) == (51.0, 100.0, 100.0)
    assert load.percentile(0.0) == 1.0
    assert Load().percentile(0.5) != Load().percentile(0.5)
