"""Three servers on one PostgreSQL behind nginx: they take reports, release and serve, and any of them may die at any point."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import shutil
import signal
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from deployment.proxies import HOST, Proxy, run_proxy
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import reports, rounds
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.simulate.local_aggregator import LocalAggregator, run_aggregator

OPERATOR = "operator." + "m" * 43
USERS = [f"user{number}@{'left' if number < 60 else 'right'}.example" for number in range(120)]
PATIENCE = 180  # seconds


class Servers:
    """Servers on one database, each with a data folder of its own.

    url: of the database. folder: for their data folders.
    """

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.running: dict[int, LocalAggregator] = {}
        self._ending = contextlib.ExitStack()

    def start(self, number: int, port: int = 0) -> None:
        """Start a server in an empty data folder, with the signing key of the first."""
        home = self.folder / str(number)
        home.mkdir()
        key = self.folder / "0" / "signing-key"
        if number:
            shutil.copy2(key, home / "signing-key")
        settings = {"data_folder": home, "database": self.url, "operator_token": OPERATOR, "port": port}
        self.running[number] = self._ending.enter_context(run_aggregator(**settings))

    def port(self, number: int) -> int:
        return int(self.running[number].url.rpartition(":")[2])

    def kill(self, number: int) -> None:
        """Pull the plug of a server; nobody reads its disk again, but for the key that all of them have."""
        os.kill(self.running.pop(number).process, signal.SIGKILL)

    def ask(self, number: int, path: str, token: str | None = None) -> tuple[int, bytes]:
        """One request to one server."""
        return send(http.client.HTTPConnection("127.0.0.1", self.port(number), timeout=60), "GET", path, None, token)

    def close(self) -> None:
        self._ending.close()


def send(connection: http.client.HTTPConnection, method: str, path: str, body: Any, token: str | None) -> tuple[int, bytes]:
    headers = {"Host": HOST} | ({} if token is None else {"Authorization": f"Bearer {token}"})
    if body is not None and not isinstance(body, bytes):
        body, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
    with contextlib.closing(connection):
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, response.read()


@pytest.fixture
def servers(postgres_url: str, tmp_path: Path) -> Iterator[Servers]:
    made = Servers(postgres_url, tmp_path)
    try:
        for number in range(3):
            made.start(number)
        yield made
    finally:
        made.close()


@pytest.fixture
def balancer(servers: Servers, authority: Any, tmp_path: Path) -> Iterator[Proxy]:
    folder = tmp_path / "nginx"
    folder.mkdir()
    with run_proxy("nginx", servers.port(0), authority, folder, [servers.port(1), servers.port(2)], limited=False) as running:
        yield running


def ask_through(proxy: Proxy, method: str, path: str, body: Any = None, token: str | None = OPERATOR) -> tuple[int, bytes]:
    """One request through the balancer; again and again if no server could answer it."""
    context = ssl.create_default_context(cafile=str(proxy.root))
    context.check_hostname = False  # the address is a number
    end = time.monotonic() + PATIENCE
    while True:
        connection = http.client.HTTPSConnection("127.0.0.1", proxy.tls, timeout=60, context=context)
        status, content = send(connection, method, path, body, token)
        if status not in (429, 502, 503, 504) or time.monotonic() > end:
            return status, content
        time.sleep(0.1)


def wait_until(holds: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def test_a_round_survives_the_death_of_two_of_three_servers(servers: Servers, balancer: Proxy) -> None:
    store = Store(servers.url)
    status, enrolled = ask_through(balancer, "POST", "/v1/users", {"users": USERS})
    assert status == 201
    tokens = json.loads(enrolled)["tokens"]
    assert ask_through(balancer, "POST", "/v1/rounds", {"id": "spring", "epsilon": 4.0, "n_bins": 2})[0] == 201
    assert ask_through(balancer, "POST", "/v1/rounds/spring/open")[0] == 200
    round = Round.from_bytes(ask_through(balancer, "GET", "/v1/rounds/spring/parameters")[1])

    sent = {}
    for number, user in enumerate(USERS):
        if number == 40:
            servers.kill(1)  # the proxy finds out by itself
        sent[user] = Report.bind(round, user, (30, 0) if number < 60 else (0, 30)).to_bytes()
        assert ask_through(balancer, "PUT", "/v1/rounds/spring/report", sent[user], tokens[user])[0] in (200, 201)
    with store.read() as connection:
        assert sorted(connection.execute(select(reports.c.bytes)).scalars()) == sorted(sent.values())

    assert ask_through(balancer, "POST", "/v1/rounds/spring/close")[0] == 200

    def holder() -> str | None:
        with store.read() as connection:
            return connection.execute(select(rounds.c.lease_holder)).scalar_one()

    wait_until(lambda: holder() is not None)
    names = {(servers.folder / str(number) / "server-name").read_text(): number for number in servers.running}
    learns = names[holder()]
    servers.kill(learns)
    with store.write() as connection:  # what the database's clock does in half a minute
        connection.execute(update(rounds).values(lease_until=0))
    (left,) = servers.running
    wait_until(lambda: json.loads(servers.ask(left, "/v1/rounds/spring")[1])["state"] == "released")

    servers.start(3)  # a new one, with nothing but the key
    trees = [servers.ask(number, "/v1/rounds/spring/tree/download") for number in servers.running]
    assert [status for status, _ in trees] == [200, 200]
    assert trees[0][1] == trees[1][1]
    told = json.loads(servers.ask(3, "/v1/rounds/spring/tree")[1])
    assert told["sha256"] == hashlib.sha256(trees[0][1]).hexdigest()

    erased = USERS[5]
    assert ask_through(balancer, "DELETE", f"/v1/users/{erased}?erase=true")[0] == 204
    for number in servers.running:
        wait_until(lambda: erased.encode() not in servers.ask(number, "/v1/rounds/spring/tree/download")[1])  # noqa: B023

    lines = "user,item\n" + "".join(f"{user},{'waltz' if number < 60 else 'tango'}\n" for number, user in enumerate(USERS[1:], 1))
    assert ask_through(balancer, "PUT", "/v1/ratings", lines.encode())[0] == 200
    servers.kill(left)  # who released the tree and took the ratings
    listed = "/v1/rounds/spring/recommendations?k=1"
    wait_until(lambda: servers.ask(3, listed, tokens[USERS[0]])[0] == 200)
    assert json.loads(servers.ask(3, listed, tokens[USERS[0]])[1])["items"][0]["item"] == "waltz"
    store.close()
