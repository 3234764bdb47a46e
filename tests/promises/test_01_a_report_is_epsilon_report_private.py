"""Promise 1: a report is epsilon_report edge-private. Empirical lower bound within 0.03 of 0.25, 0.5, 1 and 2, never above.

At least 1,000,000 trials a side for each epsilon_report, on the device's own code and OpenDP's own noise, and again on the
device of the browser page with its own sampler, in a real browser; Clopper-Pearson limits of events fixed beforehand (several
bins, several neighbours, whole reports). All limits of all four audits hold together except with probability ALPHA = 1e-6: that
is how often this file accuses an honest device. With a million trials a side the bound is typically 0.006 to 0.015 below
epsilon_report; that it is more than 0.03 below has a probability under 1e-10.

A mutant whose noise scale is 0.9 times what it should be is caught, with fewer trials: enough that it is missed once in 10^8
runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from privact.audit.epsilon import ALPHA, EpsilonAudit, audit_epsilon
from privact.audit.guessing import Device, weaken_noise

EPSILONS = (0.25, 0.5, 1.0, 2.0)
TRIALS = 1_000_000
WORKERS = os.cpu_count() or 2


@pytest.mark.parametrize("epsilon_report", EPSILONS)
def test_the_bound_stays_under_epsilon_report_and_comes_within_three_hundredths(epsilon_report: float) -> None:
    assert_close_below(audit_epsilon(epsilon_report, TRIALS, alpha=ALPHA / len(EPSILONS), workers=WORKERS), epsilon_report)


@pytest.mark.parametrize("epsilon_report", EPSILONS)
def test_so_does_that_of_the_device_in_the_browser(epsilon_report: float, device_in_browser: Callable[..., Device]) -> None:
    found = audit_epsilon(epsilon_report, TRIALS, device=device_in_browser(), alpha=ALPHA / len(EPSILONS), workers=1)
    assert_close_below(found, epsilon_report)


def assert_close_below(found: EpsilonAudit, epsilon_report: float) -> None:
    """No bound exceeds what was promised, and the best comes within 0.03 of it."""
    assert found.trials >= TRIALS
    assert len(found.events) >= 10
    for event in found.events:
        assert max(event.by_guesses, event.by_sides) <= epsilon_report, event
    assert found.bound >= epsilon_report - 0.03
    whole = found.events[0]  # all bins: both kinds of bound are close
    assert min(whole.by_guesses, whole.by_sides) >= epsilon_report - 0.03


@pytest.mark.parametrize("where", ["python", "browser"])
@pytest.mark.parametrize(("epsilon_report", "trials"), [(0.25, 400_000), (0.5, 120_000), (1.0, 40_000), (2.0, 20_000)])
def test_a_mutant_with_nine_tenths_of_the_noise_is_caught(
    epsilon_report: float, trials: int, where: str, request: pytest.FixtureRequest
) -> None:
    mutant = weaken_noise(0.9) if where == "python" else request.getfixturevalue("device_in_browser")(0.9)
    found = audit_epsilon(epsilon_report, trials, device=mutant, alpha=ALPHA / len(EPSILONS), workers=WORKERS)
    assert not found.holds
    assert found.bound <= epsilon_report / 0.9  # and it is not accused of more than it does
