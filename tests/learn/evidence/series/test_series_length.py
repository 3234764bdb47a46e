"""The usual number of rounds follows epsilon."""

from __future__ import annotations

import pytest

from privact.learn.evidence.series.series_length import choose_rounds


@pytest.mark.parametrize(("epsilon", "rounds"), [(0.5, 4), (2.0, 4), (3.9, 4), (4.0, 5), (10.0, 5), (None, 4)])
def test_five_rounds_from_epsilon_4_on(epsilon, rounds):
    assert choose_rounds(epsilon) == rounds
