"""Sending a stored report: always the same bytes, and each status understood."""

from __future__ import annotations

import httpx
import pytest

from privact.device.ledger.entries import StoredReport
from privact.device.upload import deliver
from privact.errors import AggregatorError
from privact.protocol.report import Report


@pytest.fixture
def stored(server):
    round = server.announce()
    report = Report.bind(round, server.user, range(round.n_bins)).to_bytes()
    return StoredReport("clusters.example", server.user, round.to_bytes(), report, 0, 0)


def send(device, stored):
    with device.connection() as aggregator:
        return deliver(aggregator, stored)


def test_an_accepted_report_is_one_whether_it_is_new_or_was_there(device, server, stored):
    assert send(device, stored).outcome == "accepted"
    server.broken = [httpx.Response(200, json={"round": "spring", "status": "already accepted", "late": False})]
    assert send(device, stored).outcome == "accepted"
    assert server.headers[-1]["Content-Type"] == "application/octet-stream"


def test_a_lost_answer_is_asked_for_again_with_the_same_bytes(device, server, stored):
    real, failures = server.answer, [httpx.ReadError, 503, httpx.ReadTimeout]

    def answer(request):
        response = real(request)
        if failures:
            failure = failures.pop(0)
            if failure == 503:
                return httpx.Response(503)
            raise failure("the report was taken, the answer was lost")
        return response

    server.answer = answer
    delivery = send(device, stored)
    assert (delivery.outcome, delivery.attempts) == ("accepted", 4)
    assert server.sent == [stored.report] * 4


@pytest.mark.parametrize(
    ("status", "outcome", "reason"),
    [
        (409, "conflict", "the first counts"),
        (410, "closed", "stays charged"),
        (425, "early", "not opened by the aggregator's clock"),
        (400, "refused", "refused the report for round spring: too odd"),
        (404, "refused", "too odd"),
        (413, "refused", "too odd"),
        (302, "refused", "too odd"),
    ],
)
def test_what_is_not_accepted_is_told_in_one_line_and_not_sent_again(device, server, stored, status, outcome, reason):
    server.broken = [httpx.Response(status, json={"error": "too odd"})]
    delivery = send(device, stored)
    assert (delivery.outcome, delivery.attempts, delivery.late) == (outcome, 1, False)
    assert reason in delivery.reason
    assert "\n" not in delivery.reason


def test_an_unknown_token_is_an_error_of_the_account(device, server, stored):
    server.token = "another"
    with pytest.raises(AggregatorError, match="does not know this token"):
        send(device, stored)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff"])
def test_what_is_said_beside_the_status_does_not_matter(device, server, stored, content):
    server.broken = [httpx.Response(201, content=content)]
    assert send(device, stored).outcome == "accepted"
