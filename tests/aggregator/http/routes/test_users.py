"""Users over HTTP: the operator enrols, users see themselves, and nobody learns who is enrolled."""

from __future__ import annotations

import time

import pytest

from privact.protocol.users import user_digest


def test_enrolled_users_get_tokens_that_work(service):
    answer = service.operate("POST", "/v1/users", json={"users": ["@Ada@A.example", "bob", "BOB"]})
    assert sorted(answer["tokens"]) == ["ada@a.example", "bob"]
    assert answer["existing"] == ["bob"]
    me = service.ask("GET", "/v1/me", answer["tokens"]["ada@a.example"]).json()
    assert me == {"user": "ada@a.example", "enrolled_at": int(service.now), "discoverable": True, "rounds": []}


def test_a_new_token_kills_the_old_one_at_once(service):
    old = service.enrol("ada")["ada"]
    assert service.ask("GET", "/v1/me", old).status_code == 200  # now it is cached
    new = service.operate("POST", "/v1/users/token", json={"user": "Ada"})
    assert new["user"] == "ada"
    assert service.ask("GET", "/v1/me", old).status_code == 401
    assert service.ask("GET", "/v1/me", new["token"]).status_code == 200


@pytest.mark.parametrize(("path", "body"), [("/v1/users/revoke", {"user": "Ada"}), ("/v1/users/revoke-all", None)])
def test_a_revoked_token_is_worthless_at_once(service, path, body):
    token = service.enrol("ada")["ada"]
    assert service.ask("GET", "/v1/me", token).status_code == 200  # now it is cached
    service.operate("POST", path, json=body)
    assert service.ask("GET", "/v1/me", token).status_code == 401


def test_a_removed_user_is_out_at_once_and_can_come_back(service):
    old = service.enrol("ada@a.example")["ada@a.example"]
    assert service.ask("GET", "/v1/me", old).status_code == 200
    assert service.operate("DELETE", "/v1/users/ADA@a.example") is None
    assert service.ask("GET", "/v1/me", old).status_code == 401
    assert service.ask("DELETE", "/v1/users/ada@a.example", "operator." + "o" * 43).status_code == 404
    assert "ada@a.example" in service.enrol("ada@a.example")


def test_ids_with_slashes_and_percent_signs_can_be_removed(service, operator_token):
    service.enrol("a/b", "100%", "c d")
    for path in ("a/b", "100%25", "c%20d"):
        assert service.ask("DELETE", f"/v1/users/{path}", operator_token).status_code == 204


def test_users_are_listed_page_by_page(service):
    service.enrol(*(f"user{number}" for number in range(25)))
    users, after = [], 0
    while after is not None:
        page = service.operate("GET", f"/v1/users?limit=10&after={after}")
        assert page["total"] == 25
        users += [user["user"] for user in page["users"]]
        after = page["next"]
    assert users == [f"user{number}" for number in range(25)]


OPERATORS = [
    ("POST", "/v1/users"),
    ("GET", "/v1/users"),
    ("POST", "/v1/users/token"),
    ("DELETE", "/v1/users/ada"),
    ("POST", "/v1/rounds"),
    ("PUT", "/v1/rounds/spring/labels"),
    ("POST", "/v1/rounds/spring/open"),
    ("POST", "/v1/rounds/spring/close"),
]


def test_what_is_the_operators_is_refused_to_everyone_else_before_the_body_is_read(service):
    token = service.enrol("ada")["ada"]
    for method, path in OPERATORS:
        for wrong in (None, token, "operator." + "x" * 43, "operator.", "x"):
            answer = service.ask(method, path, wrong, content=b"not json")
            assert answer.status_code == 401, (method, path, wrong)
            assert answer.headers["www-authenticate"] == "Bearer"


