"""Late joiners get the place that their report alone decides, in a tree in which nobody else moves."""

from __future__ import annotations

import os
import signal

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from privact.aggregator.domain.release import count_joiners_in, record_release, sha256_of
from privact.aggregator.domain.round_evidence import stored_reports as reports_of
from privact.aggregator.http.app import create_app
from privact.aggregator.jobs import supervisor as supervisor_module
from privact.aggregator.jobs.joiner_jobs import JoinerJobs
from privact.aggregator.jobs.learning import learn_stored_round, read_stored_table
from privact.aggregator.jobs.placing import join_late
from privact.aggregator.jobs.supervisor import Supervisor
from privact.aggregator.storage import schema
from privact.aggregator.storage.stored_reports import read_all, read_round
from privact.learn.pipeline import embed_rounds, fit_evidence
from privact.learn.place_finder import PlaceFinder
from privact.protocol.users import user_digest
from privact.tree.hct import HierarchicalClusterTree

ZOE, YAN, XIA = {"zoe@late.example": [41, 39, 40]}, {"yan@late.example": [2, 2, 1]}, {"xia@late.example": [40, 40, 41]}


@pytest.fixture
def released(stored_reports):
    """A released round of 120 users, learned in this process."""

    def make(name="data"):
        stored = stored_reports(name)
        url = stored.settings.database_url
        stored.settings.releases_folder.mkdir()
        round = read_round(url, "spring")
        table = read_stored_table(url, round, stored.settings.data_folder / "table")
        learn_stored_round(url, round, table).tree.save(stored.release)
        with stored.store.write() as connection:
            connection.execute(update(schema.rounds).values(state="learning"))
        record_release(stored.store, "spring", sha256_of(stored.release), 120)
        return stored

    return make


@pytest.fixture
def supervisor_of():
    """Start a supervisor for a released round; all of them are stopped at the end."""
    started = []

    def start(stored):
        supervisor = Supervisor(stored.store, stored.settings)
        supervisor.start()
        started.append(supervisor)
        return supervisor

    yield start
    for supervisor in started:
        supervisor.stop()


def placed(stored, n_joiners):
    """Wait until so many joiners are in the tree; the tree."""
    stored.wait(lambda: count_joiners_in(stored.joined, stored.row.digest) == n_joiners)
    return HierarchicalClusterTree.load(stored.joined)


def test_joiners_stand_among_their_like_and_nobody_else_moves(released, supervisor_of):
    stored = released()
    before = stored.release.read_bytes()
    stored.join_late(ZOE | YAN)
    supervisor = supervisor_of(stored)
    tree = placed(stored, 2)
    early = [user for user, _ in tree.nearest("zoe@late.example", 20)]
    assert all(user.endswith("@many.example") for user in early)
    assert all(user.endswith("@few.example") for user, _ in tree.nearest("yan@late.example", 20))
    assert stored.release.read_bytes() == before
    alone = HierarchicalClusterTree.load(stored.release)
    kept = [user for user in list(tree.users) if "late" not in user]
    assert kept == list(alone.users)
    assert without_joiners(tree, 120) == clusters(alone)

    process = supervisor.joiners.process
    stored.join_late(XIA)
    supervisor.wake()
    assert list(placed(stored, 3).users)[120:] == sorted([*ZOE, *YAN, *XIA], key=user_digest)
    assert supervisor.joiners.process == process  # which knows the reports already


def clusters(tree):
    """Every cluster of more than one user, as a set of leaves."""
    slices = zip(tree.start[tree.n_users :].tolist(), tree.size[tree.n_users :].tolist(), strict=True)
    return {frozenset(tree.order[start : start + size].tolist()) for start, size in slices}


def without_joiners(tree, n_early):
    """The clusters that are left when late leaves are dropped."""
    left = {frozenset(leaf for leaf in cluster if leaf < n_early) for cluster in clusters(tree)}
    return {cluster for cluster in left if len(cluster) > 1}


