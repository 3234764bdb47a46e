"""A whole round as load: the devices of a made-up network against a running aggregator, as fast as it answers.

Devices live in memory: there is no ledger, so nothing but the aggregator keeps a user from reporting twice. Users are made up for
each run and never enrolled twice.
"""

from __future__ import annotations

import asyncio
import secrets
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from privact.bench.serving.load_generator import Endpoint, Load, send_all
from privact.errors import InputError
from privact.progress import Progress, ignore_progress
from privact.protocol.addresses import Address, aggregator_address
from privact.protocol.round import Round
from privact.simulate.http_devices import Operator, make_network, make_reports

__all__ = ["Simulation", "send_load", "simulate_round"]


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


def send_load(
    address: Address,
    round_id: str,
    tokens: Sequence[str],
    reports: Sequence[bytes],
    *,
    concurrency: int = 32,
    rate: float | None = None,
    progress: Progress = ignore_progress,
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
            on_progress=lambda done, load: progress("devices answer", done, len(reports)),
        )
    )


def simulate_round(
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
    progress: Progress = ignore_progress,
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
    progress("making a network", 0, 0)
    network = make_network(n_users, seed)
    run = secrets.token_hex(4)
    users = [user.replace("@", f".{run}@") for user in network.graph.names]
    tokens = operator.enrol(users, progress)
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
    reports = make_reports(network.graph, users, round, operator.labels(round), progress)
    making = time.perf_counter() - begin
    each = [tokens[user] for user in users]
    load = send_load(address, round_id, each, reports, concurrency=concurrency, rate=rate, progress=progress)
    played = Simulation(round, n_users, state == "released", making, load)
    if not close or state == "released":
        return played
    begin = time.perf_counter()
    operator.ask("POST", f"/v1/rounds/{round_id}/close")
    released = operator.released(round_id, progress)
    return Simulation(round, n_users, False, making, load, released, time.perf_counter() - begin)
