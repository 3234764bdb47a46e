"""privact device, against an aggregator that exists in memory."""

from __future__ import annotations

import json

import httpx
import pytest

from pretend_aggregator import PretendAggregator
from privact.protocol.report import Report

URL = "http://127.0.0.1:8420"


@pytest.fixture
def server(monkeypatch):
    """An aggregator that ada@vinyl.example is enrolled at; every request of the command goes there."""
    server = PretendAggregator()
    real = httpx.Client
    monkeypatch.setattr(httpx, "Client", lambda **options: real(**{**options, "transport": httpx.MockTransport(server.answer)}))
    monkeypatch.setattr("time.time", lambda: float(server.now))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    return server


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVACT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def contacts(tmp_path):
    path = tmp_path / "following_accounts.csv"
    path.write_text("Account address,Show boosts\nbob@a.example,true\nBob@a.example,true\ncleo@b.example,false\n")
    return path


@pytest.fixture
def joined(run, server, home, tmp_path):
    token = tmp_path / "token"
    token.write_text(server.token + "\n")
    result = run("device", "join", URL, "--token-file", token)
    assert (result.exit_code, result.stderr) == (0, "")
    return result


def fails(result, message):
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1), result.stderr
    assert result.stderr.startswith("privact: ")
    assert message in result.stderr


def test_join_begins_a_ledger_and_says_what_it_allows(joined, home, server):
    text = " ".join(joined.stdout.split())
    assert f"{URL} as ada@vinyl.example" in text
    assert "epsilon 0 of 10 per contact, for 0 rounds" in text
    assert "epsilon at most 2 in a round of at least 100 users" in text
    assert server.token.split(".")[1] not in joined.stdout
    assert len(list(home.glob("*/ledger.sqlite3"))) == 1


def test_the_token_may_come_from_the_command_line_or_standard_input(server, home, monkeypatch):
    from typer.testing import CliRunner

    from privact.cli.main import app

    given = CliRunner().invoke(app, ["device", "join", URL, "--token", "-", "--budget", "4", "--json"], input=server.token + "\n")
    assert json.loads(given.stdout)["budget"] == 4.0
    given = CliRunner().invoke(app, ["device", "join", URL, "--token", server.token, "--json"])
    assert json.loads(given.stdout)["budget"] == 4.0


def test_join_refuses_what_it_should(run, server, home, tmp_path):
    fails(run("device", "join", URL), "--token TOKEN, --token - (stdin) or --token-file FILE")
    fails(run("device", "join", URL, "--token", "x", "--token-file", "y"), "one of them")
    fails(run("device", "join", URL, "--token", "x"), "not a token")
    fails(run("device", "join", URL, "--token-file", tmp_path / "none"), "no such file")
    fails(run("device", "join", "http://clusters.example", "--token", server.token), "plain http to another machine")
    fails(run("device", "join", URL, "--token", server.token, "--budget", "-1"), "budget is -1")
    wrong = "0" * 32 + server.token[32:]
    result = run("device", "join", URL, "--token", wrong)
    fails(result, "does not know this token")
    assert wrong not in result.stderr
    assert not list(home.glob("*/account.json"))
    result = run("device", "join", "http://clusters.example", "--token", server.token, "--allow-plain-http")
    assert result.exit_code == 0


def test_answer_says_the_cost_and_the_promise_then_sends(run, joined, server, contacts):
    server.announce()
    result = run("device", "answer", "--contacts", contacts)
    assert (result.exit_code, result.stderr) == (0, "")
    text = " ".join(result.stdout.split())
    assert "2 contacts (mastodon; 1 named again)" in text
    assert "Round spring: costs epsilon 1 per contact of the 10 left, so 9 will be left. Per edge: in round spring" in text
    assert text.index("costs epsilon 1") < text.index("Round spring: accepted.")
    assert "Left: epsilon 9 of 10." in text
    assert "bob" not in result.stdout
    assert list(server.reports) == ["spring"]


def test_a_second_answer_changes_nothing_and_a_crash_before_is_made_good(run, ask, joined, server, contacts):
    server.announce()
    waiting = ask("device", "answer", "--contacts", contacts, "--later")
    assert [each["outcome"] for each in waiting["outcomes"]] == ["waiting"]
    assert (server.sent, waiting["left"]) == ([], 9)
    assert "randomized before" in " ".join(run("device", "answer", "--contacts", contacts, "--now").stdout.split())
    assert "answered before" in " ".join(run("device", "answer", "--contacts", contacts).stdout.split())
    assert (len(server.sent), ask("device", "status")["accounts"][0]["spent"]) == (1, 1.0)


def test_a_dry_run_spends_and_sends_nothing(ask, joined, server, contacts):
    server.announce()
    told = ask("device", "answer", "--contacts", contacts, "--dry-run")
    assert [(each["round"], each["cost"], each["refusal"]) for each in told["rounds"]] == [("spring", 1.0, None)]
    assert (told["outcomes"], told["left"], server.sent) == ([], 10, [])


def test_no_open_round_is_no_failure(run, joined, contacts):
    result = run("device", "answer", "--contacts", contacts)
    assert result.exit_code == 0
    assert "No round is open for you now." in result.stdout


def test_a_refused_round_is_told_and_a_named_one_is_a_failure(run, ask, joined, server, contacts):
    server.announce(epsilon=3.0)
    server.announce(id="summer")
    told = ask("device", "answer", "--contacts", contacts)
    assert {each["round"]: bool(each["refusal"]) for each in told["rounds"]} == {"spring": True, "summer": False}
    assert list(server.reports) == ["summer"]
    fails(run("device", "answer", "--contacts", contacts, "--round", "spring"), "epsilon 3, above the 2 that this device allows")
    fails(run("device", "answer", "--contacts", contacts, "--round", "autumn"), "announces no round 'autumn'")
    assert "refused. round spring has epsilon 3" in " ".join(run("device", "answer", "--contacts", contacts).stdout.split())


