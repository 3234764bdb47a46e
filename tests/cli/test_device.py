"""privact device, against an aggregator that exists in memory."""

from __future__ import annotations

import io
import json
import os
import sys
from dataclasses import replace

import httpx
import pytest
import typer
from typer.testing import CliRunner

from pretend_aggregator import PretendAggregator
from privact.cli.device import words
from privact.cli.main import app
from privact.client.device_client import Notice
from privact.device.answer import Proposal
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
    assert len(list(home.glob("ledger.sqlite3"))) == 1


def test_the_token_may_come_from_the_command_line_or_standard_input(server, home, monkeypatch):
    given = CliRunner().invoke(app, ["device", "join", URL, "--token", "-", "--budget", "4", "--json"], input=server.token + "\n")
    assert json.loads(given.stdout)["budget"] == 4.0
    given = CliRunner().invoke(app, ["device", "join", URL, "--token", server.token, "--json"])
    assert json.loads(given.stdout)["budget"] == 4.0


def test_join_refuses_what_it_should(run, server, home, tmp_path):
    fails(run("device", "join", URL), "this is no invitation, whose link has a # in it")
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
    result = run("device", "answer", "--yes", "--contacts", contacts)
    assert (result.exit_code, result.stderr) == (0, "")
    text = " ".join(result.stdout.split())
    assert "2 contacts (Mastodon's export; 1 named again)" in text
    assert "Round spring: costs epsilon 1 per contact of the 10 left, so 9 will be left. Somebody who has no idea" in text
    assert (
        "at most 74 percent sure after seeing everything that is sent, by you and by that person. Per edge: in round spring"
        in text
    )
    assert text.index("costs epsilon 1") < text.index("Round spring: accepted.")
    assert "Left: epsilon 9 of 10." in text
    assert "bob" not in result.stdout
    assert list(server.reports) == ["spring"]


def test_a_second_answer_changes_nothing_and_a_crash_before_is_made_good(run, ask, joined, server, contacts):
    server.announce()
    waiting = ask("device", "answer", "--yes", "--contacts", contacts, "--later")
    assert [each["outcome"] for each in waiting["outcomes"]] == ["waiting"]
    assert (server.sent, waiting["left"]) == ([], 9)
    assert "randomized before" in " ".join(run("device", "answer", "--yes", "--contacts", contacts, "--now").stdout.split())
    assert "answered before" in " ".join(run("device", "answer", "--yes", "--contacts", contacts).stdout.split())
    assert (len(server.sent), ask("device", "status")["accounts"][0]["spent"]) == (1, 1.0)


def test_a_dry_run_spends_and_sends_nothing(ask, joined, server, contacts):
    server.announce()
    told = ask("device", "answer", "--yes", "--contacts", contacts, "--dry-run")
    assert [(each["round"], each["cost"], each["refusal"]) for each in told["rounds"]] == [("spring", 1.0, None)]
    assert (told["outcomes"], told["left"], server.sent) == ([], 10, [])


def test_no_open_round_is_no_failure(run, joined, contacts):
    result = run("device", "answer", "--yes", "--contacts", contacts)
    assert result.exit_code == 0
    assert "No round is open for you now." in result.stdout


def test_a_refused_round_is_told_and_a_named_one_is_a_failure(run, ask, joined, server, contacts):
    server.announce(epsilon=3.0)
    server.announce(id="summer")
    told = ask("device", "answer", "--yes", "--contacts", contacts)
    assert {each["round"]: bool(each["refusal"]) for each in told["rounds"]} == {"spring": True, "summer": False}
    assert list(server.reports) == ["summer"]
    fails(
        run("device", "answer", "--yes", "--contacts", contacts, "--round", "spring"),
        "epsilon 3, above the 2 that this device allows",
    )
    fails(run("device", "answer", "--yes", "--contacts", contacts, "--round", "autumn"), "announces no round 'autumn'")
    assert "refused. round spring has epsilon 3" in " ".join(
        run("device", "answer", "--yes", "--contacts", contacts).stdout.split()
    )


def test_an_expected_digest_is_demanded(run, joined, server, contacts):
    round = server.announce()
    answer = ("device", "answer", "--yes", "--contacts", contacts, "--digest")
    fails(run(*answer, "00" * 32, "--round", "spring"), "not the expected 0000")
    fails(run(*answer, "00"), "name it with --round ID")
    fails(run(*answer, "xyz", "--round", "spring"), "not hexadecimal")
    assert server.sent == []
    assert run(*answer, round.digest().hex(), "--round", "spring").exit_code == 0


