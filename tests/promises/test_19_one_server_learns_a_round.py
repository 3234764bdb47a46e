"""Promise 19: of several servers on one database one learns a round, a dead one is replaced, and only its result counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from privact.aggregator.domain.leases import LEASE_SECONDS, prolong_lease, take_lease
from privact.aggregator.domain.release import fail_round, record_release
from privact.aggregator.domain.rounds import retry_round
from privact.aggregator.jobs.supervisor import Supervisor
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import reports, rounds, users
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.protocol.users import user_digest

SPRING = Round(id="spring", epsilon=4.0, n_bins=2, n_users=12, seed=bytes(32), opens=1, closes=1000)


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """A database with one closed round of twelve users."""
    store = Store.open(database_url)
    names = [f"user{number}" for number in range(12)]
    with store.write() as connection:
        for serial, name in enumerate(names, 1):
            row = {"digest": user_digest(name), "id": name, "token_sha256": bytes(32), "enrolled": 1, "serial": serial}
            connection.execute(insert(users).values(row))
        closed = {
            "id": "spring", "state": "closed", "settings": "{}", "parameters": SPRING.to_bytes(), "digest": SPRING.digest(),
            "n_users": 12, "last_serial": 12, "opens": 1, "closes": 1000, "joiners_until": 1000, "n_reports": 12, "created": 1,
            "opened": 1, "closed": 1000, "search_seed": 7, "profile": "counts",
        }  # fmt: skip
        connection.execute(insert(rounds).values(closed))
        for number, name in enumerate(names):
            report = Report.bind(SPRING, name, [number, 12 - number])
            row = {"round_id": "spring", "user": report.user, "bytes": report.to_bytes(), "received": 5, "late": False}
            connection.execute(insert(reports).values(row))
    yield store
    store.close()


def state(store: Store) -> tuple[str, str | None]:
    with store.read() as connection:
        row = connection.execute(select(rounds.c.state, rounds.c.lease_holder)).one()
    return row.state, row.lease_holder


def run_out(store: Store) -> None:
    """Let the lease of the round be over."""
    with store.write() as connection:
        connection.execute(update(rounds).values(lease_until=store.seconds(connection) - 1))


def test_a_round_has_one_holder_until_its_lease_is_over(store: Store) -> None:
    assert take_lease(store, "spring", "one", stage="starting")
    assert state(store) == ("learning", "one")
    assert not take_lease(store, "spring", "two")
    assert take_lease(store, "spring", "one")  # a restarted server goes on at once
    assert prolong_lease(store, "spring", "one")
    run_out(store)
    assert take_lease(store, "spring", "two")
    assert not prolong_lease(store, "spring", "one")


def test_results_are_taken_from_the_holder_only(store: Store) -> None:
    take_lease(store, "spring", "one")
    run_out(store)
    take_lease(store, "spring", "two")
    assert not fail_round(store, "spring", "the process of one died", holder="one")
    assert not record_release(store, "spring", bytes(32), 12, holder="one")
    assert state(store) == ("learning", "two")
    assert record_release(store, "spring", bytes(32), 12, holder="two")
    assert state(store) == ("released", None)


def test_a_failed_round_is_learned_again_when_the_operator_asks(store: Store) -> None:
    take_lease(store, "spring", "one")
    assert fail_round(store, "spring", "no luck", holder="one")
    assert not take_lease(store, "spring", "one")
    retry_round(store, "spring")
    assert state(store) == ("closed", None)
    assert take_lease(store, "spring", "two")


@pytest.fixture
def server(store: Store, tmp_path: Path) -> Iterator[Callable[[str], Supervisor]]:
    """Servers with folders of their own on the database."""
    started: list[Supervisor] = []

    def start(name: str) -> Supervisor:
        folder = tmp_path / name
        folder.mkdir()
        url = store.url.render_as_string(hide_password=False)
        started.append(Supervisor(store, Settings(data_folder=folder, database=url, minimum_users=2)))
        started[-1].start()
        return started[-1]

    yield start
    for supervisor in started:
        supervisor.stop()


def test_two_servers_learn_a_round_once(
    store: Store, server: Callable[[str], Supervisor], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", "privact"):
        server("one")
        server("two")
        for _ in range(2400):
            if state(store)[0] != "closed" and state(store)[0] != "learning":
                break
            time.sleep(0.05)
    assert state(store) == ("released", None)
    assert [record.message for record in caplog.records].count("learning a round") == 1
    assert sum((tmp_path / name / "releases" / "spring.hct").exists() for name in ("one", "two")) == 1


def test_a_server_that_is_silent_for_longer_than_the_lease_is_replaced(
    store: Store, server: Callable[[str], Supervisor], tmp_path: Path
) -> None:
    take_lease(store, "spring", "a server that died")
    supervisor = server("two")
    assert supervisor.learning.waiting() == []  # not before the lease is over
    with store.write() as connection:
        connection.execute(update(rounds).values(lease_until=store.seconds(connection) - LEASE_SECONDS))
    supervisor.wake()
    for _ in range(2400):
        if state(store)[0] == "released":
            break
        time.sleep(0.05)
    assert state(store) == ("released", None)
