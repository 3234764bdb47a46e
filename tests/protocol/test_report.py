"""Report: one encoding, of one length per round, and nothing else is taken."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privact.errors import ProtocolError
from privact.protocol.report import ENTRY_MAX, ENTRY_MIN, Report, report_length
from privact.protocol.round import Round
from privact.protocol.users import user_digest

ROUND = Round(id="spring", epsilon=1.0, n_bins=3, n_users=100, seed=bytes(16))
ENTRIES = st.integers(ENTRY_MIN, ENTRY_MAX)
REPORTS = st.builds(
    Report,
    st.binary(min_size=32, max_size=32),
    st.binary(min_size=16, max_size=16),
    st.lists(ENTRIES, min_size=1, max_size=20).map(tuple),
)


def test_encoding_is_the_documented_layout() -> None:
    report = Report.bind(ROUND, "@Ada", [5, -2, 0])
    by_hand = b"PCRP\x01" + (3).to_bytes(4) + ROUND.digest() + user_digest("ada") + struct.pack(">iii", 5, -2, 0)
    assert report.to_bytes() == by_hand
    assert len(by_hand) == report_length(3) == 57 + 12


@given(st.lists(ENTRIES, min_size=3, max_size=3), st.text(alphabet="abc", min_size=1))
def test_length_tells_neither_the_counts_nor_the_user(vector: list[int], user: str) -> None:
    assert len(Report.bind(ROUND, user, vector).to_bytes()) == report_length(ROUND.n_bins)


@given(REPORTS)
@settings(deadline=None)
def test_round_trip(report: Report) -> None:
    assert Report.from_bytes(report.to_bytes()) == report


@given(REPORTS, st.data())
@settings(deadline=None)
def test_a_changed_byte_is_refused_or_is_another_report(report: Report, data: st.DataObject) -> None:
    encoded = bytearray(report.to_bytes())
    place = data.draw(st.integers(0, len(encoded) - 1))
    encoded[place] ^= data.draw(st.integers(1, 255))
    changed = bytes(encoded)
    if place < 9:  # the name of the format, its version and the number of bins
        with pytest.raises(ProtocolError):
            Report.from_bytes(changed)
        return
    other = Report.from_bytes(changed)
    assert other != report
    assert other.to_bytes() == changed


@given(REPORTS, st.data())
@settings(deadline=None)
def test_cut_or_lengthened_bytes_are_refused(report: Report, data: st.DataObject) -> None:
    encoded = report.to_bytes()
    with pytest.raises(ProtocolError):
        Report.from_bytes(encoded[: data.draw(st.integers(0, len(encoded) - 1))])
    with pytest.raises(ProtocolError):
        Report.from_bytes(encoded + data.draw(st.binary(min_size=1, max_size=8)))


@given(st.binary(max_size=120), st.booleans())
def test_junk_is_refused(junk: bytes, with_magic: bool) -> None:
    with pytest.raises(ProtocolError):
        Report.from_bytes(b"PCRP\x02" * with_magic + junk)


def test_a_report_of_no_bins_or_too_many_is_refused() -> None:
    encoded = Report.bind(ROUND, "ada", [5, -2, 0]).to_bytes()
    with pytest.raises(ProtocolError, match="0 bins"):
        Report.from_bytes(encoded[:5] + bytes(4) + encoded[9:57])
    with pytest.raises(ProtocolError, match="4294967295 bins"):
        Report.from_bytes(encoded[:5] + b"\xff" * 4 + encoded[9:])


def test_what_does_not_fit_four_bytes_becomes_the_nearest_that_does() -> None:
    report = Report.bind(ROUND, "ada", [2**31, -(2**40), 2**31 - 1])
    assert report.vector == (ENTRY_MAX, ENTRY_MIN, ENTRY_MAX) == (2147483647, -2147483648, 2147483647)


def test_numpy_vectors_become_plain_whole_numbers() -> None:
    report = Report.bind(ROUND, "ada", np.array([1, -2, 3]))
    assert report.vector == (1, -2, 3)
    assert all(type(entry) is int for entry in report.vector)


def test_fractions_never_become_a_report() -> None:
    with pytest.raises(ProtocolError, match="whole numbers"):
        Report.bind(ROUND, "ada", [1.5, 0, 0])  # type: ignore[list-item]
    with pytest.raises(ProtocolError, match="entry True"):
        Report(bytes(32), bytes(16), (True,))


@pytest.mark.parametrize(
    ("digest", "user", "vector"),
    [
        (bytes(31), bytes(16), (1,)),
        (bytes(32), bytes(15), (1,)),
        (bytes(32), "ada", (1,)),
        (bytes(32), bytes(16), ()),
        (bytes(32), bytes(16), [1]),
        (bytes(32), bytes(16), (2**31,)),
        (bytes(32), bytes(16), (1.0,)),
    ],
)
def test_what_cannot_be_a_report_is_refused(digest: bytes, user: bytes, vector: tuple[int, ...]) -> None:
    with pytest.raises(ProtocolError):
        Report(digest, user, vector)


def test_a_report_answers_one_round_only() -> None:
    report = Report.bind(ROUND, "ada", [1, 2, 3])
    report.require(ROUND)
    other = Round(id="spring", epsilon=2.0, n_bins=3, n_users=100, seed=bytes(16))
    with pytest.raises(ProtocolError, match="not spring"):
        report.require(other)
    with pytest.raises(ProtocolError, match="2 entries; round spring has 3 bins"):
        Report.bind(ROUND, "ada", [1, 2])
    with pytest.raises(ProtocolError, match="4 entries"):
        Report(ROUND.digest(), user_digest("ada"), (1, 2, 3, 4)).require(ROUND)
