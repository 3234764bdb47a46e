"""Play the devices of a made-up network against a running aggregator over HTTP: real noise, real requests, a bounded load.

Devices here live in memory: there is no ledger, so nothing keeps a user from answering twice but the aggregator. Users are made
up for each run and never enrolled twice.
"""

from __future__ import annotations

import asyncio
import secrets
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from privact.client.operator_client import OperatorClient
from privact.device.noise import report
from privact.errors import InputError, PrivaCTError
from privact.network.graph import ContactGraph
from privact.progress import Progress
from privact.protocol.addresses import Address, aggregator_address
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round
from privact.simulate.federated_network import FederatedNetwork, make_federated_network
from privact.simulate.keep_alive import Endpoint, Load, send_all

__all__ = ["Operator", "Simulation", "make_network", "make_reports", "send_reports", "simulate"]

AT_ONCE: Final = 10_000
"""How many users an aggregator enrols in one call."""


@dataclass(frozen=True)
class Simulation:
    """What happened.

    round: the round that was answered.
    users: how many devices were played; late: whether they joined a released round.
    making: seconds that it took to count contacts and draw noise for all of them.
    load: what became of the reports.
    released: the round as the aggregator describes it after learning, or None if nobody waited for it.
    learning: seconds from closing to release.
    """

    round: Round
    users: int
    late: bool
    making: float
    load: Load
    released: dict[str, Any] | None = None
    learning: float = 0.0

    @property
    def accepted(self) -> int:
        """How many reports the aggregator took, or had already."""
        return self.load.statuses[201] + self.load.statuses[200]


class Operator(OperatorClient):
    """What the operator of a simulation asks of an aggregator."""

    def enrol(self, users: Sequence[str], tell: Progress) -> dict[str, str]:
        """The token of each user, all of them new."""
        tokens: dict[str, str] = {}
        for begin in range(0, len(users), AT_ONCE):
            tell("enrolling", begin, len(users))
            some = users[begin : begin + AT_ONCE]
            said = self.ask("POST", "/v1/users", {"users": some}).json()
            if said["existing"]:
                raise PrivaCTError(f"{len(said['existing'])} of the users are enrolled already: give another --seed")
            tokens.update(said["tokens"])
        return tokens

    def round(self, id: str) -> dict[str, Any]:
        """A round as the aggregator describes it."""
        found: dict[str, Any] = self.ask("GET", f"/v1/rounds/{id}").json()
        return found

    def parameters(self, id: str) -> Round:
        """The parameters of an opened round."""
        return Round.from_bytes(self.ask("GET", f"/v1/rounds/{id}/parameters").content)

    def labels(self, round: Round) -> LabelTable | None:
        """The label table of a round, if it has one."""
        if round.bins != "labels":
            return None
        return LabelTable.from_bytes(self.ask("GET", f"/v1/rounds/{round.id}/labels").content, round.labels_digest)

    def released(self, id: str, tell: Progress) -> dict[str, Any]:
        """Wait until a closed round is released; an error if it fails."""
        while True:
            found = self.round(id)
            if found["state"] == "failed":
                raise PrivaCTError(f"round {id} failed: {found['failure']}")
            if found["state"] == "released":
                return found
            progress = found["progress"] or {"stage": "learning", "done": 0, "total": 0}
            tell(f"learning: {progress['stage']}", progress["done"], progress["total"])
            time.sleep(0.2)


def make_network(n_users: int, seed: int) -> FederatedNetwork:
    """A federated network for a simulation; the same seed gives the same contacts, under names of their own for each run."""
    if n_users < 20:
        raise InputError(f"{n_users} users are too few for a network: give at least 20")
    branching = (4, 4, 4) if n_users >= 500 else (2, 2)
    return make_federated_network(
        n_users, branching, mean_degree=min(14.0, n_users / 20), n_artists=64, ratings_per_user=0.0, random_state=seed
    )


def make_reports(
    graph: ContactGraph, users: Sequence[str], round: Round, labels: LabelTable | None = None, tell: Progress = lambda *_: None
) -> list[bytes]:
    """The report of every user, counted from the user's contact ids and randomized by the code of a device.

    graph: who knows whom, by row.
    users: the id of each row.
    """
    reports = []
    for row, user in enumerate(users):
        contacts = [users[other] for other in graph.indices[graph.indptr[row] : graph.indptr[row + 1]].tolist()]
        reports.append(report(contacts, round, user, labels).to_bytes())
        if row % 256 == 0:
            tell("devices count and randomize", row, len(users))
    return reports


