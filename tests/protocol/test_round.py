"""Round: validated public parameters, one encoding, one digest."""

from __future__ import annotations

import hashlib
import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privact.errors import ProtocolError
from privact.protocol.round import LAST_SECOND, MAX_BINS, MAX_USERS, MIN_EPSILON, Round, default_bins, epsilon_per_report
from privact.protocol.round_series import MAX_SERIES_ROUNDS, Series

SEED = bytes(range(16))
PLAIN: dict[str, Any] = {"id": "spring", "epsilon": 1.0, "n_bins": 7, "n_users": 1843, "seed": SEED, "opens": 100, "closes": 200}
LABELS: dict[str, Any] = {**PLAIN, "bins": "labels", "seed": b"", "labels_digest": bytes(32)}


@st.composite
def rounds(draw: st.DrawFn) -> Round:
    n_users = draw(st.integers(1, MAX_USERS))
    opens = draw(st.integers(0, LAST_SECOND - 1))
    closes = draw(st.integers(opens + 1, LAST_SECOND))
    kind = draw(st.sampled_from(["random", "labels"]))
    id = draw(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True))
    epsilon = draw(st.floats(MIN_EPSILON, allow_infinity=False, allow_nan=False))
    series, number = None, 0
    if draw(st.booleans()):
        series = Series(id[:60], draw(st.integers(2, MAX_SERIES_ROUNDS)), max(epsilon, 1e-3))
        number = draw(st.integers(1, series.rounds))
        id, epsilon = series.round_id(number), series.epsilon_per_round
    return Round(
        id=id,
        epsilon=epsilon,
        series=series,
        series_number=number,
        n_bins=draw(st.integers(1, min(n_users, MAX_BINS))),
        n_users=n_users,
        bins=kind,  # type: ignore[arg-type]
        seed=draw(st.binary(min_size=16, max_size=32)) if kind == "random" else b"",
        labels_digest=draw(st.binary(min_size=32, max_size=32)) if kind == "labels" else b"",
        opens=opens,
        closes=closes,
        joiner_seconds=draw(st.integers(0, LAST_SECOND - closes)),
    )


def test_a_report_gets_half_of_what_is_promised_per_edge() -> None:
    assert epsilon_per_report(1.0) == 0.5
    assert Round(**PLAIN).epsilon_report == 0.5


@pytest.mark.parametrize(("n_users", "bins"), [(1, 1), (2, 1), (7, 1), (8, 2), (1503, 7), (1843, 7), (2848, 7), (1_000_000, 13)])
def test_default_bins_are_the_floor_of_the_logarithm(n_users: int, bins: int) -> None:
    assert default_bins(n_users) == bins


def test_no_users_have_no_bins() -> None:
    with pytest.raises(ProtocolError, match="at least 1 user"):
        default_bins(0)


def test_encoding_is_the_documented_layout() -> None:
    by_hand = (
        b"PCRD" + b"\x01" + b"\x00" + struct.pack(">d", 1.0) + (7).to_bytes(4) + (1843).to_bytes(4)
        + (100).to_bytes(8) + (200).to_bytes(8) + (50).to_bytes(8) + b"\x06spring" + b"\x10" + SEED
    )  # fmt: skip
    assert Round(**PLAIN, joiner_seconds=50).to_bytes() == by_hand
    assert Round(**PLAIN, joiner_seconds=50).digest() == hashlib.blake2b(by_hand, digest_size=32).digest()


def test_a_round_is_small_whatever_the_network() -> None:
    assert len(Round(**{**PLAIN, "id": "x" * 64, "n_users": MAX_USERS, "seed": bytes(32)}).to_bytes()) < 200


@given(rounds())
@settings(deadline=None)
def test_round_trip(original: Round) -> None:
    data = original.to_bytes()
    assert Round.from_bytes(data) == original
    assert Round.from_bytes(data, digest=original.digest()) == original


@given(rounds(), st.data())
@settings(deadline=None)
def test_a_changed_byte_is_refused_or_is_another_round(original: Round, data: st.DataObject) -> None:
    encoded = bytearray(original.to_bytes())
    place = data.draw(st.integers(0, len(encoded) - 1))
    encoded[place] ^= data.draw(st.integers(1, 255))
    changed = bytes(encoded)
    with pytest.raises(ProtocolError, match="announced digest"):
        Round.from_bytes(changed, digest=original.digest())
    try:
        other = Round.from_bytes(changed)
    except ProtocolError:
        return
    assert other != original
    assert other.to_bytes() == changed
    assert other.digest() != original.digest()


