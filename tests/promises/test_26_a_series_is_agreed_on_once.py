"""Promise 26. A series is agreed on once, with its total: every round that costs more, or is another's, is refused.

The agreement is kept in the ledger, which charges each round when it is answered. Later rounds are answered without a question.
"""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest
from typer.testing import CliRunner

from pretend_aggregator import ROUND, Device, PretendAggregator
from privact.cli.device import words
from privact.cli.main import app
from privact.device.ledger.rules import Rules
from privact.errors import ProtocolError
from privact.protocol.round import Round
from privact.protocol.round_series import Series

CONTACTS = [f"user{number}@a.example" for number in range(30)]
AUTUMN = Series("autumn", 4, 4.0)


def announce(server: PretendAggregator, number: int, series: Series = AUTUMN, **changes: object) -> Round:
    """Open a round of a series."""
    share = series.epsilon_per_round
    named = {"id": series.round_id(number), "epsilon": share, "series": series, "series_number": number, **changes}
    named.setdefault("seed", bytes([number]) * 16)
    server.rounds.clear()
    return server.announce(replace(ROUND, **named))


def test_each_round_is_charged_when_it_is_answered_and_never_more_than_was_agreed(server, device) -> None:
    for number in (1, 2, 3, 4):
        announce(server, number)
        proposals, outcomes = device.answer(CONTACTS)
        assert [proposal.must_ask for proposal in proposals] == [number == 1]
        assert [outcome.outcome for outcome in outcomes] == ["accepted"]
        assert device.ledger.read().spent == number
    assert device.ledger.read().agreed == {"autumn": AUTUMN}
    assert len(server.sent) == 4


def test_rounds_that_were_not_opened_cost_nothing(server, device) -> None:
    announce(server, 1)
    device.answer(CONTACTS)
    assert device.ledger.read().left == 9


@pytest.mark.parametrize("changed", [Series("autumn", 4, 8.0), Series("autumn", 8, 8.0), Series("autumn", 2, 2.0)])
def test_a_series_that_changed_after_it_was_agreed_on_is_refused(server, device, changed) -> None:
    announce(server, 1)
    device.answer(CONTACTS)
    announce(server, 2, changed)
    proposals, outcomes = device.answer(CONTACTS)
    assert "series autumn was agreed on with 4 rounds and epsilon 4 in all" in proposals[0].refusal
    assert (outcomes, len(server.sent)) == ([], 1)


def test_a_round_that_costs_more_than_its_share_or_is_a_fifth_of_four_cannot_be_made(server, device) -> None:
    for changes in ({"epsilon": 1.5}, {"series_number": 5, "id": "autumn.5"}):
        with pytest.raises(ProtocolError):
            announce(server, 2, **changes)


@pytest.mark.parametrize("tail", ["0005" + "0004", "0002" + "0001"])
def test_the_bytes_of_such_a_round_are_refused(server, device, tail) -> None:
    """An aggregator that makes them up all the same is told nothing."""
    round = announce(server, 2)
    bad = round.to_bytes()[:-12] + bytes.fromhex(tail) + round.to_bytes()[-8:]
    server.parameters["autumn.2"] = bad
    proposals, _ = device.answer(CONTACTS)
    assert proposals[0].refusal
    assert server.sent == []


def test_a_number_is_answered_once_whatever_its_bins(server, device) -> None:
    announce(server, 2)
    device.answer(CONTACTS)
    server.reports.clear()
    announce(server, 2, seed=bytes([77]) * 16)
    proposals, outcomes = device.answer(CONTACTS)
    assert "was changed after it was answered" in proposals[0].refusal
    assert (outcomes, len(server.sent)) == ([], 1)


def test_a_series_that_would_cost_more_than_is_left_is_not_begun(server, tmp_path) -> None:
    device = Device(server, tmp_path / "poor")
    device.ledger.restrict(Rules(budget=3.0))
    announce(server, 1)
    assert "costs up to epsilon 4 from round autumn.1 on, but only 3" in device.answer(CONTACTS)[0][0].refusal
    announce(server, 2)
    assert [outcome.outcome for outcome in device.answer(CONTACTS)[1]] == ["accepted"]  # who comes later agrees to less


def test_a_person_is_asked_once_with_the_total_and_never_again(server, tmp_path, monkeypatch) -> None:
    """The command, with a person at the terminal for the first round and with nobody for the second."""
    real = httpx.Client
    monkeypatch.setattr(httpx, "Client", lambda **options: real(**{**options, "transport": httpx.MockTransport(server.answer)}))
    monkeypatch.setattr("time.time", lambda: float(server.now))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setenv("PRIVACT_HOME", str(tmp_path / "home"))
    (tmp_path / "contacts").write_text("\n".join(CONTACTS))
    (tmp_path / "token").write_text(server.token)

    contacts = ("--contacts", str(tmp_path / "contacts"), "--now")

    def run(*arguments: str, typed: str = "") -> str:
        result = CliRunner().invoke(app, ["device", *arguments], input=typed, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return " ".join(result.output.split())

    run("join", "http://127.0.0.1:8420", "--token-file", str(tmp_path / "token"))
    announce(server, 1)
    monkeypatch.setattr(words, "_has_terminal", lambda: True)
    said = run("answer", *contacts, typed="y\n")
    assert "Agree to a series of 4 rounds, epsilon 1 each, 4 in all" in said
    assert sorted(server.reports) == ["autumn.1"]
    monkeypatch.setattr(words, "_has_terminal", lambda: False)
    announce(server, 2)
    said = run("answer", *contacts)
    assert "number 2 of a series of 4 rounds, epsilon 1 each, 4 in all, as agreed before" in said
    assert sorted(server.reports) == ["autumn.1", "autumn.2"]
    server.announce(id="other")  # of no series: nobody sits there to be asked
    assert "Left out, since no person sits here to agree to them: other" in run("answer", *contacts)
    assert "other" not in server.reports
