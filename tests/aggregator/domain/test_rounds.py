"""The life of a round, on both databases."""

from __future__ import annotations

import itertools
import threading

import pytest
from sqlalchemy import select, update

from privact.aggregator.domain.enrolment import enrol, remove
from privact.aggregator.domain.refusals import NotFound, WrongState
from privact.aggregator.domain.round_descriptions import describe, list_rounds, read_label_table
from privact.aggregator.domain.rounds import (
    advance,
    close_due,
    close_round,
    create_round,
    find_round,
    keep_labels,
    open_round,
)
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import STATES, label_tables, rounds
from privact.errors import InputError
from privact.protocol.labels import LabelTable
from privact.protocol.round import LAST_SECOND, Round

NOW = 1_000_000
WISH = {
    "id": "spring", "epsilon": 1.0, "n_bins": None, "bins": "random", "opens": None, "closes": NOW + 100, "joiner_seconds": 50,
    "search_seed": 7, "profile": "counts",
}  # fmt: skip


@pytest.fixture
def store(database_url):
    store = Store.open(database_url)
    enrol(store, [f"user{number}" for number in range(20)], NOW - 10)
    yield store
    store.close()


def row(store, name="spring"):
    with store.read() as connection:
        return find_round(connection, name)


def test_opening_fixes_the_parameters_for_everyone_enrolled_now(store):
    remove(store, "user3", NOW)
    create_round(store, WISH, NOW)
    assert (row(store).state, row(store).parameters) == ("draft", None)
    open_round(store, "spring", NOW + 1, 10)
    opened = row(store)
    fixed = Round.from_bytes(opened.parameters, opened.digest)
    assert (fixed.id, fixed.epsilon, fixed.n_users, fixed.bins) == ("spring", 1.0, 19, "random")
    assert fixed.n_bins == 2  # floor(ln 19)
    assert (fixed.opens, fixed.closes, fixed.joiner_seconds) == (NOW + 1, NOW + 100, 50)
    assert (opened.state, opened.n_users, opened.last_serial, opened.opened) == ("open", 19, 20, NOW + 1)
    assert (opened.opens, opened.closes, opened.joiners_until) == (NOW + 1, NOW + 100, NOW + 150)


def test_every_round_draws_its_own_bins(store):
    for name in ("one", "two"):
        create_round(store, WISH | {"id": name}, NOW)
        open_round(store, name, NOW, 10)
    one, two = (Round.from_bytes(row(store, name).parameters) for name in ("one", "two"))
    assert len(one.seed) == len(two.seed) == 32
    assert one.seed != two.seed


def test_a_round_without_a_closing_time_stays_open(store):
    create_round(store, WISH | {"closes": None, "joiner_seconds": 0}, NOW)
    open_round(store, "spring", NOW, 10)
    assert row(store).closes == LAST_SECOND
    assert describe(row(store))["closes"] is None
    assert close_due(store, LAST_SECOND - 1) == []


def test_a_round_may_open_later_but_not_earlier_than_now(store):
    for name, opens, expected in (("later", NOW + 10, NOW + 10), ("earlier", NOW - 10, NOW)):
        create_round(store, WISH | {"id": name, "opens": opens}, NOW)
        open_round(store, name, NOW, 10)
        assert row(store, name).opens == expected


def test_fewer_users_than_the_minimum_are_refused(store):
    create_round(store, WISH, NOW)
    with pytest.raises(WrongState, match="20 users are enrolled; a round needs at least 21: enrol more first"):
        open_round(store, "spring", NOW, 21)
    assert row(store).state == "draft"
    open_round(store, "spring", NOW, 20)


def test_a_draft_whose_time_is_over_cannot_be_opened(store):
    create_round(store, WISH, NOW)
    with pytest.raises(WrongState, match="would close on 12 January 1970, 13:48 UTC, before it opens on 12 January"):
        open_round(store, "spring", NOW + 100, 10)


def test_a_wish_that_no_round_can_fulfil_is_refused_at_once(store):
    nothing = [
        {"epsilon": 0.0},
        {"epsilon": float("nan")},
        {"closes": 5, "opens": 5},
        {"joiner_seconds": LAST_SECOND},
        {"n_bins": 2**17},
    ]
    for wrong in nothing:
        with pytest.raises(InputError):
            create_round(store, WISH | wrong, NOW)


def test_more_bins_than_users_are_refused_when_users_are_known(store):
    create_round(store, WISH | {"n_bins": 21}, NOW)
    with pytest.raises(InputError, match="n_bins is 21"):
        open_round(store, "spring", NOW, 10)
    assert row(store).state == "draft"


def test_an_id_is_used_once(store):
    create_round(store, WISH, NOW)
    with pytest.raises(WrongState, match="there is a round 'spring' already"):
        create_round(store, WISH, NOW)


