"""Operator requests: not repeated where that could enrol twice, one line where something is wrong."""

from __future__ import annotations

import httpx
import pytest

from privact.client.operator_client import OperatorClient
from privact.errors import AggregatorError
from privact.protocol.addresses import aggregator_address


@pytest.fixture
def ask():
    """Give responses, one a request, to an operator who asks POST /v1/users; returns the client and what was slept."""

    def make(*responses):
        left, slept = list(responses), []

        def respond(request):
            found = left.pop(0)
            if isinstance(found, type):
                raise found("broken")
            return found

        client = OperatorClient(
            aggregator_address("https://x.example"), "operator.token", transport=httpx.MockTransport(respond), sleep=slept.append
        )
        return client, slept, left

    return make


def test_a_json_object_comes_back_and_nothing_is_none(ask):
    client, _, _ = ask(httpx.Response(200, json={"tokens": {}}), httpx.Response(204))
    assert client.ask_json("POST", "/v1/users", {"users": []}) == {"tokens": {}}
    assert client.ask_json("DELETE", "/v1/users/ada") is None


def test_only_what_was_refused_unread_is_sent_again(ask):
    client, slept, left = ask(httpx.Response(429), httpx.Response(200, json={}), httpx.Response(503), httpx.Response(200))
    assert client.ask_json("POST", "/v1/users", {}) == {}
    assert len(slept) == 1
    with pytest.raises(AggregatorError, match="answered 503"):
        client.ask_json("POST", "/v1/users", {})
    assert len(left) == 1


@pytest.mark.parametrize(
    ("response", "line"),
    [
        (httpx.ConnectError, "cannot reach https://x.example: broken: is privact serve running there"),
        (httpx.Response(409, json={"error": "there is one"}), "^there is one$"),
        (httpx.Response(404, text="<html>"), "answered 404: is it an aggregator"),
        (httpx.Response(302, headers={"Location": "https://y.example"}), "answered 302"),
        (httpx.Response(200, text="hello"), "did not answer in JSON"),
        (httpx.Response(200, content=b"[" * 1_000_000), "did not answer in JSON"),
    ],
)
def test_anything_else_is_one_line(ask, response, line):
    client, _, _ = ask(response)
    with pytest.raises(AggregatorError, match=line) as refused:
        client.ask_json("GET", "/v1/rounds")
    assert "\n" not in str(refused.value)
