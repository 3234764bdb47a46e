"""Promise 22: every opened round is in one signed log to which entries are only added, the same for everybody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete
from typer.testing import CliRunner

from privact.aggregator.http.app import create_app
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import round_log
from privact.cli.main import app
from privact.errors import InputError
from privact.protocol.round import Round
from privact.protocol.round_log import RoundLog

OPERATOR = "operator." + "o" * 43
HEADERS = {"Authorization": f"Bearer {OPERATOR}"}


@pytest.fixture
def settings(tmp_path: Path, database_url: str) -> Settings:
    return Settings(
        data_folder=tmp_path / "data", database=database_url, operator_token=OPERATOR, minimum_users=2, operator_rate=0
    )


def open_round(client: TestClient, name: str) -> Round:
    client.post("/v1/users", json={"users": ["ada", "bob", "cat"]}, headers=HEADERS)
    assert client.post("/v1/rounds", json={"id": name, "epsilon": 1.0}, headers=HEADERS).status_code == 201
    assert client.post(f"/v1/rounds/{name}/open", headers=HEADERS).status_code == 200
    return Round.from_bytes(client.get(f"/v1/rounds/{name}/parameters").content)


def read(client: TestClient) -> RoundLog:
    return RoundLog.from_bytes(client.get("/v1/log").content)  # which checks every signature


def test_opened_rounds_are_in_the_log_in_order_and_drafts_are_not(settings: Settings) -> None:
    with TestClient(create_app(settings)) as client:
        assert read(client).entries == ()
        opened = [open_round(client, name) for name in ("spring", "summer", "autumn")]
        client.post("/v1/rounds", json={"id": "draft", "epsilon": 1.0}, headers=HEADERS)
        log = read(client)
        assert [entry.parameters for entry in log.entries] == [each.to_bytes() for each in opened]
        assert all(log.lists(each) for each in opened)
    with TestClient(create_app(settings)) as client:  # after a restart it goes on
        again = read(client)
        assert again == log
        open_round(client, "winter")
        assert read(client).continues(3, log.head)


def test_the_secret_key_is_private_and_another_key_is_refused(settings: Settings) -> None:
    with TestClient(create_app(settings)) as client:
        open_round(client, "spring")
    key = settings.data_folder / "signing-key"
    assert key.stat().st_mode & 0o777 == 0o600
    key.unlink()
    with pytest.raises(InputError, match="are signed with another key: copy signing-key from the data folder"):
        create_app(settings)


def test_rounds_opened_before_there_was_a_log_are_added_at_the_start(settings: Settings) -> None:
    with TestClient(create_app(settings)) as client:
        spring = open_round(client, "spring")
    store = Store.open(settings.database_url)
    with store.write() as connection:
        connection.execute(delete(round_log))
    store.close()
    with TestClient(create_app(settings)) as client:
        assert read(client).lists(spring)


def test_device_verify_checks_the_log_of_a_running_server(aggregator: Any, tmp_path: Path) -> None:
    server = aggregator(minimum_users=2)
    server.start()
    tokens = server.enrol(["ada@a.example", *(f"user{number}@a.example" for number in range(99))])
    server.open_round("spring")
    url, home = f"http://127.0.0.1:{server.port}", str(tmp_path / "home")
    contacts = tmp_path / "contacts.txt"
    contacts.write_text("user1@a.example\nuser2@a.example\n")

    def run(*words: str, status: int = 0) -> str:
        done = CliRunner().invoke(app, ["device", *words, "--home", home], catch_exceptions=False)
        assert done.exit_code == status, done.output
        return done.stdout if status == 0 else done.stderr

    run("join", url, "--token", tokens["ada@a.example"])
    run("answer", "--contacts", str(contacts), "--yes", "--now")
    first = json.loads(run("verify", "--json"))
    assert (first["rounds"], first["answered"]) == (1, 1)
    server.open_round("summer")
    later = json.loads(run("verify", "--json"))
    assert later["rounds"] == 2
    assert later["key"] == first["key"]
    run("verify", "--head", later["head"])
    assert "head" in run("verify", "--head", "00" * 32, status=2)
    server.stop()
    (server.folder / "signing-key").unlink()  # an operator who begins a log of his own
    store = Store.open(server.database)
    with store.write() as connection:
        connection.execute(delete(round_log))
    store.close()
    server.start()
    assert "key" in run("verify", status=2)
