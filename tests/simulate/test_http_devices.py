"""Devices of a made-up network: networks, reports, and how they are sent."""

from __future__ import annotations

import httpx
import numpy as np
import pytest

from privact.protocol.addresses import aggregator_address
from privact.protocol.bins import assign_round_bins
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.simulate.http_devices import Operator, make_network, make_reports, send_reports
from privact.simulate.reports import degree_vectors

TOKEN = "operator." + "t" * 43


def test_reports_hold_the_counts_of_each_user_s_contacts():
    graph = make_network(60, 0).graph
    users = [user.upper() for user in graph.users]
    round = Round(id="r", epsilon=2000.0, n_bins=5, n_users=60, seed=bytes(16))  # noise other than 0 once in e^1000
    reports = [Report.from_bytes(data) for data in make_reports(graph, users, round)]
    assert [report.vector for report in reports] == [
        tuple(vector) for vector in degree_vectors(graph, assign_round_bins(graph.users, round), 5).tolist()
    ]


@pytest.mark.parametrize("n_users", [20, 130, 499, 500, 2000])
def test_networks_of_every_size_are_made_and_the_seed_decides(n_users):
    one, same, other = (make_network(n_users, seed).graph for seed in (3, 3, 4))
    assert one.n_users == n_users
    assert one == same
    assert not np.array_equal(one.edges(), other.edges())


def test_a_busy_aggregator_is_asked_again():
    answers = [httpx.Response(429), httpx.Response(429), httpx.Response(200, json={"id": "r"})]
    slept = []
    transport = httpx.MockTransport(lambda request: answers.pop(0))
    operator = Operator(aggregator_address("http://127.0.0.1:1"), TOKEN, transport=transport, sleep=slept.append)
    assert operator.round("r") == {"id": "r"}
    assert len(slept) == 2


def test_every_report_is_sent_with_its_own_token_and_refusals_are_counted(monkeypatch):
    seen = {}

    def respond(request):
        token = request.headers["Authorization"].removeprefix("Bearer ")
        seen[token] = (request.method, request.url.path, request.content)
        return httpx.Response(409, json={"error": "too late"}) if request.content == b"3" else httpx.Response(201)

    monkeypatch.setattr(httpx, "HTTPTransport", lambda **settings: httpx.MockTransport(respond))
    tokens = [f"{number:064d}" for number in range(5)]
    sent = send_reports(aggregator_address("http://127.0.0.1:1"), "spring", tokens, [str(n).encode() for n in range(5)])
    assert (sent.accepted, sent.refusal) == (4, "too late")
    assert seen == {token: ("PUT", "/v1/rounds/spring/report", str(n).encode()) for n, token in enumerate(tokens)}
