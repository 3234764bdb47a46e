"""The ledger: what was spent survives, and a ledger that cannot be trusted is refused with a way out."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from dataclasses import replace

import pytest

from privact.device.ledger.entries import Entry
from privact.device.ledger.ledger import Ledger
from privact.device.ledger.rules import Rules
from privact.errors import InputError, LedgerError, RefusedError
from privact.protocol.report import Report
from privact.protocol.round import Round

NOW = 1_800_000_000
USER = "ada@vinyl.example"
KEY = "clusters.example"
ROUND = Round(id="spring", epsilon=0.5, n_bins=2, n_users=500, seed=bytes(16), opens=NOW - 9, closes=NOW + 9)


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "ledger.sqlite3", tmp_path / "marker.json", KEY, USER)
    made.create(Rules(budget=2.0))
    return made


def other(name, **changes):
    """Another round, with a seed of its own."""
    return replace(ROUND, **{"id": name, "seed": name.encode().ljust(16), **changes})


def answer(ledger, round=ROUND, vector=(3, -1), **options):
    report = Report.bind(round, USER, vector)
    return ledger.answer_once(round, now=NOW, draw_slot=lambda: 7, randomize=lambda: report, **options)


def change(ledger, statement, *values):
    """Change the file behind the ledger's back."""
    with sqlite3.connect(ledger.path) as file:
        file.execute(statement, values)
    file.close()


def test_a_new_ledger_has_everything_left(ledger):
    book = ledger.read()
    assert (book.aggregator, book.user, book.rules) == ("clusters.example", USER, Rules(budget=2.0))
    assert (book.spent, book.left, book.answers, book.n_entries) == (0, 2, {}, 1)


def test_an_answer_is_kept_with_its_slot_and_its_round(ledger):
    stored = answer(ledger)
    assert stored == ledger.read().answers["spring"] == answer(ledger, vector=(9, 9))
    assert (stored.round, stored.vector, stored.send_at, stored.made) == (ROUND, (3, -1), 7, NOW)
    assert ledger.read().spent == 0.5


def test_the_slot_is_drawn_before_the_noise_and_each_only_once(ledger):
    happened = []

    def draw_slot():
        happened.append("slot")
        return 0

    def randomize():
        happened.append("noise")
        return Report.bind(ROUND, USER, (1, 1))

    for _ in range(3):
        ledger.answer_once(ROUND, now=NOW, draw_slot=draw_slot, randomize=randomize)
    assert happened == ["slot", "noise"]


def test_nothing_is_drawn_for_a_round_that_is_refused(ledger):
    def never():
        raise AssertionError("drawn")

    for round in (replace(ROUND, epsilon=2.5), replace(ROUND, n_users=99), replace(ROUND, closes=NOW - 1)):
        with pytest.raises(RefusedError):
            ledger.answer_once(round, now=NOW, draw_slot=never, randomize=never)
    assert ledger.read().n_entries == 1


def test_a_failure_while_randomizing_costs_nothing(ledger):
    def broken():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ledger.answer_once(ROUND, now=NOW, draw_slot=lambda: 0, randomize=broken)
    assert ledger.read().spent == 0
    assert answer(ledger).vector == (3, -1)


def test_a_report_for_another_round_is_never_stored(ledger):
    wrong = Report.bind(other("other"), USER, (1, 1))
    with pytest.raises(ValueError, match="report answers round"):
        ledger.answer_once(ROUND, now=NOW, draw_slot=lambda: 0, randomize=lambda: wrong)
    assert ledger.read().spent == 0


def test_the_budget_is_exact(ledger):
    for number in range(4):
        answer(ledger, other(f"r{number}"))
    assert ledger.read().left == 0
    with pytest.raises(RefusedError, match="costs epsilon 1e-06 but only 0 of the lifetime budget 2 is left, which no time"):
        answer(ledger, replace(ROUND, id="r4", epsilon=1e-6))


def test_what_another_process_spends_meanwhile_counts(ledger):
    """Both looked when enough was left for one of them; the slower one is refused."""

    class Slower(Ledger):
        def read(self):
            book = super().read()
            if not book.answers:
                answer(ledger, other("faster", epsilon=1.75))
            return book

    with pytest.raises(RefusedError, match=r"only 0\.25 of the lifetime budget 2 is left"):
        answer(Slower(ledger.path, ledger.marker, KEY, USER))
    assert list(ledger.read().answers) == ["faster"]


def test_a_changed_round_is_refused_and_the_answer_stays(ledger):
    stored = answer(ledger)
    for change in ({"epsilon": 0.25}, {"seed": bytes(17)}, {"closes": NOW + 10}, {"joiner_seconds": 1}):
        with pytest.raises(RefusedError, match="round spring was changed after it was answered"):
            answer(ledger, replace(ROUND, **change))
    assert answer(ledger) == stored