def test_a_report_that_is_not_accepted_is_a_failure(run, joined, server, contacts):
    server.announce()
    server.take = lambda name, body: httpx.Response(409, json={"error": "no"})
    result = run("device", "answer", "--yes", "--contacts", contacts)
    fails(result, "1 of 1 reports not accepted: the aggregator has another answer")
    assert "Left: epsilon 9 of 10." in result.stdout


def test_windows_that_are_none_are_refused(run, joined, contacts):
    fails(run("device", "answer", "--yes", "--contacts", contacts, "--within", "5", "--now"), "exclude each other")
    fails(run("device", "answer", "--yes", "--contacts", contacts, "--within", "-5"), "not from 0 to 86400")
    fails(run("device", "answer", "--yes", "--contacts", contacts, "--within", "nan"), "not from 0 to 86400")


def test_reports_are_spread_over_the_window_that_was_asked_for(run, joined, server, contacts, monkeypatch):
    server.announce()
    slept = []
    monkeypatch.setattr("time.sleep", slept.append)
    result = run("device", "answer", "--yes", "--contacts", contacts, "--within", "900")
    assert result.exit_code == 0
    assert len(slept) == 1
    assert 180 <= slept[0] <= 900
    assert "a time drawn by chance" in result.stderr


@pytest.fixture
def typed(monkeypatch):
    """Put a person at the terminal who types the given lines."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    def type_lines(text):
        monkeypatch.setattr(sys, "stdin", Terminal(text))
        monkeypatch.setattr(sys, "stderr", Terminal())
        return sys.stderr

    return type_lines


def costs(*names):
    """A proposal for each round, of epsilon 1."""
    return [Proposal(Notice(name, bytes(32), "open", True, False, False), None, cost=1.0) for name in names]


def test_without_a_terminal_nothing_is_sent_without_yes(run, joined, server, contacts):
    server.announce()
    asked = len(server.asked)
    result = CliRunner().invoke(app, ["device", "answer", "--contacts", str(contacts)], input="y\n", catch_exceptions=False)
    fails(result, "no person sits at this terminal to be asked, so nothing is sent: add --yes")
    assert len(server.asked) == asked
    assert run("device", "answer", "--contacts", contacts, "--dry-run").exit_code == 0
    assert server.sent == []


def test_a_person_is_asked_for_each_round_with_the_total(typed):
    shown = typed("y\nn\nyes\n")
    chosen = words.choose_rounds(costs("spring", "summer", "autumn"))
    assert [proposal.notice.id for proposal in chosen] == ["spring", "autumn"]
    text = shown.getvalue()
    assert "3 rounds together cost epsilon 3 per contact" in text
    assert "Answer round spring for epsilon 1, 1 in all?" in text
    assert "Answer round summer for epsilon 1, 2 in all?" in text
    assert "Answer round autumn for epsilon 1, 2 in all?" in text


@pytest.mark.parametrize("answer", ["", "\n", "n\n", "maybe\n"])
def test_anything_but_yes_is_a_no(typed, answer):
    shown = typed(answer)
    with pytest.raises(typer.Exit) as end:
        words.choose_rounds(costs("spring"))
    assert end.value.exit_code == 1
    assert "Nothing was spent." in shown.getvalue()


def test_stored_reports_need_no_question(typed):
    shown = typed("")
    free = [replace(proposal, cost=0.0) for proposal in costs("spring")]
    assert words.choose_rounds(free) == free
    assert shown.getvalue() == ""


def test_entries_that_cannot_be_read_are_told_and_the_device_answers_all_the_same(run, ask, joined, server, tmp_path):
    server.announce()
    path = tmp_path / "contacts.txt"
    path.write_text("bob@a.example\neve zoe\n")
    told = ask("device", "answer", "--yes", "--contacts", path)
    assert (told["contacts"], told["dropped"]["without_id"]) == (1, 1)
    assert list(server.reports) == ["spring"]
    again = run("device", "answer", "--yes", "--contacts", path)
    assert "1 contact (a plain list; 1 skipped without an id that can be read)" in " ".join(again.stdout.split())


def test_a_file_that_cannot_be_read_is_told_before_anybody_is_asked(run, joined, server, contacts, tmp_path):
    server.announce()
    asked = len(server.asked)
    fails(run("device", "answer", "--yes", "--contacts", contacts, "--format", "csv"), "format 'csv' is unknown")
    fails(run("device", "answer", "--yes", "--contacts", tmp_path / "none"), "cannot read")
    assert len(server.asked) == asked


def test_verify_says_that_everybody_sees_the_same_rounds(run, ask, joined, server, contacts):
    fails(run("device", "verify"), "keeps no log of its rounds")
    server.announce()
    server.keep_log()
    run("device", "answer", "--yes", "--contacts", contacts)
    server.announce(id="summer")
    told = ask("device", "verify")
    assert told["head"] == server.log.head.hex()
    assert (told["rounds"], told["answered"]) == (2, 1)
    assert server.log.head.hex() in run("device", "verify", "--head", server.log.head.hex()).stdout
    fails(run("device", "verify", "--head", "00" * 32), "is not in the log")
    fails(run("device", "verify", "--head", "xyz"), "not 64 hexadecimal digits")


def test_joining_with_a_published_key_demands_it(run, ask, server, home):
    join = ("device", "join", URL, "--token", server.token)
    fails(run(*join, "--key", "00" * 32), "shows no log, not with the expected key")
    server.keep_log()
    fails(run(*join, "--key", "00" * 32), "not with the expected key")
    assert not home.exists()
    assert ask(*join, "--key", server.log.public_key.hex())["log_key"] == server.log.public_key.hex()
    assert server.log.public_key.hex() in run(*join).stdout


def test_an_aggregator_that_moved_keeps_its_ledger(run, ask, joined, server, contacts):
    server.announce()
    run("device", "answer", "--yes", "--contacts", contacts)
    told = ask("device", "move", URL, "http://127.0.0.1:8421")
    assert (told["url"], told["spent"], told["rounds_answered"]) == ("http://127.0.0.1:8421", 1, 1)
    (account,) = ask("device", "status")["accounts"]
    assert (account["url"], account["spent"]) == ("http://127.0.0.1:8421", 1)
    assert [each["round"] for each in account["answers"]] == ["spring"]
    fails(run("device", "move", URL, "http://127.0.0.1:8422"), "was not joined")


def test_status_tells_budget_and_rounds_in_words_and_asks_nobody(run, ask, joined, server, contacts):
    assert "No round was answered yet." in run("device", "status").stdout
    server.announce()
    run("device", "answer", "--yes", "--contacts", contacts)
    asked = len(server.asked)
    text = " ".join(run("device", "status").stdout.split())
    assert "epsilon 1 of 10 per contact, for 1 round" in text
    assert "epsilon 9 for the rest of this ledger's life; no time renews it" in text
    assert "spring 1 15 January 2027" in text
    (account,) = ask("device", "status")["accounts"]
    assert (account["spent"], account["left"], account["user"]) == (1, 9, "ada@vinyl.example")
    assert [(each["round"], each["outcome"]) for each in account["answers"]] == [("spring", "accepted")]
    assert len(server.asked) == asked


def test_show_prints_the_very_vector_that_was_sent(run, ask, joined, server, contacts):
    fails(run("device", "show", "--round", "spring"), "none was answered yet")
    server.announce()
    run("device", "answer", "--yes", "--contacts", contacts)
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
    fails(run("device", "status"), "run `privact device join LINK` with your invitation")
    fails(run("device", "answer", "--yes", "--contacts", contacts), "no aggregator was joined")
    request.getfixturevalue("joined")
    server.announce()
    (home / "ledger.sqlite3").unlink()
    for command in (
        ["status"],
        ["answer", "--yes", "--contacts", contacts],
        ["show", "--round", "spring"],
        ["limit", "--budget", "1"],
    ):
        fails(run("device", *command), "nobody knows what was spent, so nothing is answered; restore the newest copy")
    assert server.sent == []
    assert run("device", "join", URL, "--token", server.token, "--spent", "2.5").exit_code == 0
    assert "epsilon 2.5 of 10" in run("device", "status").stdout


def test_contacts_are_shown_before_anything_is_sent(run, server, joined, contacts):
    server.announce()
    contacts.write_text("bob@a.example\n+49 170 1234567\nAnna Schmidt\n")
    text = run("device", "answer", "--contacts", contacts, "--dry-run").stdout
    assert "bob@a.example" in text
    assert "skipped line 2: '+491701234567' is a phone number: ids look like ada@vinyl.example here" in text
    assert "skipped line 3: 'Anna Schmidt' is a name, not an id" in text
    assert server.sent == []


def test_a_file_that_is_no_contact_list_is_refused_where_a_person_decides(run, server, joined, contacts, monkeypatch):
    server.announce()
    contacts.write_text("myhost\n")
    monkeypatch.setattr(words, "require_terminal", lambda: None)
    monkeypatch.setattr("privact.cli.device.answer.require_terminal", lambda: None)
    result = run("device", "answer", "--contacts", contacts, "--now")
    assert result.exit_code == 2
    assert "is not a contact list: line 1: 'myhost' is not an id: ids look like ada@vinyl.example here" in result.stderr
    assert server.sent == []
    run("device", "answer", "--contacts", contacts, "--now", "--yes")  # where nobody decides, it must not tell anything
    assert len(server.sent) == 1


def test_what_comes_back_is_said_in_names(run, ask, server, joined):
    server.announce()
    fails(run("device", "community"), "no round that you answered is over yet")
    server.states["spring"], server.reports["spring"] = "released", b""
    people = ["ada@vinyl.example", "bob@a.example", "cleo@b.example"]
    server.results["community"] = {"size": 3, "users": [{"user": person} for person in people]}
    server.results["recommendations"] = {"items": [{"rank": 1, "item": "waltz", "reason": "several close to you rated this"}]}
    text = " ".join(run("device", "community", "--size", "3").stdout.split())
    assert text.startswith("Round spring is over. These 3 people, you among them, are closest to you")
    assert "One round like this sees how many people everybody knows, not whom" in text
    assert text.endswith("bob@a.example cleo@b.example")
    assert ask("device", "community", "--size", "3")["others"] == people[1:]
    server.results["people"] = {"people": [{"rank": 1, "user": "dan@d.example", "reason": "close to you in the tree"}]}
    assert run("device", "people").stdout.splitlines()[1].split("  ") == ["dan@d.example", "close to you in the tree"]
    assert ask("device", "people")["people"] == [{"user": "dan@d.example", "reason": "close to you in the tree"}]
    assert "waltz" in run("device", "recommend").stdout
    assert ask("device", "recommend")["items"] == [{"item": "waltz", "reason": "several close to you rated this"}]
    fails(run("device", "community", "--round", "autumn"), "round 'autumn' is not over, or you did not answer it")
    fails(run("device", "community", "--size", "0"), "--size is 0")


def test_known_contacts_are_left_out_on_the_device_and_change_no_question(run, ask, server, joined, contacts):
    server.announce()
    server.states["spring"], server.reports["spring"] = "released", b""
    told = ["bob@a.example", "dan@d.example", "cleo@b.example", "eve@e.example"]
    server.results["people"] = {"people": [{"rank": 1, "user": user, "reason": "close to you"} for user in told]}
    found = ask("device", "people", "--contacts", contacts)["people"]
    assert [each["user"] for each in found] == ["dan@d.example", "eve@e.example"]
    questions = list(server.asked)
    contacts.write_text("Account address,Show boosts\ndan@d.example,true\n")
    server.asked.clear()
    assert len(ask("device", "people", "--contacts", contacts, "-k", "2")["people"]) == 2
    assert server.asked == questions[-len(server.asked) :]
    fails(run("device", "people", "--contacts", contacts.parent / "nothing.csv"), "nothing.csv")


def test_a_person_may_say_that_nobody_is_told_about_them(run, ask, server, joined):
    assert run("device", "discoverable", "--no").stdout == "Nobody is told about you any more.\n"
    assert ask("device", "discoverable", "--yes") == {"user": "ada@vinyl.example", "discoverable": True}
    assert server.wishes == [b'{"discoverable": false}', b'{"discoverable": true}']
    assert run("device", "discoverable").exit_code == 2
    server.broken = [500] * 20
    fails(run("device", "discoverable", "--no"), "cannot be reached")


def test_watch_looks_once_tells_what_waits_and_writes_a_unit(run, server, joined, contacts, monkeypatch):
    server.announce()
    seen = run("device", "watch", "--contacts", contacts, "--once")
    assert (seen.exit_code, seen.stdout) == (0, "round spring waits for you: run `privact device answer`\n")
    assert server.sent == []
    assert json.loads(run("device", "watch", "--contacts", contacts, "--once", "--json").stdout)["problem"] == ""
    monkeypatch.setattr(sys, "argv", ["/usr/bin/privact", "device", "watch", "--contacts", str(contacts), "--unit"])
    unit = run("device", "watch", "--contacts", contacts, "--unit").stdout
    home = os.environ["PRIVACT_HOME"]
    assert f"ExecStart=/usr/bin/privact device watch --contacts {contacts} --home {home}\n" in unit
    monkeypatch.chdir(contacts.parent)
    monkeypatch.setattr(
        sys, "argv", ["/usr/bin/privact", "device", "watch", f"--contacts={contacts.name}", "--home", home, "--unit"]
    )
    again = run("device", "watch", f"--contacts={contacts.name}", "--home", home, "--unit").stdout
    assert again == unit
    assert "--unit" not in unit
    fails(run("device", "watch", "--contacts", contacts, "--every", "often"), "--every often is no duration")
    server.broken = [500] * 6
    assert run("device", "watch", "--contacts", contacts, "--once").exit_code == 1
