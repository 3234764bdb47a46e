"""Recommendations over HTTP: the operator uploads ratings, users ask with their token."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from privact.aggregator.domain.suggestions import recommendations
from privact.aggregator.http.app import create_app
from privact.aggregator.settings import Settings
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.recommend.cold_start import validation

OPERATOR = "operator." + "o" * 43
SIDES = [f"user{number}@{'left' if number < 60 else 'right'}.example" for number in range(120)]
"""Users of two groups who know only users of their own."""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A client of a server whose round is released: users report contacts in their own group only; and everyone's headers."""
    settings = Settings(data_folder=tmp_path_factory.mktemp("data"), operator_token=OPERATOR, report_rate=0, ratings_verb="play")
    with TestClient(create_app(settings)) as client:
        operator = {"Authorization": f"Bearer {OPERATOR}"}
        tokens = client.post("/v1/users", json={"users": SIDES}, headers=operator).json()["tokens"]
        client.post("/v1/rounds", json={"id": "spring", "epsilon": 4.0, "bins": "labels"}, headers=operator)
        lines = "".join(f"{user},{user.split('@')[1]}\n" for user in SIDES)
        client.put("/v1/rounds/spring/labels", content=lines, headers=operator | {"Content-Type": "text/csv"})
        client.post("/v1/rounds/spring/open", headers=operator)
        round_ = Round.from_bytes(client.get("/v1/rounds/spring/parameters").content)
        people = {user: {"Authorization": f"Bearer {token}"} for user, token in tokens.items()}
        for number, user in enumerate(SIDES):
            vector = (30, 0) if number < 60 else (0, 30)
            body = Report.bind(round_, user, vector).to_bytes()
            assert client.put("/v1/rounds/spring/report", content=body, headers=people[user]).status_code == 201
        client.post("/v1/rounds/spring/close", headers=operator)
        for _ in range(1200):
            if client.get("/v1/rounds/spring").json()["state"] == "released":
                break
            time.sleep(0.05)
        yield client, operator, people


RATINGS = "user,item,rating\n" + "".join(
    f"{user.upper()},{'waltz' if number < 60 else 'tango'},1\n{user.upper()},polka,1\n"
    for number, user in enumerate(SIDES)
    if number % 60
)
"""The left group has waltz, the right one tango, all have polka; users 0 and 60 have told nothing."""


def ask(client, headers, query=""):
    """The recommendations of a user, asked for again while they are being prepared: the first ones compile their kernels."""
    for _ in range(60):
        answer = client.get(f"/v1/rounds/spring/recommendations{query}", headers=headers)
        if "Retry-After" not in answer.headers:
            break
        time.sleep(0.5)
    return answer.json()


def test_users_get_what_their_community_has_with_a_reason(served):
    client, operator, people = served
    uploaded = client.put("/v1/ratings", content=RATINGS, headers=operator | {"Content-Type": "text/csv"})
    told = uploaded.json()
    assert (told["users"], told["items"], told["ratings"], told["enrolled"]) == (118, 3, 236, 118)
    assert told["popular"][0] == {"item": "polka", "users": 118}
    for user, (liked, other) in ((SIDES[0], ("waltz", "tango")), (SIDES[60], ("tango", "waltz"))):
        answer = ask(client, people[user], "?k=3")
        assert answer["user"] == user
        items = [found["item"] for found in answer["items"]]
        assert items.index(liked) < items.index(other)
        reason = next(found["reason"] for found in answer["items"] if found["item"] == liked)
        assert reason == "several in your close community play this"
        assert [sorted(found) for found in answer["items"]] == [["item", "rank", "reason"]] * len(items)
    rated = ask(client, people[SIDES[1]])
    assert "waltz" not in [found["item"] for found in rated["items"]]  # what a user has is not listed again


def test_new_ratings_replace_the_old_ones_and_bad_ones_change_nothing(served):
    client, operator, people = served
    some = "user,item\n" + "".join(f"{user},samba\n" for user in SIDES[5:8]) + f"{SIDES[5]},solo\n"  # solo: too few have it
    client.put("/v1/ratings", content=some, headers=operator)
    mine = lambda: ask(client, people[SIDES[0]])["items"]  # noqa: E731
    assert [found["item"] for found in mine()] == ["samba"]
    for bad in (
        b"",
        b"user\n",
        b"PAR1garbage",
        b"\xff\xfe",
        f"{SIDES[5]},samba,-1\n".encode(),
        f"{SIDES[5]},a,1\n@{SIDES[5].upper()},b,1\n".encode(),
    ):
        refused = client.put("/v1/ratings", content=bad, headers=operator)
        assert refused.status_code == 400, bad
        assert list(refused.json()) == ["error"]
    assert [found["item"] for found in mine()] == ["samba"]