def test_limits_become_stricter_for_ever(ledger):
    answer(ledger)
    assert ledger.restrict(Rules(budget=1.0, cap=0.4)).rules == Rules(1.0, 0.4, 100)
    assert ledger.restrict(Rules(budget=9.0, cap=2.0)).rules == Rules(1.0, 0.4, 100)
    assert ledger.read().n_entries == 3
    with pytest.raises(RefusedError, match=r"above the 0\.4"):
        answer(ledger, other("other"))
    assert ledger.restrict(Rules(budget=0.0)).left == 0


def test_what_the_aggregator_said_is_remembered_and_decides_nothing(ledger):
    answer(ledger)
    ledger.tell_delivery("spring", "closed")
    ledger.tell_delivery("spring", "accepted")
    assert ledger.deliveries()["spring"][0] == "accepted"
    change(ledger, "DELETE FROM deliveries")
    assert ledger.deliveries() == {}
    assert answer(ledger).vector == (3, -1)


def test_only_the_owner_can_read_it(ledger):
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(ledger.marker.stat().st_mode) == 0o600


def test_an_existing_ledger_is_never_begun_again(ledger):
    answer(ledger)
    before = ledger.path.read_bytes()
    with pytest.raises(LedgerError, match="already there"):
        ledger.create(Rules())
    ledger.marker.unlink()
    with pytest.raises(LedgerError, match="already there"):
        ledger.create(Rules())
    assert ledger.path.read_bytes() == before


def refused(ledger, reason):
    """Whatever is asked of the ledger, it is refused with the reason and the way out, and no file changes."""
    before = {path.name: path.read_bytes() for path in ledger.path.parent.iterdir() if path.is_file()}
    for ask in (ledger.read, lambda: answer(ledger), lambda: answer(ledger, other("new")), ledger.deliveries,
                lambda: ledger.restrict(Rules(budget=0.1))):  # fmt: skip
        with pytest.raises(LedgerError, match=reason) as error:
            ask()
        assert "\n" not in str(error.value)
        assert "restore the newest copy" in str(error.value)
        assert "--spent EPSILON" in str(error.value)
    assert {path.name: path.read_bytes() for path in ledger.path.parent.iterdir() if path.is_file()} == before


def test_a_lost_ledger_is_refused(ledger):
    answer(ledger)
    ledger.path.unlink()
    refused(ledger, r"ledger\.sqlite3 is gone")


def test_a_lost_marker_is_refused(ledger):
    answer(ledger)
    ledger.marker.unlink()
    refused(ledger, r"marker\.json, which tells how far the ledger had come, is gone")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"ledger": "x", "entries": true, "head": ""}', '{"ledger": 1}'])
def test_a_damaged_marker_is_refused(ledger, content):
    ledger.marker.write_text(content)
    refused(ledger, "gone or damaged")


@pytest.mark.parametrize("keep", [0, 1, 100, 4096, -1, -4096])
def test_a_cut_ledger_is_refused(ledger, keep):
    answer(ledger)
    data = ledger.path.read_bytes()
    ledger.path.write_bytes(data[:keep])
    refused(ledger, "is damaged")


def test_another_file_is_refused(ledger):
    ledger.path.write_bytes(b"not a database at all" * 500)
    refused(ledger, "is damaged")
    ledger.path.unlink()
    change(ledger, "CREATE TABLE entries (number)")
    refused(ledger, "it is not a ledger of privact")


def test_an_older_copy_is_refused(ledger, tmp_path):
    answer(ledger)
    shutil.copy(ledger.path, tmp_path / "backup")
    answer(ledger, other("summer"))
    shutil.copy(tmp_path / "backup", ledger.path)
    refused(ledger, "is older than what this device wrote, or another's")


def test_a_copy_that_went_another_way_is_refused(ledger, tmp_path):
    """The ledger is copied to a second device, and each answers another round: as many entries, but not the same."""
    second = Ledger(tmp_path / "second.sqlite3", tmp_path / "second.json", KEY, USER)
    shutil.copy(ledger.path, second.path)
    shutil.copy(ledger.marker, second.marker)
    answer(ledger)
    answer(second, other("summer"))
    shutil.copy(second.path, ledger.path)
    refused(ledger, "is older than what this device wrote, or another's")


