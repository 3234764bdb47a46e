"""A round by shares and own labels: released, its evidence kept, and learned from the database to the same bytes."""

from __future__ import annotations

import time

import numpy as np
import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from privact.aggregator.domain.release import evidence_path
from privact.aggregator.domain.round_evidence import evidence_of, stored_reports
from privact.aggregator.http.app import create_app
from privact.aggregator.settings import Settings
from privact.aggregator.storage.stored_reports import read_all, read_round
from privact.cli.main import app
from privact.learn.evidence.share_posterior import SharePosterior
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.tree.hct import HierarchicalClusterTree

OPERATOR = "operator." + "o" * 43
USERS = [f"user{number}@{'left' if number % 2 else 'right'}.example" for number in range(60)]


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """The settings of a server that has released a round of profile shares+own. Contacts say nothing: labels do."""
    settings = Settings(data_folder=tmp_path_factory.mktemp("data"), operator_token=OPERATOR, report_rate=0, minimum_users=10)
    operator = {"Authorization": f"Bearer {OPERATOR}"}
    with TestClient(create_app(settings)) as client:
        tokens = client.post("/v1/users", json={"users": USERS}, headers=operator).json()["tokens"]
        wish = {"id": "spring", "epsilon": 2.0, "bins": "labels", "profile": "shares+own"}
        assert client.post("/v1/rounds", json=wish, headers=operator).status_code == 201
        lines = "".join(f"{user},{user.split('@')[1]}\n" for user in USERS)
        client.put("/v1/rounds/spring/labels", content=lines, headers=operator | {"Content-Type": "text/csv"})
        client.post("/v1/rounds/spring/open", headers=operator)
        round = Round.from_bytes(client.get("/v1/rounds/spring/parameters").content)
        for user in USERS:
            body = Report.bind(round, user, (9, 11)).to_bytes()
            headers = {"Authorization": f"Bearer {tokens[user]}"}
            assert client.put("/v1/rounds/spring/report", content=body, headers=headers).status_code == 201
        client.post("/v1/rounds/spring/close", headers=operator)
        for _ in range(2400):
            if client.get("/v1/rounds/spring").json()["state"] not in ("closed", "learning"):
                break
            time.sleep(0.05)
        assert client.get("/v1/rounds/spring").json()["state"] == "released"
    return settings


def test_users_are_compared_by_their_own_labels(released):
    tree = HierarchicalClusterTree.load(released.releases_folder / "spring.hct")
    assert tree.parameters["profile"] == "shares+own"
    sides = [{tree.users[leaf].split("@")[1] for leaf in np.flatnonzero(tree.cut(2) == half)} for half in range(2)]
    assert sorted(map(len, sides)) == [1, 1]


def test_the_command_line_learns_the_same_bytes(released, tmp_path):
    arguments = ["learn", "--reports", released.database_url, "--round", "spring", "-o", str(tmp_path / "tree.hct")]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert (result.exit_code, result.stderr) == (0, "")
    assert (tmp_path / "tree.hct").read_bytes() == (released.releases_folder / "spring.hct").read_bytes()
    CliRunner().invoke(app, [*arguments, "--profile", "shares"], catch_exceptions=False)
    assert HierarchicalClusterTree.load(tmp_path / "tree.hct").parameters["profile"] == "shares"


def test_evidence_is_kept_and_not_fitted_again(released, monkeypatch):
    url, folder = released.database_url, released.releases_folder
    stored = read_round(url, "spring")
    reports = stored_reports(url, stored, *read_all(url, "spring"))
    path = evidence_path(folder, "spring")
    kept = path.read_bytes()
    path.unlink()
    fitted = evidence_of(url, stored, folder)  # as for a release of an earlier version
    path.write_bytes(kept)
    monkeypatch.setattr(SharePosterior, "fit", None)
    found = evidence_of(url, stored, folder)
    rows = reports.table.matrix, reports.own_labels
    assert found.embed(*rows).points.tobytes() == fitted.embed(*rows).points.tobytes()
    assert found.expected_counts(rows[0]).tobytes() == fitted.expected_counts(rows[0]).tobytes()


def test_nothing_temporary_is_left(released):
    assert list((released.data_folder / "scratch").iterdir()) == []


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"profile": "who"}, "profile 'who' is unknown: use one of counts, shares, shares+own"),
        ({"profile": "shares+own"}, "needs bins 'labels'"),
    ],
)
def test_profiles_that_cannot_be_are_refused(released, wish, message):
    with TestClient(create_app(released)) as client:
        asked = {"id": "summer", "epsilon": 1.0, **wish}
        response = client.post("/v1/rounds", json=asked, headers={"Authorization": f"Bearer {OPERATOR}"})
        assert response.status_code == 400
        assert message in response.text
