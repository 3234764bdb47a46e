"""A device's folder: accounts, and ledgers that are begun once and never by accident again."""

from __future__ import annotations

import json
import shutil
import stat
import sys
from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest

from privact.device.ledger.home import Home, default_home
from privact.device.ledger.kept_log import LogHead
from privact.device.ledger.rules import Rules
from privact.errors import InputError, LedgerError
from privact.protocol.addresses import aggregator_address
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.protocol.users import user_digest

ADA, EVE = "ada@vinyl.example", "eve@vinyl.example"
URL = aggregator_address("https://clusters.example")
ROUND = Round(id="spring", epsilon=0.5, n_bins=2, n_users=500, seed=bytes(16), opens=0, closes=10**10)
SPRING = {"spring": ROUND.digest()}


def token(user):
    return f"{user_digest(user).hex()}.{'s' * 43}"


def join(home, user=ADA, address=URL, **options):
    return home.join(address, token(user), user, **options)


def answer(account, round=ROUND):
    report = Report.bind(round, account.user, (1, 2))
    return account.ledger.answer_once(round, now=5, draw_slot=lambda: 0, randomize=lambda: report)


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "deep" / "home")


def test_the_default_folder_is_the_platform_s(monkeypatch, tmp_path):
    monkeypatch.setenv("PRIVACT_HOME", "/x/y")
    assert default_home() == Path("/x/y")
    monkeypatch.delenv("PRIVACT_HOME")
    assert default_home() == platformdirs.user_data_path("privact", appauthor=False)


@pytest.mark.skipif(sys.platform != "linux", reason="the folders of Linux")
def test_on_linux_it_is_where_the_first_version_looked(monkeypatch, tmp_path):
    monkeypatch.delenv("PRIVACT_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_home() == tmp_path / "privact"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert default_home() == Path.home() / ".local" / "share" / "privact"


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [("darwin", {}, "Library/Application Support/privact"), ("win32", {"LOCALAPPDATA": "{home}/local"}, "local/privact")],
)
def test_a_home_where_the_first_version_looked_stays_in_use(monkeypatch, tmp_path, platform, variables, expected):
    monkeypatch.delenv("PRIVACT_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(home=tmp_path))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr("privact.device.ledger.home.sys.platform", platform)
    assert default_home() == tmp_path / "elsewhere" / "privact"
    (tmp_path / expected).mkdir(parents=True)
    assert default_home() == tmp_path / expected


def test_joining_keeps_an_account_that_only_its_owner_can_read(home):
    account, book = join(home, chosen={"budget": 4.0})
    assert (book.user, book.aggregator, book.rules) == (ADA, URL.key, Rules(budget=4.0))
    again = home.account()
    assert (again.user, again.token, again.address) == (account.user, account.token, URL)
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700
    for path in home.path.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert token(ADA) not in repr(account)


def test_joining_again_with_a_new_token_keeps_the_ledger(home):
    account, _ = join(home, chosen={"budget": 20.0})
    answer(account)
    fresh = f"{user_digest(ADA).hex()}.{'n' * 43}"
    account, book = home.join(URL, fresh, ADA, answered=SPRING)
    assert (book.spent, book.rules.budget) == (0.5, 20.0)
    assert home.account().token == fresh
    _, book = home.join(aggregator_address("http://clusters.example", allow_plain_http=True), fresh, ADA)
    assert book.spent == 0.5


def test_limits_given_when_joining_again_only_tighten(home):
    join(home, chosen={"budget": 5.0})
    with pytest.raises(InputError, match="budget is 5 and cannot become 6"):
        join(home, chosen={"budget": 6.0})
    assert join(home, chosen={"budget": 3.0, "cap": 1.0})[1].rules == Rules(3.0, 1.0)


def test_another_user_needs_another_folder(home):
    join(home)
    with pytest.raises(InputError, match=r"belongs to ada@vinyl.example at clusters.example, not to eve@vinyl.example"):
        join(home, EVE)
    assert home.account().user == ADA


def test_several_aggregators_have_one_budget(home):
    other = aggregator_address("https://other.example")
    first, _ = join(home)
    second, _ = join(home, address=other)
    answer(first)
    assert (first.ledger.read().spent, second.ledger.read().spent) == (0.5, 0.5)
    assert (list(first.ledger.read().answers), list(second.ledger.read().answers)) == (["spring"], [])
    with pytest.raises(InputError, match=r"2 aggregators were joined: choose one with --url https://clusters.example"):
        home.account()
    assert home.account("other.example").address == other
    with pytest.raises(InputError, match=r"third.example was not joined"):
        home.account("https://third.example")


def test_moving_keeps_the_ledger_and_the_head_of_the_log(home):
    account, _ = join(home)
    answer(account)
    account.log.keep(LogHead(bytes(32), 3, b"h" * 32))
    moved = home.move(account, aggregator_address("https://new.example"))
    assert home.account().address.url == "https://new.example"
    book = moved.ledger.read()
    assert (book.spent, list(book.answers)) == (0.5, ["spring"])
    assert home.account().log.read() == LogHead(bytes(32), 3, b"h" * 32)
    with pytest.raises(InputError, match="was not joined"):
        home.account("https://clusters.example")


def test_moving_to_an_address_that_was_joined_is_refused(home):
    account, _ = join(home)
    new = aggregator_address("https://new.example")
    join(home, address=new)
    with pytest.raises(InputError, match=r"https://new.example was joined already"):
        home.move(account, new)


def test_nothing_joined_is_told_with_the_next_step(home):
    with pytest.raises(InputError, match="run `privact device join LINK`"):
        home.account()


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"url": "https://clusters.example", "user": "ada", "token": "x"}', "\x80"])
def test_a_damaged_account_is_told_and_joining_again_mends_it(home, content):
    account, _ = join(home)
    answer(account)
    (file,) = home.path.glob("*/account.json")
    file.write_text(content, encoding="latin-1")
    with pytest.raises(InputError, match=r"account\.json is damaged: run `privact device join"):
        home.account()
    assert join(home)[1].spent == 0.5