def test_another_ledger_is_refused(ledger, tmp_path):
    foreign = Ledger(tmp_path / "other.sqlite3", tmp_path / "other.json", KEY, USER)
    foreign.create(Rules(budget=2.0))
    shutil.copy(foreign.path, ledger.path)
    refused(ledger, "or another's")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET epsilon = '0.25' WHERE number = 2",
        "UPDATE entries SET report = zeroblob(65) WHERE number = 2",
        "UPDATE entries SET send_at = 8 WHERE number = 2",
        "UPDATE entries SET made = 0 WHERE number = 1",
        "UPDATE entries SET statement = replace(statement, '2.0', '9.0')",
        "UPDATE entries SET link = zeroblob(32) WHERE number = 2",
        "UPDATE entries SET number = 3 WHERE number = 2",
        "UPDATE entries SET round_id = 'autumn' WHERE number = 2",
        "UPDATE entries SET epsilon = 'much' WHERE number = 2",
        "UPDATE entries SET link = 'text'",
        "DELETE FROM entries WHERE number = 1",
        "DELETE FROM entries",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
        "PRAGMA application_id = 1",
    ],
)
def test_a_changed_ledger_is_refused(ledger, statement):
    answer(ledger)
    change(ledger, statement)
    refused(ledger, "is damaged")


def test_an_entry_cannot_be_rewritten_link_and_all(ledger):
    """Whoever recomputes one link would have to recompute all that follow, and the marker."""
    answer(ledger)
    answer(ledger, other("summer"))
    with sqlite3.connect(ledger.path) as file:
        (previous,) = file.execute("SELECT link FROM entries WHERE number = 1").fetchone()
        *fields, _ = file.execute("SELECT * FROM entries WHERE number = 2").fetchone()
        cheaper = replace(Entry(*fields), epsilon="0.01")
        file.execute("UPDATE entries SET epsilon = '0.01', link = ? WHERE number = 2", (cheaper.link(previous),))
    file.close()
    refused(ledger, "entry 3 does not follow from the one before it")


def test_the_last_entry_cannot_be_taken_out(ledger):
    answer(ledger)
    change(ledger, "DELETE FROM entries WHERE number = 2")
    refused(ledger, "is older than what this device wrote")


@pytest.mark.parametrize("part", range(8))
def test_overwritten_pages_are_refused_or_held_nothing(ledger, part):
    for number in range(4):
        answer(ledger, other(f"r{number}"))
    book, data = ledger.read(), bytearray(ledger.path.read_bytes())
    begin = part * len(data) // 8
    data[begin : begin + len(data) // 8] = b"\xa5" * (len(data) // 8)
    ledger.path.write_bytes(data)
    try:
        assert ledger.read() == book
    except LedgerError:
        return


def test_a_newer_version_asks_for_an_update(ledger):
    change(ledger, "PRAGMA user_version = 3")
    with pytest.raises(LedgerError, match="is of version 3, newer than 2: update privact"):
        ledger.read()


def test_a_ledger_one_entry_ahead_of_its_marker_is_fine_and_the_marker_follows(ledger):
    marker = ledger.marker.read_text()
    stored = answer(ledger)
    ledger.marker.write_text(marker)  # as a kill between the two writes leaves it
    assert ledger.read().spent == 0.5
    assert answer(ledger) == stored
    assert json.loads(ledger.marker.read_text())["entries"] == 2


def test_a_locked_ledger_is_told_in_one_line(ledger, monkeypatch):
    monkeypatch.setattr("privact.device.ledger.ledger_file._WAIT", 0.01)
    other = sqlite3.connect(ledger.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(InputError, match="database is locked"):
        answer(ledger)
    other.close()
    assert answer(ledger).vector == (3, -1)


def test_a_ledger_can_begin_with_what_was_spent_and_answered_before(tmp_path):
    made = Ledger(tmp_path / "ledger.sqlite3", tmp_path / "marker.json", KEY, USER)
    book = made.create(Rules(budget=2.0), spent=1.75, lost=["spring", "winter", "spring"])
    assert (book.spent, book.left, book.lost) == (1.75, 0.25, {"spring", "winter"})
    with pytest.raises(RefusedError, match="round spring was answered from a ledger that was lost since"):
        answer(made)
    with pytest.raises(RefusedError, match=r"only 0\.25"):
        answer(made, other("autumn"))


def test_any_folder_name_will_do(tmp_path):
    folder = tmp_path / "50% off? #1 & mode=ro é"
    folder.mkdir()
    made = Ledger(folder / "ledger.sqlite3", folder / "marker.json", KEY, USER)
    made.create(Rules())
    assert answer(made) == answer(made)
    assert sorted(path.name for path in folder.iterdir()) == ["ledger.sqlite3", "marker.json"]


def test_a_folder_that_is_missing_is_told_in_one_line(tmp_path):
    with pytest.raises(InputError, match=r"cannot write .*: no such file or directory"):
        Ledger(tmp_path / "no" / "l", tmp_path / "m", KEY, USER).create(Rules())