def test_an_expected_digest_is_demanded(run, joined, server, contacts):
    round = server.announce()
    answer = ("device", "answer", "--contacts", contacts, "--digest")
    fails(run(*answer, "00" * 32, "--round", "spring"), "not the expected 0000")
    fails(run(*answer, "00"), "name it with --round ID")
    fails(run(*answer, "xyz", "--round", "spring"), "not hexadecimal")
    assert server.sent == []
    assert run(*answer, round.digest().hex(), "--round", "spring").exit_code == 0


def test_a_report_that_is_not_accepted_is_a_failure(run, joined, server, contacts):
    server.announce()
    server.take = lambda name, body: httpx.Response(409, json={"error": "no"})
    result = run("device", "answer", "--contacts", contacts)
    fails(result, "1 of 1 reports not accepted: the aggregator has another answer")
    assert "Left: epsilon 9 of 10." in result.stdout


def test_windows_that_are_none_are_refused(run, joined, contacts):
    fails(run("device", "answer", "--contacts", contacts, "--within", "5", "--now"), "exclude each other")
    fails(run("device", "answer", "--contacts", contacts, "--within", "-5"), "not from 0 to 86400")
    fails(run("device", "answer", "--contacts", contacts, "--within", "nan"), "not from 0 to 86400")


def test_reports_are_spread_over_the_window_that_was_asked_for(run, joined, server, contacts, monkeypatch):
    server.announce()
    slept = []
    monkeypatch.setattr("time.sleep", slept.append)
    result = run("device", "answer", "--contacts", contacts, "--within", "900")
    assert result.exit_code == 0
    assert len(slept) == 1
    assert 180 <= slept[0] <= 900
    assert "a time drawn by chance" in result.stderr


def test_a_person_at_a_terminal_is_asked(run, joined, server, contacts, monkeypatch):
    import io
    import sys

    server.announce()

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    from privact.cli import device_words

    for answer, expected in (("\n", 1), ("n\n", 1), ("y\n", None)):
        monkeypatch.setattr(sys, "stdin", Terminal(answer))
        monkeypatch.setattr(sys, "stdout", Terminal())
        try:
            device_words.confirm()
            code = None
        except device_words.typer.Exit as end:
            code = end.exit_code
        assert code == expected


def test_wrong_contacts_are_told_by_line_and_nothing_is_sent(run, joined, server, tmp_path):
    server.announce()
    path = tmp_path / "contacts.txt"
    path.write_text("bob\neve zoe\n")
    fails(run("device", "answer", "--contacts", path), "contacts.txt, line 2: neither id is 'ada@vinyl.example'")
    fails(run("device", "answer", "--contacts", path, "--format", "csv"), "format 'csv' is unknown")
    fails(run("device", "answer", "--contacts", tmp_path / "none"), "cannot read")
    assert server.sent == []


def test_status_tells_budget_and_rounds_in_words_and_asks_nobody(run, ask, joined, server, contacts):
    assert "No round was answered yet." in run("device", "status").stdout
    server.announce()
    run("device", "answer", "--contacts", contacts)
    asked = len(server.asked)
    text = " ".join(run("device", "status").stdout.split())
    assert "epsilon 1 of 10 per contact, for 1 round" in text
    assert "epsilon 9 for the rest of this ledger's life; no time renews it" in text
    assert "spring 1 2027-01-15" in text
    (account,) = ask("device", "status")["accounts"]
    assert (account["spent"], account["left"], account["user"]) == (1, 9, "ada@vinyl.example")
    assert [(each["round"], each["outcome"]) for each in account["answers"]] == [("spring", "accepted")]
    assert len(server.asked) == asked


def test_show_prints_the_very_vector_that_was_sent(run, ask, joined, server, contacts):
    fails(run("device", "show", "--round", "spring"), "none was answered yet")
    server.announce()
    run("device", "answer", "--contacts", contacts)
    sent = Report.from_bytes(server.reports["spring"])
    shown = ask("device", "show", "--round", "spring")
    assert (tuple(shown["vector"]), shown["bytes"]) == (sent.vector, server.reports["spring"].hex())
    assert " ".join(map(str, sent.vector)) in run("device", "show", "--round", "spring").stdout
    fails(run("device", "show", "--round", "summer"), "answered were spring")


def test_limits_only_become_stricter(run, ask, joined):
    assert ask("device", "limit", "--budget", "3", "--minimum-users", "500")["left"] == 3
    fails(run("device", "limit", "--budget", "4"), "budget is 3 and cannot become 4")
    fails(run("device", "limit"), "nothing to limit")
    assert "epsilon 0 of 2.5 per contact" in run("device", "limit", "--budget", "2.5").stdout


def test_nothing_works_before_joining_or_after_the_ledger_is_lost(run, server, home, contacts, request):
    fails(run("device", "status"), "run `privact device join URL --token TOKEN`")
    fails(run("device", "answer", "--contacts", contacts), "no aggregator was joined")
    request.getfixturevalue("joined")
    server.announce()
    next(home.glob("*/ledger.sqlite3")).unlink()
    for command in (["status"], ["answer", "--contacts", contacts], ["show", "--round", "spring"], ["limit", "--budget", "1"]):
        fails(run("device", *command), "nobody knows what was spent, so nothing is answered; restore the newest copy")
    assert server.sent == []
    assert run("device", "join", URL, "--token", server.token, "--spent", "2.5").exit_code == 0
    assert "epsilon 2.5 of 10" in run("device", "status").stdout
