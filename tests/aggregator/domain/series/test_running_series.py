"""The life of a series, on both databases: rounds follow each other once, whoever stops, dies or comes late."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from privact.aggregator.domain.enrolment import enrol
from privact.aggregator.domain.leases import take_lease
from privact.aggregator.domain.refusals import NotFound, WrongState
from privact.aggregator.domain.release import fail_round, record_release
from privact.aggregator.domain.rounds import close_due, delete_draft, keep_labels, open_round
from privact.aggregator.domain.series.running_series import create_series, is_last, open_next, stop_series
from privact.aggregator.domain.series.series_descriptions import describe_series, list_series
from privact.aggregator.domain.signed_rounds import read_log
from privact.aggregator.http.prometheus import Metrics
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import label_tables, rounds
from privact.errors import InputError
from privact.learn.evidence.series.round_bins import choose_first_bins
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round
from privact.protocol.round_series import Series

NOW, KEY = 1_000_000, bytes(range(32))
USERS = [f"user{number}" for number in range(20)]
WISH = {
    "name": "autumn", "epsilon": 3.0, "rounds": 3, "every_seconds": 100, "n_bins": None, "bins": "random", "joiner_seconds": 50,
    "search_seed": 7, "visibility": "public",
}  # fmt: skip
FOUND = {"figure": 9.5, "threshold": 4.0, "sees_communities": True, "groups": 2, "users": 20, "rounds": [1]}
GROUPS = LabelTable.from_labels({user: place % 2 for place, user in enumerate(USERS)}, 2, key=bytes(16))


@pytest.fixture
def store(database_url):
    store = Store.open(database_url)
    enrol(store, USERS, NOW - 10)
    yield store
    store.close()


@pytest.fixture
def running(store):
    """A series whose first round is closed and held by server "one"."""
    create_series(store, WISH, NOW)
    open_round(store, "autumn.1", NOW, 3, KEY)
    assert close_due(store, NOW + 100) == ["autumn.1"]
    assert take_lease(store, "autumn.1", "one")
    return store


def states(store):
    return [(each["id"], each["state"]) for each in describe_series(store, "autumn", drafts=True)["members"]]


def next_round(store, round_id="autumn.1", holder="one", now=NOW + 110):
    return open_next(store, round_id, holder, KEY, FOUND, GROUPS, now)


def test_a_series_begins_as_a_draft_with_its_first_round(store):
    create_series(store, WISH, NOW)
    found = describe_series(store, "autumn", drafts=True)
    assert (found["state"], found["epsilon_per_round"], found["asked"]) == ("draft", 1.0, 0.0)
    assert states(store) == [("autumn.1", "draft")]
    assert list_series(store, drafts=False) == []
    with pytest.raises(NotFound, match="no series 'autumn'"):
        describe_series(store, "autumn", drafts=False)
    open_round(store, "autumn.1", NOW, 3, KEY)
    with store.read() as connection:
        parameters = connection.execute(select(rounds.c.parameters)).scalar_one()
    round = Round.from_bytes(parameters)
    assert (round.series, round.series_number) == (Series("autumn", 3, 3.0), 1)
    assert (round.n_bins, round.closes) == (choose_first_bins(round.epsilon_report, 20), NOW + 100)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [({"name": "-x"}, "series name"), ({"rounds": 1}, "2 to 100"), ({"epsilon": 0.02}, "below 0.01: .* or fewer rounds")],
)
def test_a_series_that_cannot_be_is_refused(store, changes, complaint):
    with pytest.raises(InputError, match=complaint):
        create_series(store, WISH | changes, NOW, minimum_epsilon=0.01)


def test_a_name_is_used_once(store):
    create_series(store, WISH, NOW)
    with pytest.raises(WrongState, match="choose another name"):
        create_series(store, WISH, NOW)


def test_labels_are_the_bins_of_the_first_round(store):
    create_series(store, WISH | {"bins": "labels"}, NOW)
    keep_labels(store, "autumn.1", '{"user0": "a", "user1": "b"}')
    open_round(store, "autumn.1", NOW, 3, KEY)
    assert describe_series(store, "autumn", drafts=False)["members"][0]["n_bins"] == 2


def test_the_next_round_is_opened_with_the_groups_signed_and_logged(running):
    enrol(running, ["newcomer"], NOW + 105)
    assert next_round(running) == "autumn.2"
    assert states(running) == [("autumn.1", "closed"), ("autumn.2", "open")]
    with running.read() as connection:
        row = connection.execute(select(rounds).where(rounds.c.id == "autumn.2")).one()
        table = connection.execute(select(label_tables.c.bytes).where(label_tables.c.round_id == "autumn.2")).scalar_one()
        logged = [Round.from_bytes(entry.parameters) for entry in read_log(connection, KEY).entries]
    round = Round.from_bytes(row.parameters)
    assert (round.opens, round.closes, round.n_users, round.epsilon) == (NOW + 110, NOW + 210, 21, 1.0)
    assert LabelTable.from_bytes(table, round.labels_digest).n_labels == round.n_bins == 2
    assert logged[-1] == round
    assert row.last_serial == 21  # who enrolled between the rounds takes part
    found = describe_series(running, "autumn", drafts=False)
    assert (found["asked"], found["evidence"], found["state"]) == (2.0, FOUND, "running")
    assert found["finding"].startswith("the reports tell who")


def test_a_round_is_followed_once_and_only_by_the_server_that_holds_it(running):
    assert next_round(running, holder="two") is None
    assert states(running) == [("autumn.1", "learning")]
    assert next_round(running) == "autumn.2"
    assert not take_lease(running, "autumn.1", "two")  # settled, though its state is closed again
    assert next_round(running) is None
    assert [each[0] for each in states(running)] == ["autumn.1", "autumn.2"]


def test_stopping_closes_the_open_round_and_makes_it_the_last(running):
    next_round(running)
    assert not is_last(running, "autumn.2")
    stop_series(running, "autumn", NOW + 120)
    assert is_last(running, "autumn.2")
    assert states(running) == [("autumn.1", "closed"), ("autumn.2", "closed")]
    assert take_lease(running, "autumn.2", "one")
    assert next_round(running, "autumn.2") is None
    assert record_release(running, "autumn.2", bytes(32), 20) is False  # it went back to closed
    assert take_lease(running, "autumn.2", "one")
    assert record_release(running, "autumn.2", bytes(32), 20, "one", FOUND | {"sees_communities": False})
    found = describe_series(running, "autumn", drafts=False)
    assert (found["state"], found["release"], found["asked"]) == ("released", "autumn.2", 2.0)
    assert found["finding"].startswith("the reports tell how many contacts users have, not who they are")
    with pytest.raises(WrongState, match="has ended already"):
        stop_series(running, "autumn", NOW + 130)


def test_stopping_while_groups_are_inferred_opens_no_further_round(running):
    stop_series(running, "autumn", NOW + 105)
    assert next_round(running) is None
    assert states(running) == [("autumn.1", "closed")]
    assert take_lease(running, "autumn.1", "one")  # now as the last one


def test_stopping_lets_a_series_whose_newest_round_failed_end_with_the_rounds_before(running):
    next_round(running)
    close_due(running, NOW + 210)
    assert fail_round(running, "autumn.2", "3 reports are fewer than the 10 that a round needs")
    assert describe_series(running, "autumn", drafts=False)["state"] == "failed"
    stop_series(running, "autumn", NOW + 220)
    assert states(running)[1] == ("autumn.2", "closed")
    assert describe_series(running, "autumn", drafts=False)["state"] == "learning"


def test_a_draft_that_is_stopped_is_never_opened_again_by_itself(store):
    create_series(store, WISH, NOW)
    stop_series(store, "autumn", NOW)
    assert describe_series(store, "autumn", drafts=True)["state"] == "stopped"


def test_a_draft_that_is_deleted_frees_the_name(store):
    create_series(store, WISH, NOW)
    delete_draft(store, "autumn.1")
    with pytest.raises(NotFound):
        describe_series(store, "autumn", drafts=True)
    create_series(store, WISH, NOW)


def test_the_last_round_is_the_last(running):
    next_round(running)
    close_due(running, NOW + 210)
    take_lease(running, "autumn.2", "one")
    assert next_round(running, "autumn.2", now=NOW + 220) == "autumn.3"
    assert is_last(running, "autumn.3")
    with running.write() as connection:
        connection.execute(update(rounds).where(rounds.c.id == "autumn.3").values(state="closed"))
    take_lease(running, "autumn.3", "one")
    assert next_round(running, "autumn.3", now=NOW + 400) is None
    assert len(states(running)) == 3


def test_a_round_that_was_followed_is_not_counted_as_waiting_for_its_tree(running):
    counted = Metrics(running, lambda: 0.0)
    assert b'privact_rounds{state="learning"} 1.0' in counted.text()
    next_round(running)
    assert b'privact_rounds{state="closed"} 0.0' in counted.text()
    assert b'privact_rounds{state="followed"} 1.0' in counted.text()
