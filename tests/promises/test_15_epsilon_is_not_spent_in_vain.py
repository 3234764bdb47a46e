"""Promise 15. Epsilon is spent only on reports that can still come in time, and only after a person said yes.

A device is asked at every second of the last minutes before the close: either its report arrives in time, or nothing is charged.
"""

from __future__ import annotations

import pytest

from privact.device.slots import RESERVE, WINDOW

CONTACTS = ["bob@a.example"]


@pytest.mark.parametrize("before", [1, 10, 29, 31, 45, 60, 90, 119, 150, 300, 599, 601])
def test_what_is_charged_near_the_close_arrives_in_time(server, make_device, before: int) -> None:
    for attempt in range(5):
        device = make_device(f"{before}-{attempt}")
        round = server.announce(id=f"round{attempt}")
        server.now = round.closes - before
        asked = server.now

        def sleep(seconds: float) -> None:
            server.now += seconds  # the clock goes on while the device waits for its slot

        device.sleep = sleep
        _, outcomes = device.answer(CONTACTS, window=WINDOW, only=round.id)
        spent = device.ledger.read().spent
        if spent:
            assert [outcome.outcome for outcome in outcomes] == ["accepted"]
            assert server.now <= round.closes - RESERVE
        assert bool(spent) == (before >= RESERVE)
        server.now = asked + before - 1000  # back to the time of announcing
        server.reports.clear()
        server.rounds.clear()


def test_late_joiners_have_their_own_close(server, device) -> None:
    round = server.announce(joiner_seconds=500)
    server.late.add("spring")
    server.now = round.closes + 490
    proposals, outcomes = device.answer(CONTACTS, window=WINDOW)
    assert "closes in 10 s, and a report needs 30 s" in proposals[0].refusal
    assert (outcomes, device.ledger.read().spent) == ([], 0)
    server.now = round.closes + 400
    assert [outcome.outcome for outcome in device.answer(CONTACTS, window=WINDOW)[1]] == ["accepted"]
