"""The devices of a made-up network against a running aggregator over HTTP: real noise, and the requests of a real device.

Devices here live in memory: there is no ledger, so nothing but the aggregator keeps a user from reporting twice. Users are made
up for each run and never enrolled twice.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import httpx

from privact.client.connection import Response
from privact.client.device_client import DeviceClient
from privact.client.operator_client import OperatorClient
from privact.device.noise import make_report
from privact.errors import AggregatorError, InputError, PrivaCTError
from privact.network.graph import ContactGraph
from privact.progress import Progress, ignore_progress
from privact.protocol.addresses import Address
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round
from privact.simulate.federated_network import FederatedNetwork, make_federated_network

__all__ = ["Operator", "Sent", "make_network", "make_reports", "send_reports"]

AT_ONCE: Final = 10_000
"""How many users an aggregator enrols in one call."""

DEVICES_AT_ONCE: Final = 16
"""How many devices send at a time."""


PREPARING: Final = 20
"""How often something that is being prepared is asked for again: a loaded machine takes longer than one request waits."""


class Operator(OperatorClient):
    """What the operator of a simulation asks of an aggregator."""

    def enrol(self, users: Sequence[str], progress: Progress) -> dict[str, str]:
        """The token of each user, all of them new."""
        tokens: dict[str, str] = {}
        for begin in range(0, len(users), AT_ONCE):
            progress("enrolling", begin, len(users))
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

    def ask_when_ready(self, path: str) -> Response:
        """The response to a GET, asked again while the aggregator says that it is being prepared."""
        for _ in range(PREPARING):
            try:
                return self.ask("GET", path)
            except AggregatorError as error:
                if not str(error).endswith("ask again soon"):
                    raise
            time.sleep(1.0)
        return self.ask("GET", path)

    def parameters(self, id: str) -> Round:
        """The parameters of an opened round."""
        return Round.from_bytes(self.ask("GET", f"/v1/rounds/{id}/parameters").content)

    def labels(self, round: Round) -> LabelTable | None:
        """The label table of a round, if it has one."""
        if round.bins != "labels":
            return None
        return LabelTable.from_bytes(self.ask("GET", f"/v1/rounds/{round.id}/labels").content, round.labels_digest)

    def released(self, id: str, progress: Progress) -> dict[str, Any]:
        """Wait until a closed round is released; an error if it fails."""
        while True:
            found = self.round(id)
            if found["state"] == "failed":
                raise PrivaCTError(f"round {id} failed: {found['failure']}")
            if found["state"] == "released":
                return found
            stage = found["progress"] or {"stage": "learning", "done": 0, "total": 0}
            progress(f"learning: {stage['stage']}", stage["done"], stage["total"])
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
    graph: ContactGraph,
    users: Sequence[str],
    round: Round,
    labels: LabelTable | None = None,
    progress: Progress = ignore_progress,
) -> list[bytes]:
    """The report of every user, counted from the user's contact ids and randomized by the code of a device.

    graph: who knows whom, by row.
    users: the id of each row.
    """
    reports = []
    for row, user in enumerate(users):
        contacts = [users[other] for other in graph.indices[graph.indptr[row] : graph.indptr[row + 1]].tolist()]
        reports.append(make_report(contacts, round, user, labels).to_bytes())
        if row % 256 == 0:
            progress("devices count and randomize", row, len(users))
    return reports


@dataclass(frozen=True)
class Sent:
    """What became of many reports.

    accepted: how many the aggregator took. seconds: from the first to the last.
    refusal: why the first of the others was not taken.
    """

    accepted: int
    seconds: float
    refusal: str


def send_reports(
    address: Address, round_id: str, tokens: Sequence[str], reports: Sequence[bytes], progress: Progress = ignore_progress
) -> Sent:
    """Send each report as its user's device does, a few at a time over shared connections.

    address: the aggregator. tokens, reports: one for each user.
    """
    begin, responses = time.perf_counter(), []
    limits = httpx.Limits(max_connections=DEVICES_AT_ONCE, max_keepalive_connections=DEVICES_AT_ONCE)
    with httpx.HTTPTransport(limits=limits) as transport, ThreadPoolExecutor(DEVICES_AT_ONCE) as devices:

        def send(token: str, report: bytes) -> Response:
            return DeviceClient(address, token, transport=transport).send_report(round_id, report)

        for response in devices.map(send, tokens, reports):
            responses.append(response)
            if len(responses) % 64 == 0:
                progress("devices answer", len(responses), len(reports))
    refused = [response for response in responses if not response.is_success]
    line = refused[0].error_line() if refused else ""
    return Sent(len(responses) - len(refused), time.perf_counter() - begin, line)
