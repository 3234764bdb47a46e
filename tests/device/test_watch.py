"""A device that watches answers what was agreed to, leaves the rest to the person, and waits patiently."""

from __future__ import annotations

from itertools import islice

import pytest

from pretend_aggregator import ROUND
from privact.device.watch import Look, answer_agreed, watch
from privact.errors import AggregatorError, InputError, LedgerError
from privact.protocol.round_series import Series

CONTACTS = ["bob@a.example", "cleo@b.example"]
SERIES = Series("spring", 4, 1.0)


def announce(server, number: int) -> None:
    server.announce(ROUND, id=f"spring.{number}", epsilon=0.25, series=SERIES, series_number=number)


def look(device, contacts=lambda: CONTACTS) -> Look:
    with device.connection() as aggregator:
        clock = lambda: float(device.server.now)  # noqa: E731
        return answer_agreed(device.account, aggregator, contacts, window=0.0, reserve=30.0, clock=clock, sleep=device.sleep)


def test_rounds_of_an_agreed_series_are_answered_and_others_wait(server, device):
    announce(server, 1)
    assert look(device) == Look(waiting=("spring.1",))  # nobody has agreed yet
    device.answer(CONTACTS)  # the person agrees
    announce(server, 2)
    server.announce(ROUND, id="alone")
    seen = look(device)
    assert [(outcome.round_id, outcome.outcome, outcome.cost) for outcome in seen.outcomes] == [("spring.2", "accepted", 0.25)]
    assert seen.waiting == ("alone",)
    assert sorted(server.reports) == ["spring.1", "spring.2"]
    assert look(device) == Look(waiting=("alone",))


def test_a_series_that_changed_is_not_answered(server, device):
    announce(server, 1)
    device.answer(CONTACTS)
    dearer = Series("spring", 4, 2.0)
    server.announce(ROUND, id="spring.2", epsilon=0.5, series=dearer, series_number=2)
    ((refused, reason),) = look(device).refused
    assert (refused, reason.partition(",")[0]) == ("spring.2", "series spring was agreed on with 4 rounds and epsilon 1 in all")
    assert sorted(server.reports) == ["spring.1"]


def test_contacts_are_not_read_when_there_is_nothing_to_answer(server, device):
    def read():
        raise AssertionError

    assert look(device, read) == Look()


def test_failures_are_told_and_tried_again_with_growing_pauses():
    ends = iter([AggregatorError("down"), InputError("no file"), AggregatorError("down"), None, AggregatorError("down")])
    slept: list[float] = []

    def one() -> Look:
        if error := next(ends):
            raise error
        return Look()

    seen = list(islice(watch(one, every=3600.0, sleep=slept.append), 5))
    assert [each.problem for each in seen] == ["down", "no file", "down", "", "down"]
    bases = [60.0, 120.0, 240.0, 3600.0]
    assert all(base / 2 <= pause <= 1.5 * base for base, pause in zip(bases, slept, strict=True))


def test_a_broken_ledger_ends_it():
    def broken() -> Look:
        raise LedgerError("lost")

    with pytest.raises(LedgerError, match="lost"):
        next(watch(broken, every=1.0))
