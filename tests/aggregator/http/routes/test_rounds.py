"""Rounds over HTTP."""

from __future__ import annotations

import time

import pytest

from privact.protocol.labels import LabelTable
from privact.protocol.round import Round

USERS = ("ada", "bob", "cat", "dan")


def wait(happened):
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_draft_is_the_operators_alone(service):
    service.enrol(*USERS)
    draft = service.operate("POST", "/v1/rounds", json={"id": "spring", "epsilon": 1})
    assert (draft["state"], draft["digest"], draft["n_users"], draft["n_bins"]) == ("draft", None, None, None)
    assert service.ask("GET", "/v1/rounds").json() == {"rounds": []}
    assert service.operate("GET", "/v1/rounds")["rounds"] == [draft]
    for path in ("", "/parameters", "/labels", "/report"):
        assert service.ask("GET", f"/v1/rounds/spring{path}").status_code in (401, 404)
    assert service.operate("GET", "/v1/rounds/spring") == draft


def test_opening_publishes_parameters_that_the_digest_vouches_for(service):
    service.enrol(*USERS)
    service.operate("POST", "/v1/rounds", json={"id": "spring", "epsilon": 0.5, "closes": int(service.now) + 60, "n_bins": 3})
    opened = service.operate("POST", "/v1/rounds/spring/open")
    answer = service.ask("GET", "/v1/rounds/spring/parameters")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert "immutable" in answer.headers["cache-control"]
    fixed = Round.from_bytes(answer.content, bytes.fromhex(opened["digest"]))
    assert (fixed.epsilon, fixed.n_bins, fixed.n_users, fixed.closes) == (0.5, 3, 4, int(service.now) + 60)
    assert opened == service.ask("GET", "/v1/rounds/spring").json()
    assert (opened["epsilon_report"], opened["privacy"]) == (0.25, fixed.privacy_sentence())
    assert service.ask("POST", "/v1/rounds/spring/open", "operator." + "o" * 43).status_code == 409


def test_too_few_users_are_refused(service, operator_token):
    service.enrol("ada", "bob")
    service.operate("POST", "/v1/rounds", json={"id": "spring", "epsilon": 1.0})
    answer = service.ask("POST", "/v1/rounds/spring/open", operator_token)
    assert (answer.status_code, "needs at least 3" in answer.json()["error"]) == (409, True)


def test_labels_are_uploaded_and_downloaded_whole(service, operator_token):
    service.enrol(*USERS)
    service.operate("POST", "/v1/rounds", json={"id": "spring", "epsilon": 1.0, "bins": "labels"})
    assert service.ask("PUT", "/v1/rounds/spring/labels", operator_token, content=b"ada").status_code == 400
    service.operate("PUT", "/v1/rounds/spring/labels", content=b"ada,north\nbob,south\n")
    opened = service.operate("POST", "/v1/rounds/spring/open")
    fixed = Round.from_bytes(service.ask("GET", "/v1/rounds/spring/parameters").content)
    table = LabelTable.from_bytes(service.ask("GET", "/v1/rounds/spring/labels").content, fixed.labels_digest)
    assert (opened["bins"], opened["n_bins"], table.labels_of(["ada", "bob"]).tolist()) == ("labels", 2, [0, 1])
    service.open_round("random")
    assert service.ask("GET", "/v1/rounds/spring/labels/names").json() == {"round": "spring", "names": ["north", "south"]}
    assert service.ask("GET", "/v1/rounds/random/labels").status_code == 404
    assert service.ask("GET", "/v1/rounds/random/labels/names").status_code == 404


def test_a_round_closes_by_itself_when_its_time_is_over_and_fails_without_enough_reports(service):
    service.enrol(*USERS)
    service.open_round(closes=int(service.now) + 10)
    service.now += 9
    assert service.ask("GET", "/v1/rounds/spring").json()["state"] == "open"
    service.now += 1
    wait(lambda: service.ask("GET", "/v1/rounds/spring").json()["state"] == "failed")
    ended = service.ask("GET", "/v1/rounds/spring").json()
    assert ended["closed_at"] == int(service.now)
    assert "0 reports are fewer than the 3" in ended["failure"]


def test_a_round_that_is_closed_by_hand_is_learned_and_released(service):
    tokens = service.enrol(*USERS)
    spring = service.open_round()
    for user in USERS:
        assert service.send(spring, user, tokens[user]).status_code == 201
    closed = service.operate("POST", "/v1/rounds/spring/close")
    assert closed["state"] in ("closed", "learning")
    wait(lambda: service.ask("GET", "/v1/rounds/spring").json()["state"] == "released")
    token = service.enrol("eve")["eve"]
    assert service.ask("GET", "/v1/me", token).json()["rounds"][0]["may_answer"] is True
    assert service.send(spring, "eve", token).json() == {"round": "spring", "status": "accepted", "late": True}
    assert service.ask("GET", "/v1/rounds/spring").json()["joiners"] == 1
    metrics = service.ask("GET", "/metrics").text
    assert 'privact_rounds{state="released"} 1.0' in metrics
    assert "privact_learning_seconds_count 1.0" in metrics


