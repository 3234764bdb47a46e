"""The ledger of the browser's device keeps the rules of the Python device: one report a round, paid before it is sent, for ever.

Tabs are killed at every point between two steps; whatever was drawn before and after is one byte string, paid once.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest

from privact.device.ledger.rules import Rules, amount, check_round
from privact.errors import PrivaCTError
from privact.protocol.round import Round
from privact.protocol.users import user_digest

NOW = 1_800_000_000
USER = "ada@vinyl.example"
TOKEN = f"{user_digest(USER).hex()}.{'s' * 43}"
LOAD = (
    """async () => {
    const modules = {};
    for (const name of ["address", "bytes", "errors", "noise", "report", "round"])
        Object.assign(modules, await import(`/core/${name}.js`));
    for (const name of ["amounts", "backup", "database", "entries", "home", "ledger", "marker", "rules"])
        Object.assign(modules, await import(`/ledger/${name}.js`));
    Object.assign(window, modules);
    window.points = [];
    window.stopAt = 0;
    window.Traced = class extends Ledger {
        reached(point) {
            points.push(point);
            if (points.length === stopAt) { console.log("stopped"); for (;;); }
        }
    };
    window.database = await openDatabase();
    window.home = new Home(database, Traced);
    window.place = aggregatorAddress("https://clusters.example");
    window.join = (answered = [], spent = null) => home.join(place, TOKEN, USER, answered, spent);
    window.draw = (round, now = NOW) => home.ledgerOf(place.key).drawOnce(round, {
        now, late: false, reserve: 30, drawDelay: () => 5,
        randomize: () => encodeReport(round, USER, randomize(Array(round.nBins).fill(0), round.epsilonReport)),
    });
    window.pay = (round, now = NOW) => home.ledgerOf(place.key).payOnce(round, { now, late: false, reserve: 30 });
    window.ask = async (hex) => {
        const round = parseRound(fromHex(hex));
        await join();
        await draw(round);
        return toHex((await pay(round)).report);
    };
    window.failure = async (work) => {
        try { await work(); return null; } catch (e) { return `${e.constructor.name}: ${e.message}`; }
    };
    window.told = async () => {
        const book = await home.ledgerOf(place.key).read();
        return { spent: inWords(book.spent), left: inWords(book.left), answers: [...book.answers.keys()],
                 drawn: [...book.drawn.keys()], entries: book.nEntries, lost: [...book.lost] };
    };
}""".replace("TOKEN", json.dumps(TOKEN))
    .replace("USER", json.dumps(USER))
    .replace("NOW", str(NOW))
)


def a_round(name: str = "spring", **other: Any) -> str:
    seed = hashlib.blake2b(name.encode(), digest_size=16).digest()
    settings = {"epsilon": 0.5, "n_bins": 40, "n_users": 1000, "seed": seed, "closes": 2 * NOW, **other}
    return Round(id=name, **settings).to_bytes().hex()


ROUND = a_round()


@pytest.fixture
def new_browser(browser: Any) -> Iterator[Callable[[], Any]]:
    """Makes browsers without any memory; their tabs share one."""
    made = []

    def make() -> Any:
        made.append(browser.new_context())
        return made[-1]

    yield make
    for context in made:
        context.close()


@pytest.fixture
def tab_of(page_files_url: str) -> Callable[[Any], Any]:
    """Opens a tab with the modules of the ledger."""

    def open_tab(context: Any) -> Any:
        tab = context.new_page()
        tab.goto(f"{page_files_url}/vendor/unicode/LICENSE.txt")
        tab.evaluate(LOAD)
        return tab

    return open_tab


def failure(tab: Any, work: str, argument: Any = None) -> str:
    """How a piece of work was refused."""
    said = tab.evaluate(f"(argument) => failure(async () => {{ {work} }})", argument)
    assert said is not None, "it was not refused"
    return str(said)


def test_four_tabs_that_ask_two_hundred_times_give_one_byte_string(new_browser, tab_of) -> None:
    context = new_browser()
    tabs = [tab_of(context) for _ in range(4)]
    tabs[0].evaluate("join()")
    for tab in tabs:
        tab.evaluate("(round) => { window.asked = Promise.all(Array.from({ length: 50 }, () => ask(round))); }", ROUND)
    sent = [report for tab in tabs for report in tab.evaluate("asked")]
    assert len(sent) == 200
    assert len(set(sent)) == 1
    assert tabs[0].evaluate("told()") == {
        "spent": "0.5", "left": "9.5", "answers": ["spring"], "drawn": ["spring"], "entries": 3, "lost": [],
    }  # fmt: skip
    assert tab_of(new_browser()).evaluate("(round) => ask(round)", ROUND) != sent[0]  # alike once in 10^27


def test_a_tab_killed_at_each_point_draws_once_and_pays_once(new_browser, tab_of) -> None:
    traced = tab_of(new_browser())
    traced.evaluate("(round) => ask(round)", ROUND)
    points = traced.evaluate("points")
    steps = ("created", "joined", "begun", "delay drawn", "randomized", "written", "drawn", "marked", "paying", "paid")
    assert set(steps) == set(points)
    for place in range(1, len(points) + 1):
        context = new_browser()
        tab = tab_of(context)
        with tab.expect_console_message(lambda line: line.text == "stopped"):
            tab.evaluate("([round, place]) => { stopAt = place; ask(round); }", [ROUND, place])
        tab.close()  # its script never goes on
        later = tab_of(context)
        stored = later.evaluate(
            """async () => {
                const rows = await transact(database, "readonly", ["entries", rowsOf(place.key)], (found) => found);
                return rows.filter((row) => row.kind === "drawn").map((row) => row.report);
            }"""
        )
        after = points[:place]
        assert len(stored) == ("drawn" in after)  # what was not committed is not there
        sent = later.evaluate("(round) => ask(round)", ROUND)
        assert stored in ([], [sent])
        assert later.evaluate("(round) => ask(round)", ROUND) == sent
        told = later.evaluate("told()")
        assert (told["spent"], told["answers"], told["entries"]) == ("0.5", ["spring"], 3), points[place - 1]
        context.close()


def test_looking_costs_nothing_and_paying_once(new_browser, tab_of) -> None:
    tab = tab_of(new_browser())
    tab.evaluate("(hex) => join().then(() => draw(parseRound(fromHex(hex))))", ROUND)
    assert tab.evaluate("told()") | {"left": "10"} == tab.evaluate("told()")
    assert tab.evaluate("told()")["drawn"] == ["spring"]
    tab.evaluate("(round) => ask(round)", ROUND)
    assert tab.evaluate("told()")["left"] == "9.5"


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"epsilon": 2.5}, "costs 2.5, more than the 2"),
        ({"n_users": 99}, "99 people, fewer than the 100"),
        ({"opens": NOW + 1}, "opens at"),
        ({"closes": NOW}, "closed at"),
        ({"closes": NOW + 29}, "closes in 29 seconds"),
    ],
)
def test_what_the_python_device_refuses_is_refused(new_browser, tab_of, other, reason) -> None:
    tab = tab_of(new_browser())
    tab.evaluate("join()")
    said = failure(tab, "await draw(parseRound(fromHex(argument)))", a_round("bad", **other))
    assert said.startswith("RefusedError: ")
    assert reason in said
    assert tab.evaluate("points").count("delay drawn") == 0  # no noise was drawn


def test_rules_agree_with_python_on_random_rounds(new_browser, tab_of) -> None:
    rng = random.Random(8)
    cases, expected = [], []
    for _ in range(2000):
        opens = NOW + rng.randrange(-5, 5)
        round = Round(
            id="r", epsilon=rng.choice([0.5, 1.0, 2.0, 2.5]), n_bins=3, n_users=rng.choice([50, 99, 100, 101]),
            seed=bytes(16), opens=opens, closes=opens + rng.randrange(1, 9), joiner_seconds=rng.randrange(5),
        )  # fmt: skip
        rules = Rules(10.0, rng.choice([0.5, 1.0, 2.0]), rng.choice([1, 100]))
        late, reserve = rng.random() < 0.5, rng.randrange(4)
        try:
            check_round(round, rules, NOW, late=late, reserve=reserve)
            expected.append(True)
        except PrivaCTError:
            expected.append(False)
        cases.append([round.to_bytes().hex(), vars(rules), late, reserve])
    assert 200 < sum(expected) < 1800
    found = tab_of(new_browser()).evaluate(
        """({ cases, now }) => cases.map(([hex, rules, late, reserve]) => {
            try { checkRound(parseRound(fromHex(hex)), rules, now, late, reserve); return true; } catch { return false; }
        })""",
        {"cases": cases, "now": NOW},
    )
    assert found == expected


def test_epsilons_add_up_as_in_python(new_browser, tab_of) -> None:
    rng = random.Random(9)
    numbers = [0.1] * 10 + [rng.choice([1e-6, 0.35, 1 / 3, 2.0, 1e21]) * rng.random() for _ in range(500)]
    numbers = [number for number in numbers if number >= 1e-6]
    tab = tab_of(new_browser())
    total = tab.evaluate("(numbers) => String(numbers.reduce((sum, each) => sum + amount(each), 0n))", numbers)
    assert Fraction(int(total), 10**30) == sum(map(amount, numbers), Fraction(0))
    assert tab.evaluate("amount(0.1) * 10n === amount(1)")


def test_the_lifetime_budget_holds_and_limits_only_become_stricter(new_browser, tab_of) -> None:
    tab = tab_of(new_browser())
    tab.evaluate("join()")
    for number in range(5):
        tab.evaluate("(round) => ask(round)", a_round(f"r{number}", epsilon=2.0))
    assert tab.evaluate("told()")["left"] == "0"
    said = failure(tab, "await ask(argument)", a_round("more", epsilon=1e-6))
    assert "only 0 of your 10 is left" in said
    restrict = "await home.ledgerOf(place.key).restrict(argument)"
    assert "only become stricter" in failure(tab, restrict, {"budget": 11, "cap": 2, "minimum_users": 100})
    tab.evaluate(f"(argument) => failure(async () => {{ {restrict} }})", {"budget": 4, "cap": 0.5, "minimum_users": 200})
    assert tab.evaluate("told()")["left"] == "0"
    assert "more than the 0.5" in failure(tab, "await ask(argument)", a_round("dear", epsilon=1.0))


def test_a_round_that_changed_after_it_was_drawn_is_refused(new_browser, tab_of) -> None:
    tab = tab_of(new_browser())
    tab.evaluate("(round) => ask(round)", ROUND)
    assert "was changed after you answered it" in failure(tab, "await ask(argument)", a_round(epsilon=0.25))
    assert tab.evaluate("told()")["spent"] == "0.5"


ELSEWHERE = """() => {
    window.place = aggregatorAddress("https://other.example");
}"""


def test_one_budget_holds_for_all_addresses(new_browser, tab_of) -> None:
    tab = tab_of(new_browser())
    for number in range(3):
        tab.evaluate("(round) => ask(round)", a_round(f"r{number}", epsilon=2.0))
    tab.evaluate(ELSEWHERE)
    tab.evaluate("join()")
    assert tab.evaluate("told()")["left"] == "4"
    for number in range(2):
        tab.evaluate("(round) => ask(round)", a_round(f"s{number}", epsilon=2.0))
    assert "only 0 of your 10 is left" in failure(tab, "await ask(argument)", a_round("s9", epsilon=0.5))
    tab.evaluate("() => { window.place = aggregatorAddress('https://clusters.example'); }")
    assert "only 0 of your 10 is left" in failure(tab, "await ask(argument)", a_round("r9", epsilon=0.5))


@pytest.mark.parametrize("changed", [{}, {"epsilon": 0.25}, {"closes": NOW + 500}])
def test_the_same_question_under_another_name_or_address_gets_no_other_noise(new_browser, tab_of, changed) -> None:
    tab = tab_of(new_browser())
    tab.evaluate("(round) => ask(round)", ROUND)
    seed = hashlib.blake2b(b"spring", digest_size=16).digest()
    assert "asks the same as round spring" in failure(tab, "await ask(argument)", a_round("again", seed=seed, **changed))
    tab.evaluate(ELSEWHERE)
    assert "you answered at clusters.example" in failure(tab, "await ask(argument)", a_round(**changed))
    assert tab.evaluate("(round) => ask(round)", a_round("again", n_bins=39, seed=seed))  # other bins, another question


def test_a_ledger_that_is_lost_stops_every_address(new_browser, tab_of) -> None:
    tab = tab_of(new_browser())
    tab.evaluate("(round) => ask(round)", ROUND)
    tab.evaluate(ELSEWHERE)
    tab.evaluate("join()")
    tab.evaluate(
        """() => transact(database, "readwrite", ["entries", rowsOf("clusters.example")], (rows, store) => {
            for (const row of rows) store("entries").delete([row.aggregator, row.number]);
        })"""
    )
    assert "is gone" in failure(tab, "await ask(argument)", a_round("next"))


def test_only_the_ledger_that_was_lost_is_begun_again(new_browser, tab_of) -> None:
    tab = tab_of(new_browser())
    tab.evaluate("(round) => ask(round)", ROUND)
    tab.evaluate(ELSEWHERE)
    tab.evaluate("(round) => ask(round)", a_round("mine"))
    tab.evaluate(
        """() => transact(database, "readwrite", ["entries", rowsOf("clusters.example")], (rows, store) => {
            for (const row of rows) store("entries").delete([row.aggregator, row.number]);
        })"""
    )
    assert "nothing to begin again" in failure(tab, "await join(['mine'], 0.5)")  # this address is sound
    tab.evaluate("() => { window.place = aggregatorAddress('https://clusters.example'); }")
    tab.evaluate("join(['spring'], 3)")
    tab.evaluate(ELSEWHERE)
    told = tab.evaluate("told()")
    assert (told["answers"], told["spent"], told["left"]) == (["mine"], "3.5", "6.5")


DAMAGE = {
    "the last entry gone": "store('entries').delete([place.key, 3])",
    "the middle entry gone": "store('entries').delete([place.key, 2])",
    "an entry changed": "rows[2].epsilon = '0.1'; store('entries').put(rows[2])",
    "everything gone": "store('entries').clear()",
    "the marker gone": "removeMarker(place.key)",
    "the marker of another": "writeMarker(place.key, { ...readMarker(place.key), ledger: 'x' })",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_ledger_answers_nothing_until_it_is_begun_again(new_browser, tab_of, damage) -> None:
    tab = tab_of(new_browser())
    tab.evaluate("(round) => ask(round)", ROUND)
    tab.evaluate(
        f"""() => transact(database, "readwrite", ["entries", rowsOf(place.key)], (rows, store) => {{ {DAMAGE[damage]}; }})"""
    )
    said = failure(tab, "await ask(argument)", a_round("next"))
    assert said.startswith("LedgerError: "), said
    tab.evaluate("join(['spring'], 0.5)")
    assert tab.evaluate("told()")["spent"] == "0.5"
    assert "lost since" in failure(tab, "await ask(argument)", ROUND)
    assert tab.evaluate("(round) => ask(round)", a_round("next"))


def test_answers_that_nobody_here_knows_of_must_be_accounted_for(new_browser, tab_of) -> None:
    tab = tab_of(new_browser())
    assert failure(tab, "await join(['winter'])").startswith("LedgerError: you took part in a round before")
    tab.evaluate("join(['winter'], 3)")
    assert tab.evaluate("told()") == {
        "spent": "3", "left": "7", "answers": [], "drawn": [], "entries": 2, "lost": ["winter"],
    }  # fmt: skip
    assert "nothing to begin again" in failure(tab, "await join(['winter'], 3)")


def test_a_backup_goes_on_in_another_browser_and_an_old_one_is_refused(new_browser, tab_of) -> None:
    first = tab_of(new_browser())
    first.evaluate("join()")
    export = "async () => exportLedger(database, (await home.accounts())[0])"
    empty = first.evaluate(export)
    sent = first.evaluate("(round) => ask(round)", ROUND)
    backup = first.evaluate(export)
    assert "older than what this browser remembers" in failure(first, "await importLedger(database, argument)", empty)
    first.evaluate("(text) => importLedger(database, text)", backup)  # the same again changes nothing
    assert first.evaluate("told()")["entries"] == 3
    second = tab_of(new_browser())
    second.evaluate("(text) => importLedger(database, text)", backup)
    assert second.evaluate("(round) => ask(round)", ROUND) == sent
    assert second.evaluate("home.accounts()") == first.evaluate("home.accounts()")
    assert "older" in failure(second, "await importLedger(database, argument)", empty)


def test_a_backup_that_was_tampered_with_is_refused(new_browser, tab_of) -> None:
    tab = tab_of(new_browser())
    tab.evaluate("(round) => ask(round)", ROUND)
    backup = json.loads(tab.evaluate("async () => exportLedger(database, (await home.accounts())[0])"))
    fresh = tab_of(new_browser())
    take = "await importLedger(database, argument)"
    changed = json.loads(json.dumps(backup))
    changed["entries"][2]["epsilon"] = "0.1"
    assert "LedgerError" in failure(fresh, take, json.dumps(changed))
    moved = json.loads(json.dumps(backup))
    moved["account"]["url"] = "https://evil.example"
    assert "do not belong together" in failure(fresh, take, json.dumps(moved))
    for text in ("", "[]", "{}", "null", '{"format": "PrivaCT ledger", "version": 1, "entries": [], "deliveries": []}'):
        assert failure(fresh, take, text)
    assert fresh.evaluate("home.accounts()") == []


@pytest.mark.parametrize("step", ["join()", "draw(parseRound(fromHex(argument)))", "pay(parseRound(fromHex(argument)))"])
def test_a_full_storage_stores_nothing_and_says_so(new_browser, tab_of, small_disk, page_files_url, step) -> None:
    context = new_browser()
    empty = context.new_page()
    disk = small_disk(empty, page_files_url)
    tab = tab_of(context)
    steps = ["join()", "draw(parseRound(fromHex(argument)))", "pay(parseRound(fromHex(argument)))"]
    before = steps[: steps.index(step)]
    for each in before:
        tab.evaluate(f"(argument) => {each}", ROUND)
    empty.goto(f"{page_files_url}/vendor/unicode/LICENSE.txt")
    disk.fill()
    said = failure(tab, f"await {step}", ROUND)
    assert "no room left" in said
    assert "Nothing was sent" in said
    disk.free()
    assert tab.evaluate("transact(database, 'readonly', ['entries', null], (rows) => rows.length)") == len(before)
    assert tab.evaluate("(round) => ask(round)", ROUND)
    assert tab.evaluate("told()")["spent"] == "0.5"


def test_a_full_second_storage_stops_who_joins_until_there_is_room(new_browser, tab_of) -> None:
    tab = tab_of(new_browser())
    tab.evaluate(
        """() => {
            let text = "x".repeat(2 ** 22);
            for (let number = 0; text; number++) {
                try { localStorage.setItem(`filler ${number}`, text); } catch { text = text.slice(1 + text.length / 2); }
            }
        }"""
    )
    assert "no room left" in failure(tab, "await ask(argument)", ROUND)
    assert tab.evaluate("points").count("randomized") == 0
    tab.evaluate("localStorage.clear()")
    assert tab.evaluate("(round) => ask(round)", ROUND)
    assert tab.evaluate("told()")["entries"] == 3
