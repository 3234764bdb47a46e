"""Promise 4. The lifetime budget holds over 1,000 rounds and clocks off by ten years.

A hostile aggregator announces round after round, each open by whatever the device's clock says, with epsilons that fit what is
left as closely as they can. What was answered, added up exactly, never exceeds the budget, and no time gives anything back.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

from privact.device.ledger.ledger import Ledger
from privact.device.ledger.rules import Rules
from privact.errors import RefusedError
from privact.protocol.report import Report
from privact.protocol.round import Round

ROUNDS = 1000
TEN_YEARS = 10 * 365 * 24 * 3600
NOW = 1_800_000_000
USER = "ada@vinyl.example"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A ledger with a budget of 10, in memory where there is such a folder."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else tmp_path))
    made = Ledger(folder / "ledger.sqlite3", folder / "marker.json", "clusters.example", USER)
    made.create(Rules(budget=10.0, cap=2.0))
    yield made
    shutil.rmtree(folder)


def open_round(number: int, epsilon: float, clock: int) -> Round:
    """A round that is open by the given clock."""
    seed = number.to_bytes(16, "big")
    return Round(id=f"round-{number}", epsilon=epsilon, n_bins=1, n_users=1000, seed=seed, opens=clock - 5, closes=clock + 5)


def ask(ledger: Ledger, round: Round, clock: float) -> bool:
    """Whether a device answers; the counts do not matter here."""
    blank = Report.bind(round, USER, [0] * round.n_bins)
    try:
        ledger.answer_once(round, now=clock, draw_slot=lambda: 0, randomize=lambda: blank)
    except RefusedError:
        return False
    return True


def test_what_is_answered_never_exceeds_the_budget_whatever_the_clock_says(ledger: Ledger) -> None:
    chance = random.Random(4)
    spent, answered, refused = Fraction(0), [], []
    for number in range(ROUNDS):
        clock = NOW + chance.randint(-TEN_YEARS, TEN_YEARS)
        left = float(10 - spent)
        wanted = [chance.uniform(1e-3, 2.0), chance.choice([0.1, 0.25, 0.5, 1.0, 2.0]), left / 2, left, left * (1 + 1e-12), 1e-3]
        epsilon = min(max(chance.choice(wanted), 1e-6), 2.0)
        round = open_round(number, epsilon, clock)
        fits = Fraction(repr(epsilon)) <= 10 - spent
        assert ask(ledger, round, clock) == fits
        spent += Fraction(repr(epsilon)) if fits else 0
        assert spent <= 10
        (answered if fits else refused).append(round)
    assert len(answered) > 10
    assert len(refused) > 500
    book = ledger.read()
    assert book.spent == spent
    assert list(book.answers) == [round.id for round in answered]
    for shift in (-TEN_YEARS, TEN_YEARS):  # time gives nothing back
        assert not any(ask(ledger, round, round.opens + shift) for round in refused[::8])
    later = [NOW + decades * TEN_YEARS for decades in range(100)]
    assert not any(ask(ledger, open_round(ROUNDS, 0.5, clock), clock) for clock in later)
    assert ledger.read() == book


def test_a_hundred_times_a_tenth_is_ten_and_not_one_more(ledger: Ledger) -> None:
    answers = [ask(ledger, open_round(number, 0.1, NOW), NOW) for number in range(200)]
    assert answers == [True] * 100 + [False] * 100
    assert ledger.read().left == 0


def test_sixteen_threads_with_a_hundred_rounds_spend_no_more_than_one(ledger: Ledger) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: ask(ledger, open_round(number, 0.5, NOW), NOW), range(100)))
    assert sum(answers) == 20
    assert ledger.read().left == 0


def test_a_clock_off_by_ten_years_is_refused_where_the_round_is_not_open_by_it(ledger: Ledger) -> None:
    for number, shift in enumerate((-TEN_YEARS, TEN_YEARS, -6, 5)):
        assert not ask(ledger, open_round(number, 1.0, NOW), NOW + shift)
    assert ledger.read().spent == 0
    assert ask(ledger, open_round(9, 1.0, NOW), NOW + 4.9)


def test_asking_again_after_ten_years_costs_nothing_and_changes_nothing(ledger: Ledger) -> None:
    round = open_round(0, 2.0, NOW)
    assert ask(ledger, round, NOW)
    before = ledger.read()
    for years in range(-10, 11):
        assert ask(ledger, round, NOW + years * TEN_YEARS // 10)
    assert ledger.read() == before
    assert before.spent == 2
