"""Clopper-Pearson limits: solve the equation they are defined by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from privact.audit.bounds import at_least, at_most


@given(st.integers(1, 500), st.data(), st.sampled_from([0.05, 1e-3, 1e-9]))
def test_at_the_limit_the_observation_has_probability_alpha(trials: int, data: st.DataObject, alpha: float) -> None:
    hits = data.draw(st.integers(0, trials))
    low, high = at_least(hits, trials, alpha), at_most(hits, trials, alpha)
    assert 0.0 <= low <= hits / trials <= high <= 1.0
    if hits:
        assert binom.sf(hits - 1, trials, low) == pytest.approx(alpha, rel=1e-6)
    if hits < trials:
        assert binom.cdf(hits, trials, high) == pytest.approx(alpha, rel=1e-6)


def test_nothing_and_everything_have_the_limits_of_the_textbook() -> None:
    assert at_least(0, 10, 0.05) == 0.0
    assert at_most(10, 10, 0.05) == 1.0
    assert at_least(10, 10, 0.05) == pytest.approx(0.05 ** (1 / 10))  # p^10 = alpha
    assert at_most(0, 10, 0.05) == pytest.approx(1 - 0.05 ** (1 / 10))
