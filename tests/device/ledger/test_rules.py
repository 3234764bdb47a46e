"""What a device demands of a round."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privact.device.ledger.rules import Rules, amount, check_round, format_epsilon
from privact.errors import InputError, RefusedError
from privact.protocol.round import Round

ROUND = Round(id="r", epsilon=2.0, n_bins=4, n_users=100, seed=bytes(16), opens=1000, closes=2000, joiner_seconds=50)


@pytest.mark.parametrize(("now", "late"), [(1000, False), (1999.9, False), (2000, True), (2049, True), (1000, True)])
def test_a_round_within_the_rules_passes(now, late):
    check_round(ROUND, Rules(), now, late=late)


@pytest.mark.parametrize(
    ("rules", "now", "late", "reason"),
    [
        ({"cap": 1.999}, 1500, False, "epsilon 2, above the 1.999"),
        ({"minimum_users": 101}, 1500, False, "100 users, fewer than the 101"),
        ({}, 999.9, False, "opens at 1970-01-01 00:16:40 UTC but the clock here says 1970-01-01 00:16:39 UTC"),
        ({}, 2000, False, "closed at 1970-01-01 00:33:20 UTC"),
        ({}, 2050, True, "closed at 1970-01-01 00:34:10 UTC"),
        ({}, -1e10, False, "opens at"),
        ({}, 1e18, False, "closed at"),
    ],
)
def test_a_round_against_the_rules_is_refused_with_the_reason(rules, now, late, reason):
    with pytest.raises(RefusedError, match=reason) as refused:
        check_round(ROUND, Rules(**rules), now, late=late)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("now", "late"), [(1990, False), (2040, True)])
def test_a_round_that_closes_too_soon_for_a_report_is_refused(now, late):
    check_round(ROUND, Rules(), now - 20, late=late, reserve=30.0)
    with pytest.raises(RefusedError, match="closes in 10 s, and a report needs 30 s"):
        check_round(ROUND, Rules(), now, late=late, reserve=30.0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("budget", -1), ("budget", math.nan), ("budget", math.inf), ("budget", "10"), ("budget", True), ("cap", 0.0),
        ("cap", 1e-7), ("minimum_users", 0), ("minimum_users", 100.0), ("minimum_users", True),
    ],
)  # fmt: skip
def test_limits_that_are_none_are_refused(field, value):
    with pytest.raises(InputError, match=f"{field} is "):
        Rules(**{field: value})


def test_rules_only_become_stricter():
    rules = Rules(5.0, 1.0, 200)
    assert rules.tightened(Rules(10.0, 0.5, 100)) == Rules(5.0, 0.5, 200)
    rules.must_tighten(Rules(4.0, 1.0, 300))
    for looser in (Rules(6.0, 1.0, 200), Rules(5.0, 1.5, 200), Rules(5.0, 1.0, 199)):
        with pytest.raises(InputError, match="limits only become stricter"):
            rules.must_tighten(looser)


def test_amounts_add_up_as_people_read_them():
    assert sum([amount(0.1)] * 10) == 1
    assert amount(1e-06) == Fraction(1, 10**6)
    assert format_epsilon(amount(0.1) + amount(0.2)) == "0.3"
    assert format_epsilon(Fraction(1, 3)) == "0.3333333333"


@given(st.floats(min_value=1e-6, max_value=1e6))
def test_an_amount_is_the_number_to_the_last_digit(epsilon):
    assert float(amount(epsilon)) == epsilon