def test_a_whole_round_on_both_databases(make_service, database_url, operator_token):
    service = make_service(database=database_url)
    tokens = service.enrol(*USERS, "Ådá", "用户")
    spring = service.open_round(closes=int(service.now) + 10)
    assert [service.send(spring, user, tokens[user]).status_code for user in ("ada", "ådá", "用户", "ada")] == [
        201,
        201,
        201,
        200,
    ]
    assert service.send(spring, "ada", tokens["ada"], (9, 9)).status_code == 409
    assert service.ask("PUT", "/v1/rounds/spring/report", tokens["bob"], content=b"\x00").status_code == 400
    for path in ("/v1/rounds/%00", "/v1/rounds/%00/tree", "/v1/rounds/%00/labels"):
        assert service.ask("GET", path).status_code == 404
    assert service.ask("DELETE", "/v1/users/a%00b", operator_token).status_code == 400
    service.now += 10
    wait(lambda: service.ask("GET", "/v1/rounds/spring").json()["state"] == "released")
    assert service.send(spring, "bob", tokens["bob"]).status_code == 410
    assert service.send(spring, "ada", tokens["ada"]).status_code == 200
    ended = service.ask("GET", "/v1/rounds/spring").json()
    assert (ended["reports"], ended["closed_at"]) == (3, int(service.now))
    assert service.ask("GET", "/v1/rounds/spring/tree").json()["users"] == 3


def test_a_wish_that_cannot_be_is_refused_in_one_line(service, operator_token):
    cases = [
        ({"epsilon": 1.0}, "id: field required"),
        ({"id": "a b", "epsilon": 1.0}, "id: string should match pattern"),
        ({"id": "a\n", "epsilon": 1.0}, "id: string should match pattern"),
        ({"id": "spring"}, "epsilon: field required"),
        ({"id": "spring", "epsilon": 0}, "epsilon: should be greater than"),
        ({"id": "spring", "epsilon": "1"}, "epsilon: should be a valid number"),
        ({"id": "spring", "epsilon": True}, "epsilon: should be a valid number"),
        ({"id": "spring", "epsilon": 1.0, "n_bins": 0}, "n_bins: should be greater than or equal to 1"),
        ({"id": "spring", "epsilon": 1.0, "bins": "none"}, "bins: should be 'random' or 'labels'"),
        ({"id": "spring", "epsilon": 1.0, "search_seed": 2**63}, "search_seed: should be less than"),
        ({"id": "spring", "epsilon": 1.0, "opens": 10, "closes": 10}, "closes is 10"),
        ({"id": "spring", "epsilon": 1.0, "closes": 1.5}, "closes: should be a valid integer"),
        ({"id": "spring", "epsilon": 1.0, "colour": "red"}, "colour: extra inputs are not permitted"),
    ]
    for wish, told in cases:
        answer = service.ask("POST", "/v1/rounds", operator_token, json=wish)
        assert answer.status_code == 400
        assert told in answer.json()["error"]

    @pytest.mark.parametrize("name", ["nowhere", "%00", "%FF", "x" * 65, "a%2Fb"])
    def test_a_round_that_is_not_there(shared_service, operator_token, name):
        for method, path in [
            ("GET", ""),
            ("GET", "/parameters"),
            ("GET", "/labels"),
            ("POST", "/open"),
            ("POST", "/close"),
            ("GET", "/tree"),
        ]:
            answer = shared_service.ask(method, f"/v1/rounds/{name}{path}", operator_token)
            assert answer.status_code == 404, (method, path)
            assert list(answer.json()) == ["error"]


def test_a_round_with_too_few_reports_is_closed_only_by_force(service, operator_token):
    tokens = service.enrol(*USERS)
    spring = service.open_round()
    service.send(spring, USERS[0], tokens[USERS[0]])
    refused = service.ask("POST", "/v1/rounds/spring/close", operator_token)
    assert refused.status_code == 409
    assert f"has 1 of {len(USERS)} reports and needs 3" in refused.json()["error"]
    assert service.ask("GET", "/v1/rounds/spring").json()["state"] == "open"
    assert service.operate("POST", "/v1/rounds/spring/close?force=true")["state"] in ("closed", "learning", "failed")


def test_a_draft_can_be_deleted_and_an_open_round_cannot(service, operator_token):
    service.enrol(*USERS)
    service.operate("POST", "/v1/rounds", json={"id": "sprnig", "epsilon": 1.0})
    assert service.ask("DELETE", "/v1/rounds/sprnig", operator_token).status_code == 204
    assert service.ask("DELETE", "/v1/rounds/sprnig", operator_token).status_code == 404
    service.open_round()
    assert service.ask("DELETE", "/v1/rounds/spring", operator_token).status_code == 409


def test_answers_are_counted_over_time(service):
    tokens = service.enrol(*USERS)
    spring = service.open_round()
    service.send(spring, USERS[0], tokens[USERS[0]])
    service.now += 130
    service.send(spring, USERS[1], tokens[USERS[1]])
    found = service.ask("GET", "/v1/rounds/spring/answers").json()
    assert (found["round"], found["seconds"]) == ("spring", 60)
    assert found["counts"] == [1, 0, 1]
    assert service.ask("GET", "/v1/rounds/none/answers").status_code == 404


def test_a_rehearsal_says_what_would_come_out_and_keeps_nothing(service):
    found = service.operate("POST", "/v1/rehearsals", json={"contacts": 30.0, "epsilon": 4.0})
    assert found["users"] == 20
    assert 0 <= found["random"] <= 1
    assert 0 <= found["labels"] <= 1
    assert service.operate("GET", "/v1/users")["total"] == 0
    assert service.operate("GET", "/v1/rounds")["rounds"] == []
