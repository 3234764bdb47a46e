"""The audit of a series: a bound over all reports about an edge that comes close to the total, and devices it must catch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privact.audit.guessing import WIDE, Device
from privact.audit.series_epsilon import SeriesAudit, audit_series
from privact.device.noise import make_report
from privact.errors import InputError
from privact.protocol.round import Round
from privact.simulate.reports import simulated_noise


def audited(epsilon: float, rounds: int, scale: float = 1.0, trials: int = 100_000) -> SeriesAudit:
    """The audit of a device whose noise has its scale multiplied, from one seed so that nothing is left to chance."""
    rng = np.random.default_rng(7)

    def randomize(vector: Any, round: Round) -> NDArray[np.int64]:
        exact = np.asarray(vector)
        return np.asarray(exact + simulated_noise(exact.shape, round.epsilon_report / scale, rng))

    device = Device(randomize, make_report)
    return audit_series(epsilon, rounds, trials, device=device, rng=np.random.default_rng(1), workers=1)


@pytest.mark.parametrize(("epsilon", "rounds"), [(4.0, 4), (2.0, 2), (1.0, 1)])
def test_the_reports_of_a_series_together_reach_its_epsilon_and_no_more(epsilon: float, rounds: int) -> None:
    found = audited(epsilon, rounds)
    assert found.holds
    assert 0.85 * epsilon < found.bound <= epsilon
    assert found.trials >= 100_000


def test_each_event_stays_below_what_the_reports_it_reads_may_tell() -> None:
    events = {event.event: event.by_guesses for event in audited(4.0, 4).events}
    assert events["all reports of one end agree"] <= 2.0 < events["all reports agree"]
    assert events["both reports of the last round agree"] <= 1.0
    assert events["both reports of the last round agree"] > 0.9


@pytest.mark.parametrize("scale", [0.25, 0.7])
def test_a_device_that_spends_more_in_each_round_is_caught(scale: float) -> None:
    found = audited(4.0, 4, scale, 50_000)
    assert not found.holds
    assert 4.0 < found.bound <= 4.0 / scale


def test_progress_counts_calls() -> None:
    calls: list[tuple[int, int]] = []
    found = audit_series(2.0, 2, 1000, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(done, len(calls)) for done in range(1, len(calls) + 1)]
    assert found.trials * 2 <= len(calls) * WIDE


@pytest.mark.parametrize(("rounds", "trials"), [(0, 10), (4, 0)])
def test_impossible_audits_are_refused(rounds: int, trials: int) -> None:
    with pytest.raises(InputError, match="cannot be used"):
        audit_series(1.0, rounds, trials)
