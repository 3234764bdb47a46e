"""An aggregator that exists in memory and keeps the contract, or breaks it where a test says so; and a device that knows it."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import replace

import httpx
import pytest

from privact.client.device_client import DeviceClient
from privact.device.ledger.home import Home
from privact.protocol.addresses import aggregator_address
from privact.protocol.labels import LabelTable
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.protocol.round_log import RoundLog
from privact.protocol.signing import public_key_of
from privact.protocol.users import user_digest

NOW = 1_800_000_000
SECRET_KEY = bytes(range(32))
ROUND = Round(id="spring", epsilon=1.0, n_bins=7, n_users=1843, seed=bytes(16), opens=NOW - 100, closes=NOW + 1000)


class PretendAggregator:
    """One user's view of an aggregator.

    rounds: what is announced, by id; states: the state of those that are not open; late: ids that the user may join late.
    reports: what was accepted. sent: every body that came, in order. asked: every method and path.
    log: the signed log of rounds; None as long as keep_log was not called. results: what is told of released rounds, by name.
    broken: answers to give, one per request, before behaving again: a status, an exception, or a whole response.
    """

    def __init__(self, user: str = "ada@vinyl.example") -> None:
        self.user, self.now = user, NOW
        self.token = f"{user_digest(user).hex()}.{secrets.token_urlsafe(32)}"
        self.rounds: dict[str, Round] = {}
        self.states: dict[str, str] = {}
        self.tables: dict[str, LabelTable] = {}
        self.parameters: dict[str, bytes] = {}
        self.late: set[str] = set()
        self.reports: dict[str, bytes] = {}
        self.sent: list[bytes] = []
        self.asked: list[str] = []
        self.broken: list[object] = []
        self.headers: list[httpx.Headers] = []
        self.log: RoundLog | None = None
        self.results: dict[str, object] = {}
        self.wishes: list[bytes] = []

    def announce(self, round: Round = ROUND, **changes: object) -> Round:
        """Open a round; every name gets a seed of its own, as from an honest aggregator."""
        if "id" in changes and "seed" not in changes and round.bins == "random":
            changes["seed"] = hashlib.blake2b(str(changes["id"]).encode(), digest_size=16).digest()
        round = replace(round, **changes)
        self.rounds[round.id] = round
        if self.log is not None:
            self.log = self.log.append(round, SECRET_KEY)
        return round

    def keep_log(self) -> None:
        """Show a signed log from now on, with every round that was announced."""
        self.log = RoundLog(public_key_of(SECRET_KEY))
        for round in self.rounds.values():
            self.log = self.log.append(round, SECRET_KEY)

    def answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.asked.append(f"{request.method} {path}")
        self.headers.append(request.headers)
        if self.broken:
            failure = self.broken.pop(0)
            if isinstance(failure, type):
                raise failure("broken")
            return failure if isinstance(failure, httpx.Response) else httpx.Response(failure, json={"error": "broken"})
        if path == "/v1/log":
            return (
                httpx.Response(404, json={"error": "no log"})
                if self.log is None
                else httpx.Response(200, content=self.log.to_bytes())
            )
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return httpx.Response(401, json={"error": "no such token"})
        if path == "/v1/me":
            return httpx.Response(200, json={"user": self.user, "enrolled_at": 0, "rounds": list(map(self.notice, self.rounds))})
        if path == "/v1/me/discoverable":
            self.wishes.append(request.read())
            return httpx.Response(200, content=self.wishes[-1])
        _, _, _, name, *between, what = path.split("/")
        if what in self.results and between in ([], ["tree"]):
            return httpx.Response(200, json=self.results[what])
        if name not in self.rounds:
            return httpx.Response(404, json={"error": "no such round"})
        if what == "parameters":
            return httpx.Response(200, content=self.parameters.get(name, self.rounds[name].to_bytes()))
        if what == "labels":
            return httpx.Response(200, content=self.tables[name].to_bytes())
        return self.take(name, request.read())

    def take(self, name: str, body: bytes) -> httpx.Response:
        self.sent.append(body)
        Report.from_bytes(body).require(self.rounds[name])
        if not self.takes(name):
            return httpx.Response(425 if self.now < self.rounds[name].opens else 410, json={"error": "not now"})
        if self.reports.setdefault(name, body) != body:
            return httpx.Response(409, json={"error": "another answer was first"})
        return httpx.Response(201, json={"round": name, "status": "accepted", "late": name in self.late})

    def takes(self, name: str) -> bool:
        round = self.rounds[name]
        if name in self.late:
            return self.now < round.closes + round.joiner_seconds
        return round.opens <= self.now < round.closes and self.states.get(name, "open") == "open"

    def notice(self, name: str) -> dict[str, object]:
        return {
            "id": name,
            "state": "released" if name in self.late else self.states.get(name, "open"),
            "digest": self.rounds[name].digest().hex(),
            "may_answer": self.takes(name),
            "answered_at": NOW if name in self.reports else None,
            "late": name in self.late,
        }


class Device:
    """A joined device of the pretended aggregator's user, whose clock is the aggregator's and who never really sleeps."""

    def __init__(
        self, server: PretendAggregator, folder: object, address: str = "https://clusters.example", **chosen: object
    ) -> None:
        self.server, self.home, self.slept = server, Home(folder), []
        self.address = aggregator_address(address)
        self.account, _ = self.home.join(self.address, server.token, server.user, chosen=chosen)

    @property
    def ledger(self):
        return self.account.ledger

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def connection(self) -> DeviceClient:
        transport = httpx.MockTransport(self.server.answer)
        return DeviceClient(self.address, self.account.token, transport=transport, sleep=self.sleep)

    def answer(self, contacts: list[str], *, window: float = 0.0, now: float | None = None, **options: object):
        """All that `privact device answer` does; returns the proposals and the outcomes."""
        from privact.device.answer import draw_slots, make_reports, propose, send_reports

        def clock() -> float:
            return self.server.now if now is None else now

        with self.connection() as aggregator:
            proposals = propose(self.account, aggregator, clock=clock, **options)
            drawn = draw_slots(proposals, asked=clock(), window=window)
            made, refused = make_reports(self.account, drawn, contacts, clock=clock)
            sent = send_reports(self.account, aggregator, made, window=window, clock=clock, sleep=self.sleep)
            return proposals, refused + sent


@pytest.fixture
def server() -> PretendAggregator:
    """An aggregator that ada@vinyl.example is enrolled at."""
    return PretendAggregator()


@pytest.fixture
def device(server, tmp_path) -> Device:
    """A device that has joined."""
    return Device(server, tmp_path / "home")


@pytest.fixture
def make_device(server, tmp_path):
    """More devices of the same user, each in a folder of its own."""

    def make(name: str = "another", **chosen: object) -> Device:
        return Device(server, tmp_path / name, **chosen)

    return make