def test_while_a_recommender_is_made_users_get_the_one_before(served, monkeypatch):
    client, operator, people = served
    ask = lambda user: client.get("/v1/rounds/spring/recommendations", headers=people[user])  # noqa: E731
    client.put("/v1/ratings", content=RATINGS, headers=operator)
    before = ask(SIDES[0]).json()
    finish, make = threading.Event(), recommendations.Recommendations._make
    monkeypatch.setattr(recommendations, "_PATIENCE", 0.0)
    monkeypatch.setattr(recommendations, "_LONGEST_WAIT", 0.0)
    monkeypatch.setattr(recommendations.Recommendations, "_make", lambda *given: finish.wait(60) and make(*given))
    some = "user,item\n" + "".join(f"{user},samba\n" for user in SIDES[5:8])
    client.put("/v1/ratings", content=some, headers=operator)
    assert ask(SIDES[0]).json() == before
    client.app.state.services.recommendations._latest.clear()  # as for somebody whom the one before does not know
    waiting = ask(SIDES[0])
    assert (waiting.status_code, waiting.json()) == (409, {"error": "recommendations are being prepared: ask again soon"})
    finish.set()
    monkeypatch.setattr(recommendations, "_LONGEST_WAIT", 60.0)
    assert [found["item"] for found in ask(SIDES[0]).json()["items"]] == ["samba"]


def test_only_the_operator_uploads_and_only_users_ask(served):
    client, operator, people = served
    assert client.put("/v1/ratings", content=RATINGS, headers=people[SIDES[0]]).status_code == 401
    assert client.put("/v1/ratings", content=RATINGS).status_code == 401
    assert client.get("/v1/rounds/spring/recommendations").status_code == 401
    assert client.get("/v1/rounds/nothing/recommendations", headers=people[SIDES[0]]).status_code == 404
    client.put("/v1/ratings", content=RATINGS, headers=operator)
    stranger = client.post("/v1/users", json={"users": ["zoe"]}, headers=operator).json()["tokens"]["zoe"]
    asked = client.get("/v1/rounds/spring/recommendations", headers={"Authorization": f"Bearer {stranger}"})
    assert asked.status_code == 404


def test_without_ratings_the_way_out_is_said(served):
    client, _, people = served
    for file in (client.app.state.services.settings.data_folder / "ratings").glob("*"):
        file.unlink()
    asked = client.get("/v1/rounds/spring/recommendations", headers=people[SIDES[0]])
    assert asked.status_code == 409
    assert asked.json() == {"error": "there are no ratings on this server: the operator can upload some"}


def test_ratings_of_strangers_are_the_operators_matter_and_name_nobody(served):
    client, operator, people = served
    uploaded = client.put("/v1/ratings", content="user,item,rating\nzoe,waltz,1\nyan,tango,1\n", headers=operator)
    assert uploaded.status_code == 200
    asked = client.get("/v1/rounds/spring/recommendations", headers=people[SIDES[0]])
    assert asked.status_code == 409
    assert asked.json() == {"error": "the ratings have no user of this tree: the operator has to upload ratings of its users"}


def test_what_the_documentation_backs_up_is_enough(served, tmp_path):
    client, operator, people = served
    client.put("/v1/ratings", content=RATINGS, headers=operator)
    before = client.get("/v1/rounds/spring/recommendations", headers=people[SIDES[0]]).json()
    folder = client.app.state.services.settings.data_folder
    said = (Path(__file__).parents[4] / "docs" / "operate.md").read_text().split("## Backups")[1].split("\n## ")[0]
    for name in ("releases", "ratings"):
        assert f"/var/lib/privact/{name} " in said
        shutil.copytree(folder / name, tmp_path / name)
    assert "/var/lib/privact/signing-key /var/backups/privact/" in said
    shutil.copy2(folder / "signing-key", tmp_path / "signing-key")
    with (
        closing(sqlite3.connect(folder / "privact.sqlite3")) as source,
        closing(sqlite3.connect(tmp_path / "privact.sqlite3")) as copy,
    ):
        source.backup(copy)
    assert {path.name for path in folder.iterdir() if path.is_dir() and f"`{path.name}`" not in said} == set()
    with TestClient(create_app(Settings(data_folder=tmp_path, operator_token=OPERATOR, ratings_verb="play"))) as restored:
        assert restored.get("/v1/rounds/spring/recommendations", headers=people[SIDES[0]]).json() == before