def test_neither_the_order_nor_a_restart_nor_a_lost_file_changes_a_place(released, supervisor_of):
    apart = released()
    apart.join_late(XIA)
    first = supervisor_of(apart)
    placed(apart, 1)
    first.stop()
    assert [path.name for path in apart.joined.parent.iterdir()] == ["spring.hct"]
    apart.joined.unlink()
    apart.join_late(YAN)
    apart.join_late(ZOE)
    supervisor_of(apart)
    placed(apart, 3)
    assert apart.joined.read_bytes() == together(apart).read_bytes()


def together(stored):
    """The tree with all late joiners placed at once, in this process."""
    url = stored.settings.database_url
    round, (names, late) = read_round(url, "spring"), read_all(url, "spring", late=True)
    in_time, too_late = (reports_of(url, round, *some) for some in (read_all(url, "spring"), (names, late)))
    evidence = fit_evidence(in_time, "counts")
    early, newcomers = (embed_rounds(evidence, [some]) for some in (in_time, too_late))
    path = stored.settings.data_folder / "together.hct"
    tree = HierarchicalClusterTree.load(stored.release)
    join_late(tree, PlaceFinder(tree, early), newcomers, names).save(path)
    return path


def test_a_supervisor_that_finds_everyone_placed_starts_no_process(released, supervisor_of, monkeypatch):
    stored = released()
    stored.join_late(ZOE)
    stored.joined.parent.mkdir()
    HierarchicalClusterTree.load(stored.release).with_leaves([0], list(ZOE)).save(stored.joined)
    asked = []
    monkeypatch.setattr(JoinerJobs, "run", lambda self, round_id: asked.append(round_id))
    supervisor = supervisor_of(stored)
    stored.wait(lambda: supervisor.joiners._n_placed == {"spring": 1})
    stored.join_late(YAN)
    supervisor.wake()
    stored.wait(lambda: asked != [])
    assert asked[0] == "spring"


def test_a_process_that_stops_is_replaced_after_a_pause(released, supervisor_of, monkeypatch):
    monkeypatch.setattr(supervisor_module, "_POLL", 0.01)
    stored = released()
    stored.join_late(ZOE)
    supervisor = supervisor_of(stored)
    stored.wait(lambda: supervisor.joiners.process is not None)
    os.kill(supervisor.joiners.process, signal.SIGKILL)
    stored.wait(lambda: "spring" in supervisor.joiners._not_before)
    assert supervisor.joiners.waiting() == []
    assert not stored.joined.exists()
    supervisor.joiners._not_before.clear()  # the pause is over
    placed(stored, 1)


def test_the_api_marks_who_joined_late_and_says_who_is_being_placed(released):
    stored = released()
    app = create_app(stored.settings)
    with TestClient(app) as client:

        def get(path):
            return client.get(f"/v1/rounds/spring/tree{path}")

        assert get("/nearest?user=zoe@late.example").status_code == 404
        app.state.services.supervisor.stop()
        stored.join_late(ZOE)
        waiting = get("/nearest?user=zoe@late.example")
        assert (waiting.status_code, waiting.headers["retry-after"]) == (409, "2")
        assert waiting.json() == {"error": "user 'zoe@late.example' joined late and is being placed: ask again soon"}

        app.state.services.supervisor.start()
        stored.wait(lambda: get("/path?user=zoe@late.example").status_code == 200)
        near = get("/nearest?user=zoe@late.example&m=3").json()
        assert near["joined_late"] is True
        assert [each["joined_late"] for each in near["nearest"]] == [False, False, False]
        everybody = get("/community?user=user0@few.example&size=121&limit=1000").json()["users"]
        assert [each["user"] for each in everybody if each["joined_late"]] == ["zoe@late.example"]
        assert sum(cluster["size"] for cluster in get("/cut?k=5").json()["clusters"]) == 121
        assert get("").json()["joined_late"] == 1
