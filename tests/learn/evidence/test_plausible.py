"""Clamping: honest reports stay as they are, and nothing beyond what a count can be gets through."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from privact.errors import InputError
from privact.learn.evidence.plausible import TOUCHED, largest_noise, largest_total_noise, plausible_counts

EPSILONS = [0.05, 0.25, 0.5, 1.0, 2.0, 8.0]
REPORTS = st.integers(1, 9).flatmap(
    lambda n_bins: arrays.arrays(
        np.int64, st.tuples(st.integers(1, 6), st.just(n_bins)), elements=st.integers(-(2**31), 2**31 - 1) | st.integers(-99, 99)
    )
)


def law(epsilon: float, reach: int) -> NDArray[np.float64]:
    """Probabilities of noise from -reach to reach."""
    return np.tanh(epsilon / 2) * np.exp(-epsilon * np.abs(np.arange(-reach, reach + 1)))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n_bins", [1, 7, 100])
def test_noise_in_a_bin_exceeds_its_limit_as_rarely_as_stated_and_one_less_would_not_do(epsilon: float, n_bins: int) -> None:
    def touched(limit: int) -> float:
        decay = math.exp(-epsilon)
        return n_bins * 2 * decay ** (limit + 1) / (1 + decay)

    limit = largest_noise(epsilon, n_bins)
    assert touched(limit) <= TOUCHED / 2 * (1 + 1e-9)
    assert limit == 0 or touched(limit - 1) > TOUCHED / 2


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n_bins", [1, 3, 16])
def test_total_noise_exceeds_its_limit_less_often_than_stated_and_the_limit_is_not_wasteful(epsilon: float, n_bins: int) -> None:
    touched = 1e-4  # so that the exact law is far above rounding errors
    reach = math.ceil(40 / epsilon)
    one = law(epsilon, reach)
    total = one
    for _ in range(n_bins - 1):
        total = np.convolve(total, one)
    size = np.abs(np.arange(len(total)) - len(total) // 2)

    def beyond(limit: int) -> float:
        return float(total[size > limit].sum())

    limit = largest_total_noise(epsilon, n_bins, touched)
    assert beyond(limit) <= touched / 2
    assert limit <= 3 or beyond(math.floor(0.7 * limit) - 1) > touched / 2


def test_honest_reports_are_returned_as_they_came() -> None:
    rng = np.random.default_rng(0)
    n_users, n_bins = 200, 7
    counts = rng.multinomial(n_users - 1, np.full(n_bins, 1 / n_bins), 20_000)
    counts[::2] = 0
    counts[::4, 3] = n_users - 1  # everybody is a contact, in one bin: the most there can be
    for epsilon in (0.25, 1.0):
        success = -np.expm1(-epsilon)
        noise = rng.geometric(success, counts.shape) - rng.geometric(success, counts.shape)
        assert np.array_equal(plausible_counts(counts + noise, n_users, epsilon), counts + noise)


def test_one_beyond_the_limit_of_an_entry_is_cut_and_at_the_limit_is_not() -> None:
    limit = largest_noise(1.0, 2)
    top, bottom = 9 + limit, -limit
    reports = np.array([[top, 0], [top + 1, 0], [bottom, 1], [bottom - 1, 1]])
    assert plausible_counts(reports, 10, 1.0).tolist() == [[top, 0], [top, 0], [bottom, 1], [bottom, 1]]


def test_a_total_beyond_the_limit_lowers_the_highest_entries_to_one_level() -> None:
    limit = 100 + largest_total_noise(0.5, 5)
    level = (limit - 1 - 0 + 3) // 2
    assert plausible_counts([[1000, 2000, 1, 0, -3]], 101, 0.5).tolist() == [[level, level, 1, 0, -3]]
    even = limit // 5
    assert plausible_counts([[2**31 - 1] * 5], 101, 0.5).tolist() == [[even] * 5]


def test_a_total_below_the_limit_raises_the_lowest_entries() -> None:
    limit = largest_total_noise(0.5, 5)
    assert plausible_counts([[-(2**31)] * 5], 101, 0.5).tolist() == [[-(limit // 5)] * 5]


@given(REPORTS, st.integers(1, 10_000), st.sampled_from(EPSILONS))
@settings(deadline=None)
def test_whatever_comes_is_in_range_afterwards_in_the_same_order_and_clamping_again_changes_nothing(
    reports: NDArray[np.int64], n_users: int, epsilon: float
) -> None:
    n_bins = reports.shape[1]
    before = reports.copy()
    clamped = plausible_counts(reports, n_users, epsilon)
    assert np.array_equal(reports, before)
    entry, total = largest_noise(epsilon, n_bins), largest_total_noise(epsilon, n_bins)
    assert clamped.min() >= -entry
    assert clamped.max() <= n_users - 1 + entry
    sums = clamped.sum(axis=1)
    assert (sums >= -total).all()
    assert (sums <= n_users - 1 + total).all()
    rows = np.arange(len(reports))[:, None]
    assert (np.diff(clamped[rows, np.argsort(reports, axis=1, kind="stable")], axis=1) >= 0).all()
    assert np.array_equal(plausible_counts(clamped, n_users, epsilon), clamped)
    untouched = (np.abs(reports).max(axis=1) <= entry) & (np.abs(reports.sum(axis=1)) <= total)
    assert np.array_equal(clamped[untouched], reports[untouched])


def test_many_reports_are_clamped_in_blocks() -> None:
    reports = np.full((70_000, 2), 5)
    reports[[0, 65_535, 65_536, 69_999]] = 10**9
    clamped = plausible_counts(reports, 50, 1.0)
    assert np.flatnonzero((clamped != reports).any(axis=1)).tolist() == [0, 65_535, 65_536, 69_999]
    assert len(np.unique(clamped, axis=0)) == 2


@pytest.mark.parametrize(
    ("reports", "n_users", "epsilon", "names"),
    [
        ([[1]], 0, 1.0, "n_users is 0"),
        ([[1]], 5, 0.0, "epsilon_report is 0.0"),
        ([[1]], 5, math.nan, "epsilon_report is nan"),
        ([[1.5]], 5, 1.0, "fractions"),
        ([1, 2], 5, 1.0, "shape"),
    ],
)
def test_what_cannot_be_clamped_is_refused(reports: list[object], n_users: int, epsilon: float, names: str) -> None:
    with pytest.raises(InputError, match=names):
        plausible_counts(reports, n_users, epsilon)  # type: ignore[arg-type]


def test_a_limit_for_no_bins_is_refused() -> None:
    with pytest.raises(InputError, match="n_bins is 0"):
        largest_noise(1.0, 0)