@given(rounds(), st.data())
@settings(deadline=None)
def test_cut_or_lengthened_bytes_are_refused(original: Round, data: st.DataObject) -> None:
    encoded = original.to_bytes()
    with pytest.raises(ProtocolError):
        Round.from_bytes(encoded[: data.draw(st.integers(0, len(encoded) - 1))])
    with pytest.raises(ProtocolError):
        Round.from_bytes(encoded + data.draw(st.binary(min_size=1, max_size=40)))


@given(st.binary(max_size=200), st.booleans())
def test_junk_is_refused(junk: bytes, with_magic: bool) -> None:
    with pytest.raises(ProtocolError):
        Round.from_bytes(b"PCRD" * with_magic + junk[: 50 if with_magic else None])


@pytest.mark.parametrize(
    ("field", "value", "names"),
    [
        ("epsilon", 0, "epsilon is 0"),
        ("epsilon", -1.0, "at least 1e-06"),
        ("epsilon", math.nan, "finite"),
        ("epsilon", math.inf, "finite"),
        ("epsilon", 1e-7, "1e-07"),
        ("epsilon", 10**400, "finite"),
        ("epsilon", True, "epsilon is True"),
        ("epsilon", "1", "epsilon is '1'"),
        ("epsilon", None, "epsilon is None"),
        ("n_bins", 0, "n_bins is 0; .* 1 to 1843"),
        ("n_bins", 1844, "n_bins is 1844; .* 1 to 1843"),
        ("n_bins", 7.0, "whole number"),
        ("n_bins", True, "n_bins is True"),
        ("n_users", 0, "n_users is 0"),
        ("n_users", 2**31, "n_users is 2147483648"),
        ("id", "", "round id ''"),
        ("id", "two words", "round id"),
        ("id", "../up", "round id"),
        ("id", "x" * 65, "1 to 64"),
        ("id", "line\n", "round id"),
        ("id", 5, "round id 5"),
        ("bins", "hash", "'random' or 'labels'"),
        ("bins", "labels", "labels_digest is 0 bytes"),
        ("seed", b"short", "seed is 5 bytes; it must be 16 to 32"),
        ("seed", bytes(33), "33 bytes"),
        ("seed", "0123456789abcdef", "seed is a str"),
        ("seed", bytearray(16), "seed is a bytearray"),
        ("labels_digest", bytes(32), "no label table"),
        ("opens", -1, "opens is -1"),
        ("opens", 200, "closes is 200; .* 201"),
        ("opens", None, "opens is None"),
        ("closes", LAST_SECOND + 1, "closes is"),
        ("joiner_seconds", -1, "joiner_seconds is -1"),
        ("joiner_seconds", LAST_SECOND, "year 10000"),
        ("version", 2, "version is 2; .* update the older side"),
    ],
)
def test_what_cannot_be_a_round_is_refused_in_one_line(field: str, value: object, names: str) -> None:
    with pytest.raises(ProtocolError, match=names) as refused:
        Round(**{**PLAIN, field: value})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("field", "value"), [("seed", SEED), ("labels_digest", bytes(31)), ("labels_digest", b"")])
def test_label_rounds_name_a_table_and_no_seed(field: str, value: bytes) -> None:
    assert Round(**LABELS).labels_digest == bytes(32)
    with pytest.raises(ProtocolError, match=field):
        Round(**{**LABELS, field: value})


def test_numbers_of_every_kind_give_the_same_bytes() -> None:
    same = Round(**{**PLAIN, "epsilon": 1, "n_bins": np.int64(7), "n_users": np.int32(1843)})
    assert same.to_bytes() == Round(**PLAIN).to_bytes()
    assert (type(same.epsilon), type(same.n_bins)) == (float, int)
    assert epsilon_per_report(np.float32(2.0)) == 1.0  # type: ignore[arg-type]


def test_a_round_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Round(**PLAIN).epsilon = 2.0  # type: ignore[misc]


def test_privacy_sentence_says_what_is_promised_and_what_is_not() -> None:
    sentence = Round(**PLAIN).privacy_sentence()
    assert "epsilon 1.0 over everything sent about that edge" in sentence
    assert "e^1.0, about 2.72" in sentence
    assert "each with epsilon 0.5" in sentence
    assert "rounds add up" in sentence
    for unprotected in ("a whole contact list at once", "ratings", "the fact that a user takes part"):
        assert unprotected in sentence.split("Not protected:")[1]
    assert "\n" not in sentence
    assert "epsilon 1000.0" in Round(**{**PLAIN, "epsilon": 1000}).privacy_sentence()
