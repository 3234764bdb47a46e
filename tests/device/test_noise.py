"""Noise on a device: exact discrete Laplace at epsilon_report, and a weaker mechanism would be caught.

The noise has no seed, so each statistical test is wrong once in a million runs: ALARM is that probability.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare, dlaplace

from privact.device.noise import laplace_measurement, make_report, randomize
from privact.errors import InputError
from privact.protocol.bins import bin_of
from privact.protocol.labels import LabelTable
from privact.protocol.report import report_length
from privact.protocol.round import Round

ALARM = 1e-6
DRAWS = 20_000


def round_with(epsilon: float, n_bins: int) -> Round:
    return Round(id="r", epsilon=epsilon, n_bins=n_bins, n_users=100_000, seed=bytes(16))


def drawn(epsilon: float, n_bins: int) -> NDArray[np.int64]:
    """At least DRAWS noise values from vectors of n_bins entries."""
    round, exact = round_with(epsilon, n_bins), np.arange(n_bins) * 3
    calls = math.ceil(DRAWS / n_bins)
    return np.concatenate([randomize(exact, round) - exact for _ in range(calls)])


def chance_under_the_law(noise: NDArray[np.int64], epsilon_report: float) -> float:
    """Chi-square probability of these values if P(k) is proportional to exp(-epsilon_report |k|)."""
    law = dlaplace(epsilon_report)
    edge = int(law.isf(200 / noise.size))  # values beyond it are one cell a side, of at least 200 expected values
    cells = np.array([law.cdf(-edge), *law.pmf(np.arange(-edge + 1, edge)), law.sf(edge - 1)])
    observed = np.bincount(np.clip(noise.ravel(), -edge, edge) + edge, minlength=cells.size)
    return float(chisquare(observed, noise.size * cells).pvalue)


@pytest.mark.slow
@pytest.mark.parametrize("n_bins", [1, 13, 1000])
def test_noise_follows_the_law_and_weaker_noise_does_not(n_bins: int) -> None:
    epsilon = 1.0
    assert chance_under_the_law(drawn(epsilon, n_bins), epsilon / 2) > ALARM
    # A device that adds noise of 0.9 times the scale breaks its promise, and this test sees it.
    weaker = drawn(epsilon / 0.9, 1000)
    assert chance_under_the_law(weaker, epsilon / 2) < ALARM


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_law_holds_at_other_epsilons(epsilon: float) -> None:
    assert chance_under_the_law(drawn(epsilon, 500), epsilon / 2) > ALARM


def test_one_draw_shared_by_all_bins_would_be_caught() -> None:
    shared = np.repeat(drawn(1.0, 1000)[: DRAWS // 500], 500)
    assert chance_under_the_law(shared, 0.5) < ALARM


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 0.25, 1 / 3, 0.5, 0.7, 1.0, math.pi, 2.0, 49.0, 1000.0])
@pytest.mark.parametrize("n_bins", [1, 40])
def test_the_privacy_map_never_exceeds_the_promise_and_wastes_nothing(epsilon: float, n_bins: int) -> None:
    spent = laplace_measurement(epsilon / 2, n_bins).map(1)
    assert spent <= epsilon / 2
    assert math.isclose(spent, epsilon / 2, rel_tol=1e-12)


def test_replacing_a_contact_costs_twice_one_edge() -> None:
    assert laplace_measurement(0.5, 7).map(2) == 1.0


def test_a_measurement_is_built_once() -> None:
    assert laplace_measurement(0.5, 7) is laplace_measurement(0.5, 7)
    assert laplace_measurement(0.5, 7) is not laplace_measurement(0.25, 7)


def test_noise_is_whole_numbers_and_new_each_time() -> None:
    round, exact = round_with(1.0, 60), np.zeros(60, dtype=np.int64)
    one, other = randomize(exact, round), randomize(exact, round)
    assert [type(entry) for entry in one] == [int] * 60
    assert one != other  # equal once in 10^44
    assert not exact.any()


def test_strong_noise_still_fits_a_report() -> None:
    round = round_with(1e-6, 500)
    noise = randomize(np.zeros(500, dtype=np.int64), round)
    assert np.abs(noise).max() < 2**31  # exceeded with probability e^-1000
    assert np.abs(noise).max() > 10**6


@pytest.mark.parametrize(
    "vector", [[1, 2], [[1, 2, 3]], [1.0, 2.0, 3.0], ["1", "2", "3"], [True, False, True], [], [1, 2, 3, 4]], ids=repr
)
def test_only_a_vector_of_counts_is_randomized(vector: list[object]) -> None:
    with pytest.raises(InputError, match="takes 3 integers"):
        randomize(vector, round_with(1.0, 3))  # type: ignore[arg-type]


def test_report_counts_randomizes_and_binds() -> None:
    round = round_with(2000.0, 5)  # noise other than 0 once in e^1000
    made = make_report(["bob", "@Bob", "cleo", "ada"], round, "Ada")
    expected = [0] * 5
    for contact in ("bob", "cleo"):
        expected[bin_of(contact, round)] += 1
    assert list(made.vector) == expected
    made.require(round)
    assert len(made.to_bytes()) == report_length(5)


def test_report_takes_the_label_table_of_its_round() -> None:
    table = LabelTable.from_labels({"bob": 0, "cleo": 2}, 3, key=bytes(16))
    round = Round(id="r", epsilon=2000.0, n_bins=3, n_users=9, bins="labels", labels_digest=table.digest())
    assert make_report(["bob", "cleo", "dora"], round, "ada", table).vector == (1, 0, 1)
