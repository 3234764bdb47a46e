"""Closed rounds are learned in processes that may die, in servers that may stop, and end in the same release."""

from __future__ import annotations

import logging
import os
import signal

import pytest
from sqlalchemy import insert, select, update

from privact.aggregator.domain.release import sha256_of
from privact.aggregator.domain.rounds import retry_round
from privact.aggregator.jobs import learning_jobs
from privact.aggregator.jobs import supervisor as supervisor_module
from privact.aggregator.jobs.learning_jobs import ATTEMPTS
from privact.aggregator.jobs.supervisor import Supervisor
from privact.aggregator.storage import schema
from privact.protocol.users import user_digest
from privact.tree.hct import HierarchicalClusterTree


@pytest.fixture
def supervisor_of(monkeypatch):
    """Start a supervisor for stored reports; all of them are stopped at the end."""
    monkeypatch.setattr(learning_jobs, "_PAUSES", (0.01, 0.02))
    started = []

    def start(stored):
        supervisor = Supervisor(stored.store, stored.settings)
        supervisor.start()
        started.append(supervisor)
        return supervisor

    yield start
    for supervisor in started:
        supervisor.stop()


def gone(pid):
    """Whether a process has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_closed_round_is_learned_and_released_with_its_progress(stored_reports, supervisor_of):
    stored = stored_reports(order=range(110))
    stages = []

    def released():
        row = stored.row
        if row.state == "learning" and row.stage not in stages:
            stages.append(row.stage)
        return row.state == "released"

    supervisor_of(stored)
    stored.wait(released)
    assert stages[0] == "starting"
    assert {"denoising reports"} <= set(stages)
    row = stored.row
    assert (row.stage, row.done, row.total, row.failure) == (None, 0, 0, None)
    with stored.store.read() as connection:
        release = connection.execute(select(schema.releases)).one()
    assert release.digest == sha256_of(stored.release)
    assert (release.n_users, release.released) == (110, row.released)
    tree = HierarchicalClusterTree.load(stored.release)
    assert set(tree.users) == {f"user{user}@{'many' if user % 2 else 'few'}.example" for user in range(110)}  # who reported
    near = [user for user, _ in tree.nearest("user7@many.example", 20)]
    assert all(user.endswith("@many.example") for user in near)


def test_a_round_with_too_few_reports_is_failed_and_never_learned(stored_reports, supervisor_of):
    stored = stored_reports(order=range(99))
    supervisor_of(stored)
    stored.wait(lambda: stored.row.state == "failed")
    assert stored.row.failure == "99 reports are fewer than the 100 that a round needs"
    assert list(stored.settings.releases_folder.iterdir()) == []


def test_late_reports_do_not_count_for_the_minimum(stored_reports, supervisor_of):
    stored = stored_reports(order=range(99))
    stored.join_late({"zoe@late.example": [1, 1, 1]})
    supervisor_of(stored)
    stored.wait(lambda: stored.row.state == "failed")
    assert "99 reports" in stored.row.failure


def test_killed_processes_and_stopped_servers_change_nothing_in_the_release(stored_reports, supervisor_of):
    calm, rough = stored_reports("calm"), stored_reports("rough")
    supervisor_of(calm)
    calm.wait(lambda: calm.row.state == "released")

    first = supervisor_of(rough)
    rough.wait(lambda: rough.row.stage == "denoising reports")  # in the middle
    pid = first.learning.processes["spring"]
    first.stop()
    assert gone(pid)
    assert rough.row.state == "learning"
    assert list(rough.settings.releases_folder.iterdir()) == []

    second = supervisor_of(rough)  # the server starts again
    rough.wait(lambda: "spring" in second.learning.processes)
    os.kill(second.learning.processes["spring"], signal.SIGKILL)
    rough.wait(lambda: rough.row.state == "released")
    assert rough.release.read_bytes() == calm.release.read_bytes()
    assert [path.name for path in rough.settings.releases_folder.iterdir()] == ["spring.hct"]


def test_a_configured_cluster_learns_the_same_tree(stored_reports, supervisor_of):
    here, there = stored_reports("here"), stored_reports("there", learn_cluster="local:2")
    for stored in (here, there):
        supervisor_of(stored)
        stored.wait(lambda stored=stored: stored.row.state == "released")
    assert there.release.read_bytes() == here.release.read_bytes()


def test_a_cluster_that_does_not_answer_is_named(stored_reports, supervisor_of):
    stored = stored_reports(learn_cluster="nowhere:1:2")
    supervisor_of(stored)
    stored.wait(lambda: stored.row.state == "failed")
    assert "nowhere:1:2" in stored.row.failure


def test_a_round_whose_processes_always_die_fails_with_the_reason(stored_reports, supervisor_of):
    stored = stored_reports()
    supervisor = supervisor_of(stored)
    killed = set()

    def failed():
        pid = supervisor.learning.processes.get("spring")
        if pid is not None and pid not in killed:
            os.kill(pid, signal.SIGKILL)
            killed.add(pid)
        return stored.row.state == "failed"

    stored.wait(failed)
    assert len(killed) == ATTEMPTS
    assert stored.row.failure == "the learning process stopped 3 times, at last killed by SIGKILL: see the server's log"
    assert (stored.row.stage, stored.row.done) == (None, 0)
    assert list(stored.settings.releases_folder.iterdir()) == []


def test_what_cannot_be_learned_at_all_is_not_tried_again(stored_reports, supervisor_of, caplog):
    stored = stored_reports()
    damaged = update(schema.reports).where(schema.reports.c.user == user_digest("user3@many.example")).values(bytes=b"PC")
    with stored.store.write() as connection:
        connection.execute(damaged)
    with caplog.at_level(logging.INFO, "privact"):
        supervisor_of(stored)
        stored.wait(lambda: stored.row.state == "failed")
    assert "restore a backup: a report has 2 bytes, not the 69 of 3 bins" in stored.row.failure
    assert [record.message for record in caplog.records].count("learning a round") == 1


def test_a_round_waits_for_a_disk_that_cannot_be_written(stored_reports, supervisor_of, monkeypatch):
    monkeypatch.setattr(learning_jobs, "_RETRY", 0.1)
    stored = stored_reports()
    stored.release.mkdir(parents=True)  # in the way of the file
    supervisor_of(stored)
    stored.wait(lambda: stored.row.stage == "waiting to try again")
    assert stored.row.state == "learning"
    stored.release.rmdir()
    stored.wait(lambda: stored.row.state == "released")
    assert stored.release.is_file()


def test_drafts_of_a_server_that_was_killed_while_writing_are_removed(stored_reports, supervisor_of):
    stored = stored_reports(order=range(5))
    stored.settings.releases_folder.mkdir()
    (stored.settings.releases_folder / ".privact-0123456789abcdef.tmp").write_bytes(b"half")
    supervisor_of(stored)
    assert list(stored.settings.releases_folder.iterdir()) == []


def test_waking_finds_a_round_that_was_closed_just_now(stored_reports, supervisor_of, monkeypatch):
    monkeypatch.setattr(supervisor_module, "_POLL", 3600.0)
    stored = stored_reports(order=range(5))
    with stored.store.write() as connection:
        connection.execute(update(schema.rounds).values(state="open"))
    supervisor = supervisor_of(stored)
    with stored.store.write() as connection:
        connection.execute(update(schema.rounds).values(state="closed"))
    supervisor.wake()
    stored.wait(lambda: stored.row.state == "failed")


def test_several_rounds_wait_for_each_other(stored_reports, supervisor_of):
    stored = stored_reports(order=range(5))
    with stored.store.write() as connection:
        row = connection.execute(select(schema.rounds)).mappings().one()
        connection.execute(insert(schema.rounds).values({**row, "id": "autumn", "closed": 1}))
    supervisor_of(stored)

    def both_failed():
        with stored.store.read() as connection:
            return set(connection.execute(select(schema.rounds.c.state)).scalars()) == {"failed"}

    stored.wait(both_failed)


def test_stopping_without_work_and_starting_again(stored_reports):
    stored = stored_reports(order=range(5))
    supervisor = Supervisor(stored.store, stored.settings)
    supervisor.start()
    stored.wait(lambda: stored.row.state == "failed")
    supervisor.stop()
    supervisor.stop()
    supervisor.start()
    supervisor.stop()
    assert supervisor.learning.processes == {}


def test_a_round_of_a_tiny_epsilon_is_refused_with_the_reason(stored_reports, supervisor_of):
    stored = stored_reports(minimum_epsilon=5.0)  # the round has epsilon 4
    supervisor = supervisor_of(stored)
    stored.wait(lambda: stored.row.state == "failed")
    assert stored.row.failure == "epsilon 4 is below minimum_epsilon 5: its noise hides everything, open a round with more"
    assert supervisor.learning.processes == {}


def test_a_round_that_takes_too_long_fails_and_can_be_learned_with_more_time(stored_reports, supervisor_of):
    stored = stored_reports()
    patient = stored.settings
    stored.settings = patient.model_copy(update={"learn_seconds": 0})  # less than any process needs; settings allow 1 or more
    supervisor = supervisor_of(stored)
    stored.wait(lambda: stored.row.state == "failed")
    assert stored.row.failure == "learning took longer than learn_seconds 0: raise it, then privact round learn spring"
    assert list(stored.settings.releases_folder.iterdir()) == []
    supervisor.stop()
    stored.settings = patient
    retry_round(stored.store, "spring")
    supervisor_of(stored)
    stored.wait(lambda: stored.row.state == "released")
