"""A device's folder: accounts, and ledgers that are begun once and never by accident again."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from privact.device.ledger.home import Home, default_home
from privact.device.ledger.rules import Rules
from privact.errors import InputError, LedgerError
from privact.protocol.addresses import aggregator_address
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.protocol.users import user_digest

ADA, EVE = "ada@vinyl.example", "eve@vinyl.example"
URL = aggregator_address("https://clusters.example")
ROUND = Round(id="spring", epsilon=0.5, n_bins=2, n_users=500, seed=bytes(16), opens=0, closes=10**10)


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


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({"PRIVACT_HOME": "/x/y"}, "linux", Path("/x/y")),
        ({"XDG_DATA_HOME": "/data"}, "linux", Path("/data/privact")),
        ({}, "linux", Path.home() / ".local" / "share" / "privact"),
        ({}, "darwin", Path.home() / "Library" / "Application Support" / "privact"),
        ({"LOCALAPPDATA": "/local"}, "win32", Path("/local/privact")),
    ],
)
def test_the_default_folder_is_the_platform_s(environment, platform, expected):
    assert default_home(environment, platform) == expected


def test_joining_keeps_an_account_that_only_its_owner_can_read(home):
    account, book = join(home, chosen={"budget": 4.0})
    assert (book.user, book.rules) == (ADA, Rules(budget=4.0))
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
    account, book = home.join(URL, fresh, ADA, answered=["spring"])
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


def test_several_aggregators_have_several_budgets(home):
    other = aggregator_address("https://other.example")
    first, _ = join(home)
    second, _ = join(home, address=other)
    answer(first)
    assert (first.ledger.read().spent, second.ledger.read().spent) == (0.5, 0)
    with pytest.raises(InputError, match=r"2 aggregators were joined: choose one with --url https://clusters.example"):
        home.account()
    assert home.account("other.example").address == other
    with pytest.raises(InputError, match=r"third.example was not joined"):
        home.account("https://third.example")


def test_nothing_joined_is_told_with_the_next_step(home):
    with pytest.raises(InputError, match="run `privact device join URL --token TOKEN`"):
        home.account()


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"url": "https://clusters.example", "user": "ada", "token": "x"}', "\x80"])
def test_a_damaged_account_is_told_and_joining_again_mends_it(home, content):
    account, _ = join(home)
    answer(account)
    file = account.ledger.path.with_name("account.json")
    file.write_text(content, encoding="latin-1")
    with pytest.raises(InputError, match=r"account\.json is damaged: run `privact device join"):
        home.account()
    assert join(home)[1].spent == 0.5


def test_answers_from_elsewhere_keep_a_new_ledger_from_beginning(home):
    with pytest.raises(LedgerError, match=r"has answers of ada@vinyl.example to 2 rounds, such as autumn") as refused:
        join(home, answered=["spring", "autumn"])
    assert "--spent EPSILON" in str(refused.value)
    assert not home.path.exists()
    _, book = join(home, answered=["spring", "autumn"], spent=3.0)
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
        join(home, answered=["spring"])
    account, book = join(home, answered=["spring"], spent=0.5)
    assert (book.spent, book.lost) == (0.5, {"spring"})
    answer(account, Round(**{**vars(ROUND), "id": "summer"}))
    aside = [path.name for path in account.ledger.path.parent.iterdir() if ".lost-" in path.name]
    assert len(aside) == {"both": 0, "ledger": 1, "marker": 1, "truncated": 2}[damage]


def test_a_sound_ledger_knows_better_than_a_person(home):
    account, _ = join(home)
    answer(account)
    with pytest.raises(InputError, match="is sound and knows what was spent: join without --spent"):
        join(home, answered=["spring"], spent=0.0)
    assert home.account().ledger.read().spent == 0.5


def test_an_outdated_ledger_is_replaced_by_one_that_spent_at_least_as_much(home):
    account, _ = join(home)
    answer(account)
    with pytest.raises(InputError, match=r"--spent 0\.25 is less than the 0\.5 in the ledger"):
        join(home, answered=["spring", "summer"], spent=0.25)
    _, book = join(home, answered=["summer"], spent=1.5)
    assert (book.spent, book.lost) == (1.5, {"spring", "summer"})


@pytest.mark.parametrize("spent", [-1.0, float("nan"), float("inf")])
def test_what_was_spent_is_a_number(home, spent):
    with pytest.raises(InputError, match="--spent is"):
        join(home, spent=spent)


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot make folder"):
        join(Home(tmp_path / "file" / "home"))
