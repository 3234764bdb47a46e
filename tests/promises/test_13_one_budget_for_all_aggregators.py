"""Promise 13. The lifetime budget belongs to the person's home, not to an address.

The same aggregator joined under two addresses gets the same bytes and is charged once. Aggregators that are really different
share the budget. A round over the seed and bins of an answered one is never answered with other noise.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest

from pretend_aggregator import NOW, ROUND, Device, PretendAggregator
from privact.errors import RefusedError
from privact.protocol.report import Report

CONTACTS = [f"user{number}@a.example" for number in range(30)]


@pytest.fixture
def twice(server: PretendAggregator, tmp_path) -> tuple[Device, Device]:
    """Two devices in one home: the same aggregator under two addresses."""
    return Device(server, tmp_path / "home"), Device(server, tmp_path / "home", "https://mirror.example")


def test_the_same_aggregator_under_two_addresses_gets_the_same_bytes_once_charged(server, twice) -> None:
    server.announce()
    one, mirror = twice
    one.answer(CONTACTS)
    first = server.reports.pop("spring")  # the other address may not know of it
    proposals, outcomes = mirror.answer(CONTACTS)
    assert [proposal.cost for proposal in proposals] == [0.0]
    assert [outcome.outcome for outcome in outcomes] == ["accepted"]
    assert server.reports["spring"] == first
    assert one.ledger.read().spent == mirror.ledger.read().spent == 1


def test_two_addresses_together_never_exceed_the_budget(server, twice) -> None:
    answered = 0
    for number in range(30):
        server.announce(id=f"round{number}")
        _, outcomes = twice[number % 2].answer(CONTACTS, only=f"round{number}")
        answered += len(outcomes)
    assert answered == 10
    assert {device.ledger.read().spent for device in twice} == {10}


def test_a_round_over_the_seed_and_bins_of_an_answered_one_is_refused_anywhere(server, twice) -> None:
    server.announce()
    twice[0].answer(CONTACTS)
    server.reports.clear()
    other = replace(ROUND, id="again", epsilon=0.5, closes=NOW + 900)
    server.rounds = {"again": other}
    for device in twice:
        proposals, outcomes = device.answer(CONTACTS)
        assert "has the seed and bins of round spring, answered at clusters.example" in proposals[0].refusal
        assert outcomes == []
    assert len(server.sent) == 1


def test_a_round_is_not_answered_a_second_time_as_another_user(server, tmp_path) -> None:
    other = PretendAggregator("ada@elsewhere.example")
    for aggregator in (server, other):
        aggregator.announce()
    Device(server, tmp_path / "home").answer(CONTACTS)
    proposals, _ = Device(other, tmp_path / "home", "https://other.example").answer(CONTACTS)
    assert "was answered as ada@vinyl.example at clusters.example" in proposals[0].refusal
    assert other.sent == []


@pytest.mark.slow
def test_a_ledger_stays_small_whatever_rounds_an_aggregator_makes_up(device) -> None:
    """Rounds of the smallest epsilon and the most bins would fill a disk before they empty a budget."""
    most = replace(ROUND, epsilon=1e-6, n_bins=2**16, n_users=2**17)

    def ask(number: int) -> None:
        round = replace(most, id=f"round{number}", seed=number.to_bytes(16, "big"))
        blank = Report.bind(round, device.account.user, [0] * round.n_bins)
        device.ledger.answer_once(round, now=NOW, draw_slot=lambda: 0, randomize=lambda: blank)

    for number in range(63):  # 262,201 bytes each
        ask(number)
    with pytest.raises(RefusedError, match=r"takes at most 10,000 of 16,777,216 bytes together"):
        ask(63)
    assert device.ledger.path.stat().st_size < 2**25


def test_a_ledger_takes_only_so_many_rounds(device, monkeypatch) -> None:
    monkeypatch.setattr("privact.device.ledger.book.MOST_ANSWERS", 2)
    for number in range(3):
        round = replace(ROUND, id=f"round{number}", epsilon=1e-6, seed=number.to_bytes(16, "big"))
        blank = Report.bind(round, device.account.user, [0] * round.n_bins)
        refused = pytest.raises(RefusedError, match="the ledger holds 2 reports") if number == 2 else nullcontext()
        with refused:
            device.ledger.answer_once(round, now=NOW, draw_slot=lambda: 0, randomize=lambda blank=blank: blank)
