"""How many users the splits of a group are found on."""

from __future__ import annotations

import pytest

from privact.learn.limits import LIMITS


@pytest.mark.parametrize(
    ("group", "sampled"), [(20_001, 8_000), (1_000_000, 10_000), (3_000_000, 30_000), (10_000_000, 64_000), (10**8, 64_000)]
)
def test_large_groups_are_split_on_larger_samples(group, sampled):
    assert LIMITS.split_sample_of(group) == sampled