def send_reports(
    address: Address,
    round_id: str,
    tokens: Sequence[str],
    reports: Sequence[bytes],
    *,
    concurrency: int = 32,
    rate: float | None = None,
    tell: Progress = lambda *_: None,
) -> Load:
    """Send each report with its user's token, with a bounded load.

    address: the aggregator. tokens, reports: one for each user.
    concurrency: reports under way at a time; rate: most reports a second.
    """
    parts = urlsplit(address.url)
    head = (
        f"PUT {parts.path}/v1/rounds/{round_id}/report HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        "Content-Type: application/octet-stream\r\n"
    )
    requests = (
        f"{head}Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        for token, body in zip(tokens, reports, strict=True)
    )
    secure = parts.scheme == "https"
    endpoint = Endpoint(
        str(parts.hostname), parts.port or (443 if secure else 80), ssl.create_default_context() if secure else None
    )
    return asyncio.run(
        send_all(
            endpoint,
            requests,
            concurrency=concurrency,
            rate=rate,
            tell=lambda done, load: tell("devices answer", done, len(reports)),
        )
    )


def simulate(
    url: str,
    n_users: int,
    operator_token: str,
    *,
    epsilon: float = 1.0,
    n_bins: int | None = None,
    by_server: bool = False,
    round_id: str | None = None,
    concurrency: int = 32,
    rate: float | None = None,
    close: bool = False,
    seed: int = 0,
    allow_remote: bool = False,
    tell: Progress = lambda *_: None,
) -> Simulation:
    """Enrol the users of a made-up network, open a round, answer it as each of them, and if asked to, close it and wait.

    url: the aggregator. operator_token: to enrol users and run the round.
    n_users: how many devices. seed: decides their contacts; names and noise are new each time.
    epsilon, n_bins, by_server: of the new round; by_server makes the bins home servers instead of random.
    round_id: a draft to open and answer, or a released round to join late, instead of a new one.
    concurrency, rate: bounds of the load. close: close the round and wait for its release.
    allow_remote: play against another machine.
    """
    address = aggregator_address(url, allow_plain_http=allow_remote)
    if not (address.loopback or allow_remote):
        raise InputError(f"{url} is another machine, to be filled with made-up users: use loopback, or --allow-remote")
    operator = Operator(address, operator_token)
    state = None if round_id is None else operator.round(round_id)["state"]
    if state not in (None, "draft", "released"):
        raise InputError(
            f"round {round_id} is {state}, which users enrolled now cannot answer: give a draft, or leave --round out"
        )
    tell("making a network", 0, 0)
    network = make_network(n_users, seed)
    run = secrets.token_hex(4)
    users = [user.replace("@", f".{run}@") for user in network.graph.users]
    tokens = operator.enrol(users, tell)
    if state is None:
        round_id = f"simulation-{run}"
        wish = {"id": round_id, "epsilon": epsilon, "n_bins": n_bins, "bins": "labels" if by_server else "random"}
        operator.ask("POST", "/v1/rounds", wish)
        if by_server:
            lines = [f"{user},{server}\n" for user, server in zip(users, network.servers.tolist(), strict=True)]
            operator.ask("PUT", f"/v1/rounds/{round_id}/labels", content="".join(lines).encode())
    assert round_id is not None
    if state != "released":
        operator.ask("POST", f"/v1/rounds/{round_id}/open")
    round = operator.parameters(round_id)
    begin = time.perf_counter()
    reports = make_reports(network.graph, users, round, operator.labels(round), tell)
    making = time.perf_counter() - begin
    each = [tokens[user] for user in users]
    load = send_reports(address, round_id, each, reports, concurrency=concurrency, rate=rate, tell=tell)
    played = Simulation(round, n_users, state == "released", making, load)
    if not close or state == "released":
        return played
    begin = time.perf_counter()
    operator.ask("POST", f"/v1/rounds/{round_id}/close")
    released = operator.released(round_id, tell)
    return Simulation(round, n_users, False, making, load, released, time.perf_counter() - begin)
