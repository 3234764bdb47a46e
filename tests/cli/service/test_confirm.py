"""What is asked before rounds and series are opened and ended."""

from __future__ import annotations

import pytest

from privact.cli.service import confirm
from privact.errors import PrivaCTError

SPRING = {"id": "spring", "epsilon": 0.5, "reports": 340, "n_users": 601}


def test_the_questions_say_what_is_spent_of_other_peoples_epsilon():
    assert "asks 601 users: each device that answers spends epsilon 0.5 for each contact" in confirm.describe_opening(SPRING, 601)
    closing = confirm.describe_closing(SPRING, force=False)
    assert "340 of 601 users answered spring, and each spent epsilon 0.5 for each contact" in closing
    assert "lost" not in closing
    assert "lost" in confirm.describe_closing(SPRING, force=True)
    asked = confirm.describe_series("autumn", 4.0, 4, 601)
    assert "asks 601 users: each device that answers all 4 rounds spends epsilon 4 for each contact" in asked
    running = {"name": "autumn", "asked": 2.0}
    assert "spent epsilon 2 for each contact" in confirm.describe_stopping(running, force=False)
    assert "lost" in confirm.describe_stopping(running, force=True)


def test_nothing_happens_unless_the_answer_is_yes(monkeypatch):
    monkeypatch.setattr("typer.confirm", lambda *_, **__: False)
    with pytest.raises(PrivaCTError, match="nothing was changed"):
        confirm.confirm("Close it?")
    monkeypatch.setattr("typer.confirm", lambda *_, **__: True)
    confirm.confirm("Close it?")


def test_only_a_person_at_a_terminal_is_asked(monkeypatch):
    for there in (True, False):
        monkeypatch.setattr("sys.stdin", type("Stream", (), {"isatty": lambda _, there=there: there})())
        monkeypatch.setattr("sys.stderr", type("Stream", (), {"isatty": lambda _: True})())
        assert confirm.asks(yes=False) is there
        assert not confirm.asks(yes=True)