def test_labels_make_the_bins(store):
    create_round(store, WISH | {"bins": "labels"}, NOW)
    with pytest.raises(WrongState, match="no labels yet"):
        open_round(store, "spring", NOW, 10)
    keep_labels(store, "spring", '{"user1": "x"}')
    keep_labels(store, "spring", '{"user1": "b", "user2": "a", "user3": "b"}')
    open_round(store, "spring", NOW, 10)
    table = LabelTable.from_bytes(read_label_table(store, "spring"))
    with store.read() as connection:
        assert connection.execute(select(label_tables.c.source)).scalar_one() is None
    fixed = Round.from_bytes(row(store).parameters)
    assert (fixed.bins, fixed.n_bins, fixed.labels_digest) == ("labels", 2, table.digest())
    assert table.labels_of(["user1", "user2", "user3", "user4"]).tolist() == [1, 0, 1, -1]
    with pytest.raises(WrongState, match="its labels are fixed"):
        keep_labels(store, "spring", '{"user1": "x"}')


def test_labels_are_for_rounds_that_have_them_and_must_fit(store):
    create_round(store, WISH, NOW)
    with pytest.raises(WrongState, match="has random bins"):
        keep_labels(store, "spring", '{"user1": "x"}')
    create_round(store, WISH | {"id": "summer", "bins": "labels", "n_bins": 3}, NOW)
    keep_labels(store, "summer", '{"user1": "x"}')
    with pytest.raises(WrongState, match="the labels are 1, but n_bins is 3"):
        open_round(store, "summer", NOW, 10)


def test_closing_is_by_hand_or_by_the_clock_and_happens_once(store):
    for name in ("hand", "clock"):
        create_round(store, WISH | {"id": name}, NOW)
        open_round(store, name, NOW, 10)
    close_round(store, "hand", NOW + 5)
    with pytest.raises(WrongState, match="round 'hand' is closed, not open"):
        close_round(store, "hand", NOW + 6)
    assert close_due(store, NOW + 99) == []
    assert close_due(store, NOW + 100) == ["clock"]
    assert close_due(store, NOW + 101) == []
    assert (row(store, "hand").closed, row(store, "clock").closed) == (NOW + 5, NOW + 100)


def test_of_many_who_close_a_round_one_does(store):
    create_round(store, WISH, NOW)
    open_round(store, "spring", NOW, 10)
    done = []

    def close(number):
        try:
            close_round(store, "spring", NOW + number)
            done.append(number)
        except WrongState:
            done.extend([number] * len(close_due(store, NOW + 1000)))

    threads = [threading.Thread(target=close, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 1
    assert row(store).closed in (NOW + done[0], NOW + 1000)


def test_of_many_who_open_a_round_one_does(store):
    create_round(store, WISH, NOW)
    opened, refused = [], []

    def open_it(number):
        try:
            open_round(store, "spring", NOW + number, 10)
            opened.append(number)
        except WrongState as refusal:
            refused.append(type(refusal))

    threads = [threading.Thread(target=open_it, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(opened), refused) == (1, [WrongState] * 7)
    assert Round.from_bytes(row(store).parameters, row(store).digest).opens == NOW + opened[0]


def test_a_round_goes_forward_and_only_a_failed_one_back(store):
    create_round(store, WISH, NOW)
    forward = {
        ("draft", "open"),
        ("open", "closed"),
        ("closed", "learning"),
        ("closed", "failed"),
        ("learning", "released"),
        ("learning", "failed"),
        ("failed", "closed"),  # when the operator has it learned again
    }
    for before, after in itertools.product(STATES, STATES):
        with store.write() as connection:
            connection.execute(update(rounds).values(state=before))
            if (before, after) in forward:
                assert not advance(connection, "spring", after, before) if (after, before) in forward else True
                assert advance(connection, "spring", before, after)
                assert not advance(connection, "spring", before, after)
            else:
                with pytest.raises(ValueError, match="a round never goes from"):
                    advance(connection, "spring", before, after)


def test_a_round_that_is_not_there_is_not_found(store):
    for name in ("nowhere", "", "a b", "../x", "\x00", "é", "x" * 65):
        for act in (close_round, lambda store, name, now: open_round(store, name, now, 1)):
            with pytest.raises(NotFound, match="no round") as refused:
                act(store, name, NOW)
            assert str(refused.value).isprintable()


def test_rounds_are_listed_newest_first_and_drafts_only_if_asked_for(store):
    for created, name in enumerate(("one", "two", "three")):
        create_round(store, WISH | {"id": name}, NOW + created)
    open_round(store, "one", NOW, 10)
    open_round(store, "three", NOW, 10)
    assert [one["id"] for one in list_rounds(store, drafts=True)] == ["three", "two", "one"]
    assert [one["id"] for one in list_rounds(store, drafts=False)] == ["three", "one"]
