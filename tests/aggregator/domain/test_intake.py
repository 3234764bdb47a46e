"""Reports: who may answer when, exactly once, on both databases."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert, select, update

from privact.aggregator.domain.access.tokens import Claim, sha256
from privact.aggregator.domain.enrolment import enrol, remove
from privact.aggregator.domain.intake import Arrival, Intake, layout_of
from privact.aggregator.domain.refusals import WrongState
from privact.aggregator.domain.rounds import close_round, create_round, find_round, open_round
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.report_counts import count_reports
from privact.aggregator.storage.schema import reports, rounds
from privact.errors import ProtocolError
from privact.protocol.report import Report, report_length
from privact.protocol.round import Round
from privact.protocol.users import user_digest

NOW = 1_000_000
WISH = {
    "id": "spring", "epsilon": 1.0, "n_bins": 3, "bins": "random", "opens": NOW + 10, "closes": NOW + 100, "joiner_seconds": 50,
    "search_seed": 0, "profile": "counts",
}  # fmt: skip


class Service:
    """A store with an open round, twenty users and a clock."""

    def __init__(self, url):
        self.store = Store.open(url)
        self.now = NOW + 10
        self.intake = Intake(self.store, lambda: self.now)
        self.tokens = enrol(self.store, [f"user{number}" for number in range(20)], NOW).tokens
        create_round(self.store, WISH, NOW)
        open_round(self.store, "spring", NOW, 10)
        self.round = Round.from_bytes(self.row.parameters)

    @property
    def row(self):
        with self.store.read() as connection:
            return find_round(connection, "spring")

    @property
    def stored(self):
        with self.store.read() as connection:
            return {row.user: row for row in connection.execute(select(reports))}

    def set_state(self, state):
        with self.store.write() as connection:
            connection.execute(update(rounds).values(state=state))

    def report(self, user, *vector):
        return Report.bind(self.round, user, vector or (1, 2, 3)).to_bytes()

    def arrival(self, user, body=None, *, round_id="spring", token=None):
        shown = Claim(user_digest(user), sha256((token or self.tokens[user]).encode()))
        return Arrival(round_id, shown, self.report(user) if body is None else body)

    def send(self, *arguments, **named):
        return self.intake.take([self.arrival(*arguments, **named)])[0]


@pytest.fixture
def service(database_url):
    service = Service(database_url)
    yield service
    service.store.close()


def test_a_report_is_stored_as_it_came_with_nothing_finer_than_a_second(service):
    service.now = NOW + 12.75
    decision = service.send("user1", service.report("user1", -5, 0, 7))
    assert (decision.outcome, decision.late) == ("accepted", False)
    (row,) = service.stored.values()
    assert row == ("spring", user_digest("user1"), service.report("user1", -5, 0, 7), NOW + 12, False)
    assert (service.row.n_reports, service.row.n_joiners) == (1, 0)


def test_the_same_bytes_again_are_not_stored_again_and_other_bytes_lose(service):
    assert service.send("user1").outcome == "accepted"
    assert service.send("user1").outcome == "again"
    other = service.send("user1", service.report("user1", 9, 9, 9))
    assert other.outcome == "different"
    assert "the first one stays" in other.message
    assert [row.bytes for row in service.stored.values()] == [service.report("user1")]
    assert service.row.n_reports == 1


def test_within_one_batch_the_first_wins_too(service):
    first, second = service.report("user1", 1, 1, 1), service.report("user1", 2, 2, 2)
    batch = [service.arrival("user1", body) for body in (first, second, first, second)]
    assert [decision.outcome for decision in service.intake.take(batch)] == ["accepted", "different", "again", "different"]
    assert [row.bytes for row in service.stored.values()] == [first]
    assert service.row.n_reports == 1


def test_a_batch_decides_for_each_in_its_place(service):
    batch = [
        service.arrival("user1"),
        service.arrival("user2", token="wrong"),
        service.arrival("user3", b"short"),
        service.arrival("user4", round_id="autumn"),
        service.arrival("user5"),
    ]
    outcomes = [decision.outcome for decision in service.intake.take(batch)]
    assert outcomes == ["accepted", "unauthorised", "malformed", "unknown round", "accepted"]
    assert set(service.stored) == {user_digest("user1"), user_digest("user5")}


def test_who_was_enrolled_answers_while_the_round_is_open(service):
    cases = [
        ("open", 9, "early"),
        ("open", 10, "accepted"),
        ("open", 99, "accepted"),
        ("open", 100, "closed"),  # whether or not anybody has closed it yet
        ("closed", 50, "closed"),
        ("learning", 50, "closed"),
        ("released", 50, "closed"),
        ("failed", 50, "closed"),
    ]
    for number, (state, seconds, outcome) in enumerate(cases):
        service.set_state(state)
        service.now = NOW + seconds
        assert service.send(f"user{number}").outcome == outcome, (state, seconds)
    assert set(service.stored) == {user_digest("user1"), user_digest("user2")}


def test_a_joiner_answers_once_the_tree_is_released(service):
    cases = [
        ("open", 50, "early"),
        ("closed", 120, "early"),
        ("learning", 120, "early"),
        ("released", 20, "accepted"),  # closed by hand before its time
        ("released", 149, "accepted"),
        ("released", 150, "closed"),
        ("learning", 150, "closed"),
        ("failed", 120, "closed"),
    ]
    service.tokens |= enrol(service.store, [f"joiner{number}" for number in range(len(cases))], NOW + 5).tokens
    for number, (state, seconds, outcome) in enumerate(cases):
        service.set_state(state)
        service.now = NOW + seconds
        decision = service.send(f"joiner{number}")
        assert (decision.outcome, decision.late) == (outcome, True), (state, seconds)
    assert {row.user: row.late for row in service.stored.values()} == {user_digest("joiner3"): True, user_digest("joiner4"): True}
    assert (service.row.n_reports, service.row.n_joiners) == (0, 2)


def test_what_was_accepted_stays_accepted_after_the_round_has_closed(service):
    service.send("user1")
    service.set_state("released")
    service.now = NOW + 10_000
    assert service.send("user1").outcome == "again"
    assert service.send("user1", service.report("user1", 0, 0, 0)).outcome == "different"
    assert service.send("user2").outcome == "closed"
    assert len(service.stored) == 1


def test_a_draft_is_not_there(service):
    create_round(service.store, WISH | {"id": "autumn"}, NOW)
    assert service.send("user1", round_id="autumn").outcome == "unknown round"


def test_an_id_that_no_round_can_have_is_not_looked_up(service):
    for name in ("", "a b", "\x00", "é", "x" * 65, "%00"):
        decision = service.send("user1", round_id=name)
        assert decision.outcome == "unknown round"
        assert decision.message.isprintable()


def test_an_unknown_user_and_a_wrong_token_are_the_same(service):
    arrival = Arrival("spring", Claim(user_digest("nobody"), sha256(b"x")), service.report("nobody"))
    assert service.intake.take([arrival])[0] == service.send("user1", token="x")


def test_a_removed_user_is_refused_even_with_the_old_token(service):
    remove(service.store, "user1", NOW)
    assert service.send("user1").outcome == "unauthorised"


def test_bytes_of_another_round_user_or_length_are_malformed_and_the_line_says_why(service):
    other_round = Round(id="other", epsilon=1.0, n_bins=3, n_users=20, seed=bytes(32))
    good = service.report("user1")
    for body, told in [
        (Report.bind(other_round, "user1", (1, 2, 3)).to_bytes(), "report answers round"),
        (service.report("user2"), "send your own report"),
        (good[:-1], "57 + 4 bytes each"),
        (b"", "are not a report"),
        (b"XXXX" + good[4:], "are not a report"),
        (good[:4] + b"\x02" + good[5:], "version 2"),
        (Report(service.round.digest(), user_digest("user1"), (1, 2)).to_bytes(), "has 2 entries"),
    ]:
        decision = service.send("user1", body)
        assert decision.outcome == "malformed"
        assert told in decision.message
    assert service.stored == {}


LAYOUT_ROUND = Round(id="spring", epsilon=1.0, n_bins=2, n_users=20, seed=bytes(32))
GOOD = Report.bind(LAYOUT_ROUND, "ada", (5, -5)).to_bytes()


@given(st.one_of(st.binary(max_size=80), st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255))))
def test_the_quick_check_takes_exactly_what_the_protocol_takes(change):
    if isinstance(change, bytes):
        body = change
    else:
        place, value = change
        body = GOOD[:place] + bytes([value]) + GOOD[place + 1 :]
    layout = layout_of(LAYOUT_ROUND.to_bytes())
    quick = layout.fits(body, user_digest("ada"))
    try:
        report = Report.from_bytes(body)
        report.require(LAYOUT_ROUND)
        slow = report.user == user_digest("ada")
    except ProtocolError:
        slow = False
    assert quick == slow
    assert layout.length == report_length(2) == len(GOOD)


def test_no_report_commits_after_the_close(service):
    """Many threads send while one closes: whatever was accepted is in the count that the close saw."""
    service.store.close()
    accepted, refused, counted = [], [], []

    def send(user):
        (accepted if service.send(user).outcome == "accepted" else refused).append(user)

    def close():
        close_round(service.store, "spring", NOW + 20)
        counted.append(len(service.stored))

    threads = [threading.Thread(target=send, args=(user,)) for user in service.tokens]
    threads.insert(10, threading.Thread(target=close))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accepted) + len(refused) == 20
    assert counted == [len(accepted)] == [service.row.n_reports] == [len(service.stored)]


def test_many_at_once_count_every_report_once(service):
    """Two servers on one database, every report sent to both by several threads."""
    other = Intake(Store(service.store.url.render_as_string(hide_password=False)), lambda: service.now)
    batch = [service.arrival(user) for user in service.tokens]
    outcomes = []

    def send(intake, arrivals):
        outcomes.extend(decision.outcome for decision in intake.take(arrivals))

    threads = [
        threading.Thread(target=send, args=(intake, arrivals))
        for intake in (service.intake, other)
        for arrivals in (batch, batch[::-1], batch[10:], batch[:10])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other._store.close()
    assert sorted(outcomes) == ["accepted"] * 20 + ["again"] * 100
    assert service.row.n_reports == len(service.stored) == 20


def _hold(store, entered, leave):
    """A batch of another server that has stored a report and does not commit."""
    with store.write() as connection:
        store.share_intake(connection)
        row = {"round_id": "spring", "user": user_digest("user0"), "bytes": b"other", "received": NOW, "late": False}
        connection.execute(insert(reports).values(row))
        count_reports(connection, "spring", -1, in_time=1, late=0)
        entered.set()
        leave.wait(60)


@pytest.fixture
def held(service):
    """A batch of another server that does not commit before the event is set; SQLite is for one server."""
    if service.store.is_sqlite:
        pytest.skip("SQLite is for one server")
    other = Store(service.store.url.render_as_string(hide_password=False))
    entered, leave = threading.Event(), threading.Event()
    thread = threading.Thread(target=_hold, args=(other, entered, leave))
    thread.start()
    entered.wait(60)
    yield leave
    leave.set()
    thread.join()
    other.close()


def test_a_server_does_not_wait_for_the_commit_of_another(service, held):
    assert service.send("user1").outcome == "accepted"
    held.set()


def test_a_close_waits_for_batches_under_way_and_counts_them(service, held):
    with ThreadPoolExecutor() as pool:
        closing = pool.submit(close_round, service.store, "spring", NOW + 20, 10)
        with pytest.raises(TimeoutError):
            closing.result(0.5)
        held.set()
        with pytest.raises(WrongState, match="has 1 of 20 reports"):
            closing.result(60)


def test_a_round_does_not_close_while_a_batch_is_decided(service):
    """The clock is read after the lock: while it is, a close waits."""
    deciding, go_on = threading.Event(), threading.Event()

    def clock():
        deciding.set()
        go_on.wait(60)
        return service.now

    with ThreadPoolExecutor() as pool:
        taking = pool.submit(Intake(service.store, clock).take, [service.arrival("user1")])
        deciding.wait(60)
        closing = pool.submit(close_round, service.store, "spring", NOW + 20)
        with pytest.raises(TimeoutError):
            closing.result(0.5)
        assert service.row.state == "open"
        go_on.set()
        assert [decision.outcome for decision in taking.result(60)] == ["accepted"]
        closing.result(60)
    assert (service.row.state, service.row.n_reports) == ("closed", 1)


def test_of_two_reports_of_a_user_at_two_servers_at_once_the_first_stays(service, held):
    """The second waits for the first, finds it stored and decides again; others of its batch do not suffer."""
    batch = [service.arrival(user) for user in ("user0", "user1")]
    with ThreadPoolExecutor() as pool:
        taking = pool.submit(service.intake.take, batch)
        with pytest.raises(TimeoutError):
            taking.result(0.5)
        held.set()
        assert [decision.outcome for decision in taking.result(60)] == ["different", "accepted"]
    assert service.row.n_reports == len(service.stored) == 2
