"""A database of the first release is brought up to date, and everything that was in it still works."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from privact.aggregator.http.app import create_app
from privact.aggregator.settings import Settings

FIRST = Path(__file__).parent / "first_release"
OPERATOR = {"Authorization": "Bearer operator." + "o" * 43}
ADA = {"Authorization": "Bearer 8fabd498ec1924284e2d995ea62d3ae8.JS9MhR5it_l3O4JHi9xyzsUkyVzcw_T2kmm1_cVDsJk"}
"""Tokens that the first release handed out."""


@pytest.fixture
def client(tmp_path):
    with closing(sqlite3.connect(tmp_path / "privact.sqlite3")) as database:
        database.executescript((FIRST / "privact.sql").read_text())
    (tmp_path / "releases").mkdir()
    shutil.copy(FIRST / "spring.hct", tmp_path / "releases")
    with TestClient(create_app(Settings(data_folder=tmp_path, minimum_users=3))) as client:
        yield client


def test_rounds_users_and_tokens_are_as_they_were(client):
    rounds = client.get("/v1/rounds", headers=OPERATOR).json()["rounds"]
    assert {one["id"]: one["state"] for one in rounds} == {"spring": "released", "summer": "open", "autumn": "draft"}
    assert client.get("/v1/users", headers=OPERATOR).json()["total"] == 4
    mine = client.get("/v1/me", headers=ADA).json()
    assert mine["user"] == "ada@a.example"
    assert {one["id"]: one["answered_at"] is not None for one in mine["rounds"]} == {"spring": True, "summer": True}
    assert client.get("/readyz").status_code == 200


def test_the_released_tree_is_read_and_a_new_round_is_opened(client):
    assert client.get("/v1/rounds/spring/tree").json()["users"] == 4
    assert client.post("/v1/rounds", json={"id": "winter", "epsilon": 1.0}, headers=OPERATOR).status_code == 201
    assert client.post("/v1/rounds/winter/open", headers=OPERATOR).json()["n_users"] == 4
