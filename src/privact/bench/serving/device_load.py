"""A whole round as load: the devices of a made-up network against a running aggregator, as fast as it answers.

Devices live in memory: there is no ledger, so nothing but the aggregator keeps a user from reporting twice. Users are made up for
each run and never enrolled twice.
"""

from __future__ import annotations

import asyncio
import secrets
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
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
    address: Address | Sequence[Address],
    round_id: str,
    tokens: Sequence[str],
    reports: Sequence[bytes],
    *,
    concurrency: int = 32,
    rate: float | None = None,
    progress: Progress = ignore_progress,
) -> Load:
    """Send each report with its user's token, with a bounded load.

    address: the aggregator, or several servers of one that each get a share. tokens, reports: one for each user.
    concurrency: reports under way at a time; rate: most reports a second. With several servers both are shared among them.
    """
    servers = [address] if isinstance(address, Address) else list(address)
    done = [0] * len(servers)

    def tell(server: int, n_done: int) -> None:
        done[server] = n_done
        progress("devices answer", sum(done), len(reports))

    async def send() -> list[Load]:
        shares = [(tokens[part :: len(servers)], reports[part :: len(servers)]) for part in range(len(servers))]
        sending = (
            send_all(
                _find_endpoint(server),
                _make_requests(server, round_id, *share),
                concurrency=max(1, concurrency // len(servers)),
                rate=None if rate is None else rate / len(servers),
                on_progress=_told(tell, part),
            )
            for part, (server, share) in enumerate(zip(servers, shares, strict=True))
        )
        return await asyncio.gather(*sending)

    return _add_up(asyncio.run(send()))


def _told(tell: Callable[[int, int], None], part: int) -> Callable[[int, Load], None]:
    return lambda n_done, load: tell(part, n_done)


def _make_requests(address: Address, round_id: str, tokens: Sequence[str], reports: Sequence[bytes]) -> Iterator[bytes]:
    """Whole requests, head and body, that send reports."""
    parts = urlsplit(address.url)
    head = (
        f"PUT {parts.path}/v1/rounds/{round_id}/report HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        "Content-Type: application/octet-stream\r\n"
    )
    for token, body in zip(tokens, reports, strict=True):
        yield f"{head}Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def _find_endpoint(address: Address) -> Endpoint:
    parts = urlsplit(address.url)
    secure = parts.scheme == "https"
    return Endpoint(str(parts.hostname), parts.port or (443 if secure else 80), ssl.create_default_context() if secure else None)


def _add_up(loads: Sequence[Load]) -> Load:
    """Loads that were sent at the same time as one."""
    total = Load(seconds=max(load.seconds for load in loads))
    for load in loads:
        total.statuses += load.statuses
        total.retries += load.retries
        total.milliseconds += load.milliseconds
        total.failure = total.failure or load.failure
    return total


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
