"""Reports over HTTP."""

from __future__ import annotations

import json
import socket

import pytest

from privact.protocol.report import report_length
from privact.protocol.users import user_digest

USERS = ("ada", "bob", "cat", "dan")


@pytest.fixture
def tokens(service):
    return service.enrol(*USERS)


@pytest.fixture
def spring(service, tokens):
    return service.open_round(opens=int(service.now) + 10, closes=int(service.now) + 100, joiner_seconds=50)


def test_201_then_200_then_409_and_the_first_can_be_read_back(service, tokens, spring):
    service.now += 10
    first = service.send(spring, "ada", tokens["ada"])
    assert (first.status_code, first.json()) == (201, {"round": "spring", "status": "accepted", "late": False})
    again = service.send(spring, "ada", tokens["ada"])
    assert (again.status_code, again.json()["status"]) == (200, "already accepted")
    other = service.send(spring, "ada", tokens["ada"], (5, 5))
    assert (other.status_code, list(other.json())) == (409, ["error"])
    stored = service.ask("GET", "/v1/rounds/spring/report", tokens["ada"])
    assert stored.headers["content-type"] == "application/octet-stream"
    assert stored.content == first.request.content
    assert service.ask("GET", "/v1/rounds/spring").json()["reports"] == 1


def test_425_before_and_410_after(service, tokens, spring):
    assert service.send(spring, "ada", tokens["ada"]).status_code == 425
    service.now += 100
    closed = service.send(spring, "ada", tokens["ada"])
    assert (closed.status_code, closed.json()) == (410, {"error": "round 'spring' takes no more reports"})


def test_400_404_401(service, tokens, spring):
    service.now += 10
    assert service.send(spring, "bob", tokens["ada"]).status_code == 400
    assert service.ask("PUT", "/v1/rounds/spring/report", tokens["ada"], content=b"abc").status_code == 400
    for name in ("autumn", "%00", "a%20b", "%C3%A9", "x" * 65, "..", "%2e%2e", "%FF"):
        answer = service.ask("PUT", f"/v1/rounds/{name}/report", tokens["ada"], content=b"abc")
        assert answer.status_code in (404, 405), name
        assert list(answer.json()) == ["error"]
    assert service.ask("PUT", "/v1/rounds/spring/report", content=b"abc").status_code == 401
    assert service.ask("GET", "/v1/rounds/spring/report").status_code == 401
    assert service.ask("GET", "/v1/rounds/spring/report", tokens["ada"]).status_code == 404
    assert service.ask("GET", "/v1/rounds/%00/report", tokens["ada"]).status_code == 404


def test_the_wrong_token_comes_before_what_is_wrong_with_the_report(service, tokens, spring):
    answers = {
        service.ask("PUT", path, f"{user_digest(user).hex()}.{'x' * 43}", content=b"abc").content
        for path in ("/v1/rounds/spring/report", "/v1/rounds/autumn/report")
        for user in ("ada", "nobody")
    }
    assert len(answers) == 1


def test_a_body_longer_than_any_report_of_the_round_is_not_read(service, tokens, spring):
    length = report_length(2)
    answer = service.ask("PUT", "/v1/rounds/spring/report", tokens["ada"], content=bytes(length + 1))
    assert answer.status_code == 413
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        head = f"PUT /v1/rounds/spring/report HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {tokens['ada']}\r\n"
        connection.sendall(f"{head}Content-Length: 99999999999999999999\r\n\r\n".encode())  # and nothing of it
        assert connection.recv(100).startswith(b"HTTP/1.1 4")
    chunks = (bytes(10) for _ in range(1000))  # a length that nobody announced
    assert service.ask("PUT", "/v1/rounds/spring/report", tokens["ada"], content=chunks).status_code == 413


def test_a_joiner_is_early_until_the_release_and_late_after_it(service, tokens, spring):
    service.now += 10
    for user in USERS:
        service.send(spring, user, tokens[user])
    token = service.enrol("eve")["eve"]
    assert service.send(spring, "eve", token).status_code == 425
    assert service.ask("GET", "/v1/me", token).json()["rounds"] == [
        {
            "id": "spring",
            "state": "open",
            "digest": spring.digest().hex(),
            "may_answer": False,
            "answered_at": None,
            "late": True,
            "series": None,
        }
    ]


def test_what_was_accepted_while_the_server_ends_is_there_when_it_starts_again(make_service, tmp_path):
    folder = tmp_path / "kept"
    service = make_service(data_folder=folder)
    tokens = service.enrol(*USERS)
    spring = service.open_round()
    assert service.send(spring, "ada", tokens["ada"]).status_code == 201
    service.stop()
    again = make_service(data_folder=folder)
    assert again.send(spring, "ada", tokens["ada"]).status_code == 200
    assert again.ask("GET", "/v1/rounds/spring").json()["reports"] == 1


def test_too_many_requests_of_one_user_are_refused_and_others_are_not(make_service):
    service = make_service(report_rate=0.001, report_burst=3)
    tokens = service.enrol(*USERS)
    spring = service.open_round()
    statuses = [service.send(spring, "ada", tokens["ada"]).status_code for _ in range(5)]
    assert statuses == [201, 200, 200, 429, 429]
    refused = service.send(spring, "ada", tokens["ada"])
    assert int(refused.headers["retry-after"]) > 900
    for _ in range(10):  # someone who knows only the name cannot use up the share of the user
        service.ask("PUT", "/v1/rounds/spring/report", f"{user_digest('bob').hex()}.{'x' * 43}", content=b"")
    assert service.send(spring, "bob", tokens["bob"]).status_code == 201


def test_a_full_queue_is_answered_with_503_and_nothing_is_lost(make_service):
    import threading

    service = make_service(queue_length=2)
    tokens = service.enrol(*USERS)
    spring = service.open_round()
    statuses: list[int] = []

    def send(user: str) -> None:
        statuses.append(service.send(spring, user, tokens[user]).status_code)

    with service.app.state.services.store.write():  # nobody else can write
        threads = [threading.Thread(target=send, args=(user,)) for user in USERS]
        for thread in threads:
            thread.start()
        while len(statuses) < 2:  # two are refused at once, two wait
            pass
        refused = list(statuses)
    for thread in threads:
        thread.join()
    assert refused == [503, 503]
    assert sorted(statuses) == [201, 201, 503, 503]
    metrics = service.ask("GET", "/metrics").text
    assert 'privact_reports_total{outcome="overloaded"} 2.0' in metrics
    assert 'privact_reports_total{outcome="accepted"} 2.0' in metrics


def test_a_report_leaves_no_trace_in_the_log_but_a_refusal_leaves_one_without_token_or_user(service, tokens, spring, caplog):
    caplog.set_level("DEBUG")
    service.now += 10
    service.send(spring, "ada", tokens["ada"])
    service.send(spring, "ada", tokens["ada"], (7, 7))
    service.operate("DELETE", "/v1/users/dan")
    from privact.aggregator.logs import JsonLines

    lines = [json.loads(JsonLines().format(record)) for record in caplog.records if record.name.startswith("privact")]
    routes = [(line["method"], line["route"], line["status"]) for line in lines if line["message"] == "request"]
    assert routes.count(("PUT", "/v1/rounds/{round_id}/report", 409)) == 1
    assert ("PUT", "/v1/rounds/{round_id}/report", 201) not in routes
    assert ("DELETE", "/v1/users/{user:path}", 204) in routes
    everything = json.dumps(lines)
    assert not any(token in everything or token.split(".")[1] in everything for token in tokens.values())
    assert "dan" not in everything
    assert "127.0.0.1" not in everything
