"""Promise 24: what is derived from a round is read by whom it is for: everybody, users, or operators; and work has limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from privact.aggregator.http.app import create_app
from privact.aggregator.settings import Settings
from privact.aggregator.storage.schema import rounds

OPERATOR = "operator." + "o" * 43
DERIVED = ("/labels", "/tree", "/tree/cut", "/tree/download", "/tree/explore/view", "/tree/explore/search?text=a")


def play(folder: Path, **chosen: Any) -> tuple[TestClient, str]:
    """A server with an open round of label bins; and a user's token."""
    settings = Settings(
        **{"data_folder": folder, "operator_token": OPERATOR, "minimum_users": 2, "login_failure_rate": 0} | chosen
    )
    client = TestClient(create_app(settings))
    client.__enter__()
    headers = {"Authorization": f"Bearer {OPERATOR}"}
    token: str = client.post("/v1/users", json={"users": ["ada", "bob", "cat"]}, headers=headers).json()["tokens"]["ada"]
    return client, token


def open_round(client: TestClient, visibility: str) -> None:
    headers = {"Authorization": f"Bearer {OPERATOR}"}
    wish = {"id": "spring", "epsilon": 1.0, "bins": "labels", "visibility": visibility}
    assert client.post("/v1/rounds", json=wish, headers=headers).status_code == 201
    client.put("/v1/rounds/spring/labels", content=b"ada,a\nbob,b\ncat,b\n", headers=headers)
    assert client.post("/v1/rounds/spring/open", headers=headers).status_code == 200


def statuses(client: TestClient, token: str | None) -> list[int]:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return [client.get(f"/v1/rounds/spring{path}", headers=headers).status_code for path in DERIVED]


@pytest.mark.parametrize(
    ("visibility", "public_trees", "anybody", "user", "operator"),
    [
        ("public", True, [200, 409], [200, 409], [200, 409]),
        ("public", False, [401, 401], [200, 409], [200, 409]),
        ("users", True, [401, 401], [200, 409], [200, 409]),
        ("operator", True, [401, 401], [200, 401], [200, 409]),  # a user's device needs the labels to report
    ],
)
def test_who_may_read_labels_and_tree(
    tmp_path: Path, visibility: str, public_trees: bool, anybody: list[int], user: list[int], operator: list[int]
) -> None:
    client, token = play(tmp_path, public_trees=public_trees)
    open_round(client, visibility)
    for who, (labels, tree) in ((None, anybody), (token, user), (OPERATOR, operator)):
        assert statuses(client, who) == [labels] + [tree] * (len(DERIVED) - 1), who  # 409: not released yet
    client.__exit__(None, None, None)


OPEN_TO_ALL = {"", "/parameters", "/answers", "/report"}  # what a round is, not what follows from its reports; the own report