def test_answers_from_elsewhere_keep_a_new_ledger_from_beginning(home):
    with pytest.raises(LedgerError, match=r"has answers of ada@vinyl.example to 2 rounds, such as autumn") as refused:
        join(home, answered={"spring": b"1", "autumn": b"2"})
    assert "--spent EPSILON" in str(refused.value)
    assert not home.path.exists()
    _, book = join(home, answered={"spring": b"1", "autumn": b"2"}, spent=3.0)
    assert (book.spent, book.left, book.lost) == (3, 7, {"spring", "autumn"})


@pytest.mark.parametrize("damage", ["ledger", "marker", "both", "truncated"])
def test_a_lost_ledger_is_replaced_only_by_who_says_what_was_spent(home, damage):
    account, _ = join(home)
    answer(account)
    if damage == "truncated":
        account.ledger.path.write_bytes(account.ledger.path.read_bytes()[:5000])
    if damage in ("ledger", "both"):
        account.ledger.path.unlink()
    if damage in ("marker", "both"):
        account.ledger.marker.unlink()
    with pytest.raises(LedgerError, match="nobody knows what was spent"):
        join(home, answered=SPRING)
    account, book = join(home, answered=SPRING, spent=0.5)
    assert (book.spent, book.lost) == (0.5, {"spring"})
    answer(account, replace(ROUND, id="summer", seed=bytes(15) + b"1"))
    aside = [path.name for path in account.ledger.path.parent.iterdir() if ".lost-" in path.name]
    assert len(aside) == {"both": 0, "ledger": 1, "marker": 1, "truncated": 2}[damage]


def test_a_sound_ledger_knows_better_than_a_person(home):
    account, _ = join(home)
    answer(account)
    with pytest.raises(InputError, match="is sound and knows what was spent: join without --spent"):
        join(home, answered=SPRING, spent=0.0)
    assert home.account().ledger.read().spent == 0.5


