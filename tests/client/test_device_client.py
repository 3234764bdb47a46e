"""Speaking to an aggregator: repeated with the same bytes where it fails, refused where it answers what it should not."""

from __future__ import annotations

import httpx
import pytest

from privact.client.connection import ATTEMPTS
from privact.client.device_client import DeviceClient
from privact.errors import AggregatorError, ProtocolError
from privact.protocol.addresses import aggregator_address
from privact.protocol.round import Round


def notice(device, name="spring"):
    with device.connection() as aggregator:
        return next(each for each in aggregator.me().rounds if each.id == name)


def test_me_names_the_user_and_the_rounds(device, server):
    round = server.announce()
    server.announce(id="summer")
    server.states["summer"] = "closed"
    server.reports["summer"] = b"x"
    with device.connection() as aggregator:
        me = aggregator.me()
    assert me.user == server.user
    assert [(each.id, each.may_answer, each.answered) for each in me.rounds] == [("spring", True, False), ("summer", False, True)]
    assert me.rounds[0].digest == round.digest()


def test_a_token_of_another_user_is_refused(device, server):
    server.user = "eve@vinyl.example"
    with (
        device.connection() as aggregator,
        pytest.raises(AggregatorError, match=r"for that of 'eve@vinyl.example'"),
    ):
        aggregator.me()


def test_an_unknown_token_is_told_without_showing_it(device, server):
    token, server.token = server.token, "another"
    with device.connection() as aggregator, pytest.raises(AggregatorError, match="does not know this token") as refused:
        aggregator.me()
    assert token.split(".")[1] not in str(refused.value)


@pytest.mark.parametrize("token", ["", "short", "x" * 600, "a" * 40 + "\n", "a" * 40 + "é", "a" * 20 + " " + "b" * 20])
def test_what_is_no_token_is_never_sent(token):
    with pytest.raises(AggregatorError, match="not a token"):
        DeviceClient(aggregator_address("https://clusters.example"), token)


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"user": 5, "rounds": []},
        {"user": "ada@vinyl.example", "rounds": 3},
        {"user": "ada@vinyl.example", "rounds": [{}]},
        {"user": "ada@vinyl.example", "rounds": [{"id": "../x", "state": "open", "digest": "00" * 32, "may_answer": True}]},
        {"user": "ada@vinyl.example", "rounds": [{"id": "x", "state": "open", "digest": "00", "may_answer": True}]},
        {"user": "ada@vinyl.example", "rounds": [{"id": "x", "state": "open", "digest": None, "may_answer": True}]},
    ],
    ids=range(8),
)
def test_an_odd_answer_is_refused_in_one_line(device, server, document):
    server.broken = [httpx.Response(200, json=document)]
    with device.connection() as aggregator, pytest.raises(AggregatorError, match="not what an aggregator answers") as refused:
        aggregator.me()
    assert "\n" not in str(refused.value)


def test_text_instead_of_json_a_page_too_long_and_a_packed_one_are_refused(device, server):
    for response, reason in [
        (httpx.Response(200, text="<html>"), "not what an aggregator answers"),
        (httpx.Response(200, content=b"x" * (2**24 + 1)), "longer than"),
        (httpx.Response(200, content=b"", headers={"Content-Encoding": "gzip"}), "is packed"),
        (httpx.Response(307, headers={"Location": "https://elsewhere.example/v1/me"}), "status 307"),
        (httpx.Response(418, json={"error": "a\x1b[31mb\nc"}), r"a \[31mb c"),
    ]:
        server.broken = [response]
        with device.connection() as aggregator, pytest.raises(AggregatorError, match=reason) as refused:
            aggregator.me()
        assert "\n" not in str(refused.value)
        assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize("failure", [500, 502, 503, 504, 429, httpx.ConnectError, httpx.ReadTimeout, httpx.RemoteProtocolError])
def test_what_fails_for_a_moment_is_asked_again(device, server, failure):
    server.broken = [failure, failure]
    with device.connection() as aggregator:
        assert aggregator.me().user == server.user
    assert len(server.asked) == 3
    assert [0.25 <= first <= 0.5 and 0.5 <= second <= 1.0 for first, second in [device.slept]] == [True]


def test_attempts_are_bounded(device, server):
    server.broken = [503] * 99
    with device.connection() as aggregator, pytest.raises(AggregatorError, match=r"cannot be reached \(status 503, 6 attempts\)"):
        aggregator.me()
    assert len(server.asked) == ATTEMPTS
    assert len(device.slept) == ATTEMPTS - 1


def test_the_aggregator_may_ask_for_patience_but_not_for_ever(device, server):
    server.broken = [httpx.Response(429, headers={"Retry-After": seconds}) for seconds in ("7", "99999", "soon", "-1")]
    with device.connection() as aggregator:
        aggregator.me()
    assert device.slept[:2] == [7.0, 30.0]
    assert device.slept[2] <= 2.0
    assert device.slept[3] <= 4.0


def test_parameters_are_those_announced(device, server):
    round = server.announce()
    found = notice(device)
    with device.connection() as aggregator:
        assert aggregator.round(found) == round
        other = Round(**{**vars(round), "n_bins": 8}).to_bytes()
        for wrong in (b"", b"PCRD", round.to_bytes()[:-1], round.to_bytes() + b"\0", other):
            server.parameters["spring"] = wrong
            with pytest.raises(ProtocolError, match="announced digest"):
                aggregator.round(found)
        server.parameters["spring"] = bytes(5000)
        with pytest.raises(AggregatorError, match="longer than 4096 bytes"):
            aggregator.round(found)


def test_an_address_with_a_path_is_asked_below_it(server):
    seen = []
    transport = httpx.MockTransport(lambda request: seen.append(str(request.url)) or httpx.Response(404, json={"error": "no"}))
    with (
        DeviceClient(aggregator_address("https://x.example/privact/"), server.token, transport=transport) as aggregator,
        pytest.raises(AggregatorError, match="no"),
    ):
        aggregator.me()
    assert seen == ["https://x.example/privact/v1/me"]


def test_the_log_is_asked_for_without_a_token_and_may_be_absent(device, server):
    with device.connection() as aggregator:
        assert aggregator.log() is None
    assert server.asked == ["GET /v1/log"]
    assert "Authorization" not in server.headers[-1]


def test_deeply_nested_json_is_refused_in_one_line(device, server):
    server.broken = [httpx.Response(200, content=b"[" * 1_000_000), httpx.Response(418, content=b'{"error":' * 100_000)]
    with device.connection() as aggregator:
        with pytest.raises(AggregatorError, match="not what an aggregator answers"):
            aggregator.me()
        with pytest.raises(AggregatorError, match="status 418"):
            aggregator.me()
