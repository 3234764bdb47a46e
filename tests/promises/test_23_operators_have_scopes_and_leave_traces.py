"""Promise 23: an operator's token does what its scopes say, until its date, and what it did is on record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from privact.aggregator.http.app import create_app
from privact.aggregator.settings import Settings

FIRST = "operator." + "o" * 43


class Played:
    """A server whose clock the test moves."""

    def __init__(self, folder: Path, database: str) -> None:
        self.now = 1_000_000.0
        limits = {"operator_rate": 0, "login_failure_rate": 0, "minimum_users": 2}
        settings = Settings(data_folder=folder, database=database, operator_token=FIRST, **limits)
        self.client = TestClient(create_app(settings, now=lambda: self.now))

    def ask(self, method: str, path: str, token: str = FIRST, **named: Any) -> Any:
        return self.client.request(method, path, headers={"Authorization": f"Bearer {token}"}, **named)

    def add(self, name: str, *scopes: str, expires_at: int | None = None) -> str:
        new = {"name": name, "scopes": list(scopes), "expires_at": expires_at}
        response = self.ask("POST", "/v1/operators", json=new)
        assert response.status_code == 201, response.text
        token: str = response.json()["token"]
        return token


@pytest.fixture
def played(tmp_path: Path, database_url: str) -> Iterator[Played]:
    played = Played(tmp_path / "data", database_url)
    with played.client:
        yield played


ASKED = {
    "read": [("GET", "/v1/users", None), ("GET", "/v1/operators", None), ("GET", "/v1/operators/actions", None)],
    "rounds": [("POST", "/v1/rounds", {"id": "spring", "epsilon": 1.0}), ("POST", "/v1/rounds/spring/close", None)],
    "users": [("POST", "/v1/users", {"users": ["ada"]}), ("DELETE", "/v1/users/ada", None)],
    "operators": [("POST", "/v1/operators", {"name": "x", "scopes": ["read"]}), ("DELETE", "/v1/operators/x", None)],
}


@pytest.mark.parametrize("scope", ASKED)
def test_a_token_does_what_its_scopes_say_and_nothing_else(played: Played, scope: str) -> None:
    token = played.add("night", scope)
    for needed, asked in ASKED.items():
        for method, path, body in asked:
            status = played.ask(method, path, token, json=body).status_code
            assert (status == 403) == (needed != scope), (method, path, status)
            assert status not in (401, 500)


def test_a_token_ends_at_its_date_and_when_it_is_removed(played: Played) -> None:
    token = played.add("night", "read", expires_at=1_000_100)
    assert played.ask("GET", "/v1/users", token).status_code == 200
    played.now = 1_000_100.0
    assert played.ask("GET", "/v1/users", token).status_code == 401
    other = played.add("day", "read")
    assert played.ask("DELETE", "/v1/operators/day").status_code == 204
    assert played.ask("GET", "/v1/users", other).status_code == 401
    assert played.ask("DELETE", "/v1/operators/operator").status_code == 409  # somebody must be able to hand out tokens


def test_what_operators_do_is_recorded_with_name_and_time_and_reading_is_not(played: Played) -> None:
    token = played.add("night", "rounds")
    played.now += 60
    played.ask("POST", "/v1/rounds", token, json={"id": "spring", "epsilon": 1.0})
    played.ask("POST", "/v1/rounds/spring/open", token)  # refused: nobody is enrolled
    played.ask("POST", "/v1/users", token, json={"users": ["eve"]})  # refused: no such scope
    played.ask("GET", "/v1/users")
    played.ask("DELETE", "/v1/users/a%00b")  # what cannot be shown is not kept
    assert played.ask("GET", "/v1/operators/actions?limit=1").json()["actions"][0]["subject"] == "a?b"
    actions = played.ask("GET", "/v1/operators/actions").json()["actions"]
    actions = actions[1:]
    told = [(each["operator"], each["action"], each["subject"], each["status"]) for each in actions]
    assert told == [
        ("night", "POST /v1/users", "", 403),
        ("night", "POST /v1/rounds/{round_id}/open", "spring", 409),
        ("night", "POST /v1/rounds", "spring", 201),
        ("operator", "POST /v1/operators", "night: rounds", 201),
    ]
    assert [each["at"] for each in actions] == [1_000_060, 1_000_060, 1_000_060, 1_000_000]
    assert token not in str(actions)


def test_after_a_restore_every_users_token_can_be_made_worthless(played: Played) -> None:
    tokens = played.ask("POST", "/v1/users", json={"users": ["ada", "bob"]}).json()["tokens"]
    assert played.ask("GET", "/v1/me", tokens["ada"]).status_code == 200
    assert played.ask("POST", "/v1/users/revoke-all").json() == {"revoked": 2}
    assert [played.ask("GET", "/v1/me", token).status_code for token in tokens.values()] == [401, 401]
    fresh = played.ask("POST", "/v1/users/token", json={"user": "ada"}).json()["token"]
    assert played.ask("GET", "/v1/me", fresh).status_code == 200
