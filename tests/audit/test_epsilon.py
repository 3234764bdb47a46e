"""The audit of epsilon: bounds that follow from frequencies, and devices of every kind that it must catch or spare."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privact.audit.epsilon import EVENTS, WHOLE_REPORT, EpsilonAudit, audit_epsilon, bound_event
from privact.audit.guessing import REPORTS, WIDE, Device, weaken_noise
from privact.device.degrees import degree_vector
from privact.errors import InputError
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.simulate.reports import simulated_noise


def device_with(noise: Any) -> Device:
    """A device that adds noise(shape, epsilon_report) to its counts."""

    def randomize(vector: Any, round: Round) -> NDArray[np.int64]:
        exact = np.asarray(vector)
        return np.asarray(exact + noise(exact.shape, round.epsilon_report))

    def report(contacts: list[str], round: Round, user: str) -> Report:
        return Report.bind(round, user, randomize(degree_vector(contacts, round, owner=user), round).tolist())

    return Device(randomize, report)


def audited(noise: Any, epsilon_report: float = 1.0, trials: int = 200_000) -> EpsilonAudit:
    return audit_epsilon(epsilon_report, trials, device=device_with(noise), rng=np.random.default_rng(1))


def seeded(law: Any) -> Any:
    """Noise of a law, drawn from one seed so that nothing here is left to chance."""
    rng = np.random.default_rng(7)
    return lambda shape, epsilon: law(shape, epsilon, rng)


def test_bounds_follow_from_counts_by_hand() -> None:
    coins = np.array([[True] * 10, [False] * 10])
    guess = np.array([[1] * 9 + [-1], [-1] * 9 + [1]])
    found = bound_event("made up", coins, guess, 0.05)
    assert (found.without, found.with_contact, found.guesses, found.right) == (10, 10, 20, 18)
    low = math.exp(found.by_guesses) / (1 + math.exp(found.by_guesses))  # at which 18 or more are right once in 20 runs
    assert sum(math.comb(20, k) * low**k * (1 - low) ** (20 - k) for k in (18, 19, 20)) == pytest.approx(0.05, rel=1e-6)
    assert found.by_sides < math.log(9)  # below the ratio of the frequencies, 0.9 to 0.1


def test_trials_without_a_guess_do_not_count() -> None:
    coins = np.array([[True, True, False, False]])
    found = bound_event("made up", coins, np.array([[1, 0, 0, -1]]), 0.05)
    assert (found.guesses, found.right, found.without, found.with_contact) == (2, 2, 1, 1)


def test_exact_noise_keeps_its_promise_and_the_bound_is_close() -> None:
    found = audited(seeded(simulated_noise))
    assert found.holds
    assert 0.95 < found.bound <= 1.0
    assert found.trials >= 200_000
    assert [event.event for event in found.events] == [*(event.name for event in EVENTS), WHOLE_REPORT]


@pytest.mark.parametrize("scale", [0.5, 0.9])
def test_weaker_noise_is_caught(scale: float) -> None:
    found = audited(seeded(lambda shape, epsilon, rng: simulated_noise(shape, epsilon / scale, rng)))
    assert not found.holds
    assert 1.0 < found.bound <= 1.0 / scale


def test_no_noise_is_caught_by_every_event() -> None:
    found = audited(lambda shape, epsilon: np.zeros(shape, np.int64), trials=20_000)
    assert all(
        max(event.by_guesses, event.by_sides) > 1.0 for event in found.events if event.event not in ("first bin", "last bin")
    )


def test_one_draw_shared_by_all_bins_is_caught_by_differences_alone() -> None:
    def shared(shape: Any, epsilon: float, rng: np.random.Generator) -> NDArray[np.int64]:
        return np.full(shape, simulated_noise(1, epsilon, rng)[0])

    found = audited(seeded(shared), trials=20_000)
    by_name = {event.event: event for event in found.events}
    assert by_name["difference to the next bin"].right == by_name["difference to the next bin"].guesses
    assert by_name["difference to the next bin"].by_guesses > 1.0
    assert by_name["all bins"].by_guesses < 1.0  # and this is why that event is there


def test_a_device_that_counts_a_contact_twice_is_caught_in_whole_reports() -> None:
    honest = device_with(seeded(simulated_noise))

    def twice(contacts: list[str], round: Round, user: str) -> Report:
        usual, all_of_them = degree_vector(contacts[:20], round), degree_vector(contacts, round)
        doubled = [2 * every - before for every, before in zip(all_of_them, usual, strict=True)]
        return Report.bind(round, user, honest.randomize(doubled, round))

    found = audit_epsilon(1.0, 1000, device=Device(honest.randomize, twice), rng=np.random.default_rng(1))
    whole = found.events[-1]
    assert whole.event == WHOLE_REPORT
    assert whole.guesses == 7 * REPORTS
    assert whole.by_guesses > 1.0


@pytest.mark.slow
def test_the_real_device_is_spared_and_the_same_device_with_less_noise_is_not() -> None:
    assert audit_epsilon(1.0, 5_000).holds  # accuses once in a million
    assert not audit_epsilon(1.0, 5_000, device=weaken_noise(0.6)).holds  # spares once in 10^80


def test_progress_counts_calls() -> None:
    calls: list[tuple[int, int]] = []
    found = audit_epsilon(
        2.0, 3000, device=device_with(seeded(simulated_noise)), progress=lambda done, total: calls.append((done, total))
    )
    assert calls == [(done, len(calls)) for done in range(1, len(calls) + 1)]
    assert len(calls) * WIDE == found.events[0].guesses


@pytest.mark.parametrize(("trials", "alpha"), [(0, 0.1), (10, 0.0), (10, 1.0)])
def test_impossible_audits_are_refused(trials: int, alpha: float) -> None:
    with pytest.raises(InputError, match="cannot be used"):
        audit_epsilon(1.0, trials, alpha=alpha)