def test_what_was_spent_elsewhere_is_added_to_what_a_sound_ledger_knows(home):
    account, _ = join(home)
    answer(account)
    _, book = join(home, answered={"summer": b"2"}, spent=1.5)
    assert (book.spent, book.lost, list(book.answers)) == (2.0, {"summer"}, ["spring"])
    other = aggregator_address("https://other.example")
    with pytest.raises(LedgerError, match="not given from"):
        join(home, address=other, answered={"winter": b"3"})
    _, book = join(home, address=other, answered={"winter": b"3"}, spent=1.0)
    assert (book.spent, book.lost) == (3.0, {"winter"})


@pytest.mark.parametrize("spent", [-1.0, float("nan"), float("inf")])
def test_what_was_spent_is_a_number(home, spent):
    with pytest.raises(InputError, match="--spent is"):
        join(home, spent=spent)


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot make folder"):
        join(Home(tmp_path / "file" / "home"))


FIRST_HOME = Path(__file__).parent / "first_version"


@pytest.fixture
def first_home(tmp_path):
    """A home that the first version made: two addresses with budgets of 4 and 10, 1.5 and 0.5 spent, and a lost ledger's 2."""
    shutil.copytree(FIRST_HOME, tmp_path / "home")
    return Home(tmp_path / "home")


def test_ledgers_of_the_first_version_become_one_that_spent_what_all_did(first_home):
    first, second = first_home.accounts()
    book = first.ledger.read()
    assert (book.spent, book.rules) == (4, Rules(budget=4.0, cap=1.5, minimum_users=200))
    assert (book.left, len(book.everywhere)) == (0, 3)
    assert (list(book.answers), book.lost) == (["spring", "summer"], set())
    assert (list(second.ledger.read().answers), second.ledger.read().lost) == (["spring"], {"winter"})
    before = book.answers["spring"]
    assert first.ledger.answer_once(before.round, now=0, draw_slot=lambda: 0, randomize=lambda: None) == before
    assert next(account.ledger.read() for account in first_home.accounts()) == book  # only once
    assert not list(first_home.path.glob("*/ledger.sqlite3"))


@pytest.mark.parametrize("damage", ["cut", "no marker", "no ledger", "neither", "older"])
def test_a_lost_ledger_of_the_first_version_stops_everything_until_somebody_says_what_it_spent(first_home, damage):
    folder = next(path.parent for path in first_home.path.glob("clusters*/ledger.sqlite3"))
    ledger, marker = folder / "ledger.sqlite3", folder / "ledger.marker.json"
    if damage == "cut":
        ledger.write_bytes(ledger.read_bytes()[:5000])
    if damage in ("no marker", "neither"):
        marker.unlink()
    if damage in ("no ledger", "neither"):
        ledger.unlink()
    if damage == "older":
        marker.write_text(json.dumps({**json.loads(marker.read_text()), "head": "00" * 32}))
    with pytest.raises(LedgerError, match="nobody knows what was spent"):
        first_home.accounts()
    _, book = join(first_home, answered={"summer": b"2"}, spent=1.5)
    assert book.spent == 4
    assert len(first_home.accounts()) == 2


def test_merging_goes_on_where_a_kill_stopped_it(first_home, tmp_path):
    shutil.copytree(first_home.path, tmp_path / "copy")
    book = first_home.accounts()[0].ledger.read()
    for old in (tmp_path / "copy").glob("*/ledger.*"):  # as if nothing had been renamed yet
        shutil.copy(old, first_home.path / old.parent.name / old.name)
        (first_home.path / old.parent.name / f"{old.name}.merged").unlink()
    assert first_home.accounts()[0].ledger.read() == book
    merged = next(first_home.path.glob("*/ledger.sqlite3.merged"))
    merged.rename(merged.with_name("ledger.sqlite3"))  # as if one of two files had been renamed
    assert first_home.accounts()[0].ledger.read() == book