def test_no_route_to_a_round_was_forgotten(tmp_path: Path) -> None:
    """Every address below a round is either about the round itself, or closed to whom the round is closed."""
    client, token = play(tmp_path)
    open_round(client, "operator")
    routes = {
        path.removeprefix("/v1/rounds/{round_id}")
        for path, methods in client.app.openapi()["paths"].items()  # type: ignore[attr-defined]
        if path.startswith("/v1/rounds/{round_id}") and "get" in methods
    }
    assert {path.partition("?")[0] for path in DERIVED} <= routes
    for path in routes - OPEN_TO_ALL:
        for shown in (None, token):
            headers = {} if shown is None else {"Authorization": f"Bearer {shown}"}
            status = client.get(f"/v1/rounds/spring{path}", headers=headers).status_code
            assert status == (200 if path in ("/labels", "/labels/names") and shown == token else 401), (path, status)
    client.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("visibility", "public_trees", "readers"),
    [("public", True, 3), ("public", False, 2), ("users", True, 2), ("operator", True, 1)],
)
def test_what_a_series_found_is_read_by_whom_it_is_for(tmp_path: Path, visibility: str, public_trees: bool, readers: int) -> None:
    client, token = play(tmp_path, public_trees=public_trees)
    wish = {"name": "weekly", "epsilon": 2.0, "rounds": 2, "every_seconds": 3600, "visibility": visibility}
    headers = {"Authorization": f"Bearer {OPERATOR}"}
    assert client.post("/v1/series", json=wish, headers=headers).status_code == 201
    assert client.post("/v1/series/weekly/open", headers=headers).status_code == 200
    found = {"figure": 1.5, "threshold": 1.0, "sees_communities": True, "groups": 2, "users": 3, "rounds": [1]}
    with client.app.state.services.store.write() as connection:  # type: ignore[attr-defined]
        connection.execute(update(rounds).values(evidence=json.dumps(found)))
    for place, shown in enumerate((OPERATOR, token, None)):
        headers = {} if shown is None else {"Authorization": f"Bearer {shown}"}
        series, round = (client.get(path, headers=headers).json() for path in ("/v1/series/weekly", "/v1/rounds/weekly.1"))
        listed = [
            client.get("/v1/series", headers=headers).json()["series"],
            client.get("/v1/rounds", headers=headers).json()["rounds"],
        ]
        told = [
            series["evidence"],
            series["finding"],
            series["members"][0]["evidence"],
            round["evidence"],
            *(each[0]["evidence"] for each in listed),
        ]
        assert [each is not None for each in told] == [place < readers] * 6, shown
    client.__exit__(None, None, None)


def test_a_tiny_epsilon_is_refused_with_the_limit(tmp_path: Path) -> None:
    client, _ = play(tmp_path)
    headers = {"Authorization": f"Bearer {OPERATOR}"}
    refused = client.post("/v1/rounds", json={"id": "tiny", "epsilon": 0.001}, headers=headers)
    assert refused.status_code == 400
    assert refused.json()["error"] == "epsilon 0.001 is below 0.01: the noise would hide everything, choose more"
    client.__exit__(None, None, None)


def test_a_full_disk_is_not_ready(tmp_path: Path) -> None:
    client, _ = play(tmp_path, minimum_free_bytes=2**62)
    not_ready = client.get("/readyz")
    assert not_ready.status_code == 503
    assert "bytes are free on the disk, fewer than" in not_ready.json()["error"]
    client.__exit__(None, None, None)


def test_deeply_nested_json_is_refused_in_one_line(tmp_path: Path) -> None:
    client, _ = play(tmp_path)
    headers = {"Authorization": f"Bearer {OPERATOR}"}
    for body in (b"[" * 100_000, b'{"users":' * 50_000, b'{"users":' + b"[" * 50_000 + b"]" * 50_000 + b"}"):
        refused = client.post("/v1/users", content=body, headers=headers)
        assert refused.status_code == 400
        assert list(refused.json()) == ["error"]
        assert len(refused.json()["error"]) < 400
    client.__exit__(None, None, None)


def test_data_and_database_are_private_even_in_a_folder_that_was_there(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    (folder / "privact.sqlite3").touch(mode=0o644)
    client, _ = play(folder)
    for path in (folder / "privact.sqlite3", *folder.glob("privact.sqlite3-*")):
        assert path.stat().st_mode & 0o077 == 0, path
    client.__exit__(None, None, None)


def test_wrong_tokens_cost_no_lookups_once_there_were_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, token = play(tmp_path, login_failure_rate=0.001, login_failure_burst=3, report_rate=0)
    gate = client.app.state.services.gate  # type: ignore[attr-defined]
    looked_up: list[int] = []
    look_up = gate._lookups._handle
    monkeypatch.setattr(gate._lookups, "_handle", lambda digests: looked_up.extend([1] * len(digests)) or look_up(digests))
    headers = [{"Authorization": f"Bearer {number:032x}.{'x' * 43}"} for number in range(100)]
    found = [client.get("/v1/me", headers=each).status_code for each in headers]
    assert found[:3] == [401] * 3
    assert set(found[30:]) == {429}
    assert len(looked_up) <= 30
    malformed = client.put("/v1/rounds/spring/report", content=b"x" * 1000, headers={"Authorization": "Bearer x"})
    assert malformed.status_code == 429
    client.__exit__(None, None, None)
    assert token