def test_every_wrong_login_gets_the_same_bytes(service):
    token = service.enrol("ada")["ada"]
    wrong = [
        None,
        "x",
        token[:-1] + ("A" if token[-1] != "A" else "B"),
        f"{user_digest('nobody').hex()}.{'x' * 43}",
        "operator.x",
    ]
    answers = [service.ask("GET", "/v1/me", value) for value in wrong]
    answers += [service.ask("GET", "/v1/me", headers={"Authorization": "Basic YWRhOng="})]
    kept = ("content-type", "www-authenticate", "content-length", "cache-control")
    assert len({(a.status_code, a.content, *(a.headers[name] for name in kept)) for a in answers}) == 1
    assert answers[0].json() == {"error": "a valid token is needed: send it as 'Authorization: Bearer TOKEN'"}


def test_a_refusal_waits_for_the_next_ten_milliseconds(service):
    token = service.enrol("ada")["ada"]
    service.ask("GET", "/v1/me", token)
    for wrong in (f"{user_digest('ada').hex()}.{'x' * 43}", f"{user_digest('nobody').hex()}.{'x' * 43}", None):
        begin = time.perf_counter()
        service.ask("GET", "/v1/me", wrong)
        assert time.perf_counter() - begin >= 0.009  # less than a step would tell how long the lookup took


def test_too_many_wrong_tokens_from_one_address_are_refused_but_a_right_one_never_is(make_service):
    service = make_service(login_failure_rate=0.001, login_failure_burst=3)
    token = service.enrol("ada")["ada"]
    statuses = [service.ask("GET", "/v1/me", "wrong").status_code for _ in range(5)]
    assert statuses == [401, 401, 401, 429, 429]
    assert int(service.ask("GET", "/v1/users", "wrong").headers["retry-after"]) > 900
    assert service.ask("GET", "/v1/me", token).status_code == 200


def test_the_operator_has_a_limit_too(make_service, operator_token):
    service = make_service(operator_rate=0.001, operator_burst=2)
    assert [service.ask("GET", "/v1/users", operator_token).status_code for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "the body: invalid JSON"),
        (b"{", "the body: invalid JSON"),
        (b"[]", "the body: should be an object"),
        (b"{}", "users: field required"),
        (b'{"users": []}', "users: list should have at least 1 item"),
        (b'{"users": [3]}', "users.0: should be a valid string"),
        (b'{"users": ["ada"], "more": 1}', "more: extra inputs are not permitted"),
        (b'{"users": [" @ "]}', "is empty after normalising"),
        (b'{"users": ["a\\u0000b"]}', "cannot be shown"),
        (b'{"users": ["\\ud800"]}', ""),
        (b'{"users": ["' + b"x" * 400 + b'"]}', "has 400 characters; at most 320"),
        (b'{"users": ["\xff"]}', "the body: invalid"),
        (b"[" * 100_000, ""),
        (b'{"users": ' + b"9" * 10_000 + b"}", ""),
    ],
)
def test_a_bad_body_is_refused_in_one_line(shared_service, operator_token, body, told):
    answer = shared_service.ask("POST", "/v1/users", operator_token, content=body)
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]
    assert told in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


def test_ten_thousand_at_once_and_no_more(service, operator_token):
    answer = service.ask("POST", "/v1/users", operator_token, json={"users": [f"u{number}" for number in range(10_001)]})
    assert answer.status_code == 400
    assert "at most 10000 items" in answer.json()["error"]
    long = service.ask("POST", "/v1/users", operator_token, content=b"x" * (16 * 2**20 + 1))
    assert long.status_code == 413


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "limit=10001", "after=-1", "after=99999999999999999999", "limit="])
def test_bad_parameters_are_refused_in_one_line(shared_service, operator_token, query):
    answer = shared_service.ask("GET", f"/v1/users?{query}", operator_token)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("query.")


def test_users_are_found_by_a_part_of_their_id(service):
    service.enrol("ada@a.example", "bob@b.example", "100%@b.example")
    found = service.operate("GET", "/v1/users?search=B.EXAMPLE")
    assert [one["user"] for one in found["users"]] == ["bob@b.example", "100%@b.example"]
    assert [one["user"] for one in service.operate("GET", "/v1/users?search=%25@")["users"]] == ["100%@b.example"]
    assert found["total"] == 3
