"""Series: what is agreed on once, and which rounds keep to it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privact.errors import ProtocolError
from privact.protocol.promise import amount
from privact.protocol.round import Round
from privact.protocol.round_series import MAX_SERIES_ROUNDS, Series

AUTUMN = Series("autumn", 4, 4.0)
SECOND: dict[str, Any] = {
    "id": "autumn.2", "epsilon": 1.0, "n_bins": 7, "n_users": 1843, "seed": bytes(16), "series": AUTUMN, "series_number": 2,
}  # fmt: skip


@given(st.integers(2, MAX_SERIES_ROUNDS), st.floats(1e-3, 1e6))
def test_all_rounds_together_cost_at_most_the_total_and_nearly_all_of_it(rounds: int, epsilon: float) -> None:
    share = Series("x", rounds, epsilon).epsilon_per_round
    assert amount(share) * rounds <= amount(epsilon)
    assert share * rounds == pytest.approx(epsilon, rel=1e-12)


def test_shares_are_the_decimals_that_people_read() -> None:
    assert Series("x", 3, 0.3).epsilon_per_round == 0.1
    assert Series("x", 3, 0.9).allows(0.3)  # as doubles, three times 0.3 is more than 0.9
    assert AUTUMN.most_from(1) == 4
    assert AUTUMN.most_from(4) == Fraction(1)


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"rounds": 1}, "2 to 100"),
        ({"rounds": 101}, "2 to 100"),
        ({"rounds": True}, "True rounds"),
        ({"name": ""}, "series name ''"),
        ({"name": "x" * 61}, "1 to 60"),
        ({"name": "-x"}, "start with"),
        ({"epsilon": 0.0}, "epsilon is 0.0"),
        ({"epsilon": 7e-6}, "too little"),
    ],
)
def test_what_cannot_be_a_series_is_refused_in_one_line(fields: dict[str, Any], names: str) -> None:
    with pytest.raises(ProtocolError, match=names) as refused:
        Series(**{"name": "autumn", "rounds": 4, "epsilon": 4.0, **fields})
    assert "\n" not in str(refused.value)


def test_a_round_on_its_own_has_the_bytes_it_always_had_and_one_of_a_series_twelve_more() -> None:
    alone = Round(**{**SECOND, "series": None, "series_number": 0}).to_bytes()
    inside = Round(**SECOND).to_bytes()
    assert inside == alone[:5] + b"\x02" + alone[6:] + b"\x00\x02\x00\x04" + bytes.fromhex("4010000000000000")
    assert Round.from_bytes(inside) == Round(**SECOND)
    assert Round.from_bytes(alone).series is None


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"series_number": 5, "id": "autumn.5"}, "number 5 of a series of 4"),
        ({"series_number": 0}, "number 0"),
        ({"series_number": 3}, "autumn.3: rename it"),
        ({"id": "autumn.02"}, "autumn.2: rename it"),
        ({"id": "winter.2"}, "of series autumn"),
        ({"epsilon": 1.0000000000000002}, "more than 1/4 of the 4.0"),
        ({"series": None}, "in no series"),
    ],
)
def test_a_round_that_breaks_its_series_is_refused(fields: dict[str, Any], names: str) -> None:
    with pytest.raises(ProtocolError, match=names):
        Round(**{**SECOND, **fields})


@pytest.mark.parametrize("tail", ["", "00", "000500040000000000000000", "00020004" + "7ff0000000000000"])
def test_bytes_whose_series_is_cut_or_cannot_be_are_refused(tail: str) -> None:
    with pytest.raises(ProtocolError):
        Round.from_bytes(Round(**SECOND).to_bytes()[:-12] + bytes.fromhex(tail))