def test_ratings_are_looked_at_before_they_are_used_and_deleted_again(served):
    client, operator, _ = served
    text = operator | {"Content-Type": "text/csv"}
    client.put("/v1/ratings", content=RATINGS, headers=text)
    looked = client.put("/v1/ratings?preview=true", content="user,item,rating\nnobody,waltz,1\n", headers=text).json()
    assert (looked["users"], looked["enrolled"]) == (1, 0)
    assert client.get("/v1/ratings", headers=operator).json()["users"] == 118  # nothing was replaced
    labels = client.get("/v1/ratings/labels?groups=2", headers=operator).text
    assert len({line.split("\t")[-1] for line in labels.splitlines()[-118:]}) == 2
    assert client.delete("/v1/ratings", headers=operator).status_code == 204
    assert client.get("/v1/ratings", headers=operator).status_code == 409
    client.put("/v1/ratings", content=RATINGS, headers=text)


def test_recommendations_are_measured_beside_the_most_popular_items(served):
    client, operator, _ = served
    client.put("/v1/ratings", content=RATINGS, headers=operator | {"Content-Type": "text/csv"})
    found = client.get("/v1/rounds/spring/recommendations/quality", headers=operator).json()
    assert found["users"] == 118
    assert found["ndcg"] >= found["ndcg_popular"]


def test_settings_are_chosen_once_for_a_round_and_its_ratings(served, monkeypatch):
    client, operator, people = served
    client.put("/v1/ratings", content=RATINGS, headers=operator)
    ask = lambda: client.get("/v1/rounds/spring/recommendations", headers=people[SIDES[0]]).json()  # noqa: E731
    before, service = ask(), client.app.state.services.recommendations
    monkeypatch.setattr(recommendations, "_LONGEST_WAIT", 60.0)
    monkeypatch.setattr(validation, "choose_settings_for_tree", lambda *arguments: pytest.fail("chosen again"))
    for kept in (service._made, service._latest):
        kept.clear()  # as after a late joiner: the tree has changed, its recommender is made anew
    assert ask() == before


def test_one_request_waits_for_a_recommender_and_others_are_told_to_come_again(served, monkeypatch):
    """A request that waits holds one of the two threads of public queries."""
    client, operator, people = served
    client.put("/v1/ratings", content=RATINGS, headers=operator)
    service = client.app.state.services.recommendations
    for kept in (service._made, service._latest):
        kept.clear()
    begun, finish, make = threading.Semaphore(0), threading.Event(), recommendations.Recommendations._make
    monkeypatch.setattr(recommendations, "_LONGEST_WAIT", 60.0)
    monkeypatch.setattr(recommendations.Recommendations, "_make", lambda *given: finish.wait(60) and make(*given))
    acquire = service._waiting.acquire
    monkeypatch.setattr(service._waiting, "acquire", lambda **how: (acquire(**how), begun.release())[0])
    ask = lambda: client.get("/v1/rounds/spring/recommendations", headers=people[SIDES[0]])  # noqa: E731
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask)
        assert begun.acquire(timeout=60)
        assert ask().status_code == 409
        finish.set()
        assert waiting.result().status_code == 200


def test_a_large_tree_gives_the_older_list_at_once(served, monkeypatch):
    client, operator, people = served
    client.put("/v1/ratings", content=RATINGS, headers=operator)
    ask = lambda: client.get("/v1/rounds/spring/recommendations", headers=people[SIDES[0]])  # noqa: E731
    before = ask().json()
    finish, make = threading.Event(), recommendations.Recommendations._make
    monkeypatch.setattr(recommendations, "_SMALL", 100)
    monkeypatch.setattr(recommendations, "_PATIENCE", 3600.0)
    monkeypatch.setattr(recommendations.Recommendations, "_make", lambda *given: finish.wait(60) and make(*given))
    client.put("/v1/ratings", content="user,item\n" + "".join(f"{user},samba\n" for user in SIDES[5:8]), headers=operator)
    assert ask().json() == before
    finish.set()
