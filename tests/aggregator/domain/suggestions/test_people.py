"""People over HTTP: users ask whom they may know, and nobody is listed who opted out, was removed or was erased."""

from __future__ import annotations

import time

import pytest
from fastapi.testclient import TestClient

from privact.aggregator.http.app import create_app
from privact.aggregator.settings import Settings
from privact.protocol.report import Report
from privact.protocol.round import Round

OPERATOR = "operator." + "o" * 43
SIDES = [f"user{number}@{'left' if number < 60 else 'right'}.example" for number in range(120)]
"""Users of two groups who know only users of their own."""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A client of a server with a released round in which users report contacts in their own group only; everyone's headers."""
    settings = Settings(data_folder=tmp_path_factory.mktemp("data"), operator_token=OPERATOR, report_rate=0)
    with TestClient(create_app(settings)) as client:
        operator = {"Authorization": f"Bearer {OPERATOR}"}
        tokens = client.post("/v1/users", json={"users": SIDES}, headers=operator).json()["tokens"]
        for id, bins in (("spring", "labels"), ("hidden", "random")):
            wish = {"id": id, "epsilon": 4.0, "bins": bins, "visibility": "public" if id == "spring" else "operator"}
            assert client.post("/v1/rounds", json=wish, headers=operator).status_code == 201
        lines = "".join(f"{user},{user.split('@')[1]}\n" for user in SIDES)
        client.put("/v1/rounds/spring/labels", content=lines, headers=operator | {"Content-Type": "text/csv"})
        people = {user: {"Authorization": f"Bearer {token}"} for user, token in tokens.items()}
        for id in ("spring", "hidden"):
            client.post(f"/v1/rounds/{id}/open", headers=operator)
            round_ = Round.from_bytes(client.get(f"/v1/rounds/{id}/parameters", headers=people[SIDES[0]]).content)
            for number, user in enumerate(SIDES):
                vector = (20, 0) if number < 60 else (0, 20)
                vector = (*vector, *[0] * (round_.n_bins - 2))
                body = Report.bind(round_, user, vector).to_bytes()
                assert client.put(f"/v1/rounds/{id}/report", content=body, headers=people[user]).status_code == 201
            client.post(f"/v1/rounds/{id}/close?force=true", headers=operator)
            for _ in range(1200):
                if client.get(f"/v1/rounds/{id}", headers=people[SIDES[0]]).json()["state"] == "released":
                    break
                time.sleep(0.05)
        yield client, operator, people


def ask(served, user: str, k: int = 100, round_id: str = "spring"):
    client, _, people = served
    return client.get(f"/v1/rounds/{round_id}/people?k={k}", headers=people[user])


def names(served, user: str) -> list[str]:
    return [found["user"] for found in ask(served, user).json()["people"]]


def test_users_of_the_own_group_come_first_with_a_coarse_reason_and_no_score(served):
    answer = ask(served, SIDES[0], 20).json()
    assert answer["user"] == SIDES[0]
    assert [found["rank"] for found in answer["people"]] == list(range(1, 21))
    assert {found["user"].split("@")[1] for found in answer["people"]} == {"left.example"}
    for found in answer["people"]:
        assert sorted(found) == ["rank", "reason", "user"]
        assert not any(letter.isdigit() for letter in found["reason"])
    assert SIDES[0] not in names(served, SIDES[0])


def test_who_opts_out_is_listed_to_nobody_from_then_on(served):
    client, operator, people = served
    assert client.get("/v1/me", headers=people[SIDES[1]]).json()["discoverable"] is True
    said = client.put("/v1/me/discoverable", json={"discoverable": False}, headers=people[SIDES[1]])
    assert said.json() == {"discoverable": False}
    assert client.get("/v1/me", headers=people[SIDES[1]]).json()["discoverable"] is False
    assert SIDES[1] not in names(served, SIDES[0])
    assert len(ask(served, SIDES[1], 5).json()["people"]) == 5
    said = client.put("/v1/users/discoverable", json={"user": SIDES[1].upper(), "discoverable": True}, headers=operator)
    assert said.json() == {"user": SIDES[1], "discoverable": True}
    assert SIDES[1] in names(served, SIDES[0])


def test_the_token_decides_whose_list_and_whose_choice_it_is(served):
    client, _, people = served
    assert client.get("/v1/rounds/spring/people").status_code == 401
    assert client.put("/v1/me/discoverable", json={"discoverable": False}).status_code == 401
    wish = {"user": SIDES[2], "discoverable": False}
    assert client.put("/v1/users/discoverable", json=wish, headers=people[SIDES[3]]).status_code in (401, 403)
    assert ask(served, SIDES[0], round_id="nothing").status_code == 404
    assert ask(served, SIDES[0], round_id="hidden").status_code in (401, 403)
    for wrong in ({"discoverable": "no"}, {}, {"discoverable": True, "user": SIDES[3]}):
        assert client.put("/v1/me/discoverable", json=wrong, headers=people[SIDES[2]]).status_code == 400


def test_removed_and_erased_users_are_not_listed(served):
    client, operator, _ = served
    before = names(served, SIDES[0])
    assert {SIDES[5], SIDES[6]} <= set(before)
    client.delete(f"/v1/users/{SIDES[5]}", headers=operator)
    client.delete(f"/v1/users/{SIDES[6]}?erase=true", headers=operator)
    after = names(served, SIDES[0])
    assert len(after) == len(before) == 100
    assert not {SIDES[5], SIDES[6]} & set(after)
    assert not [name for name in after if name.startswith("erased-")]
