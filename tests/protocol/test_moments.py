"""Times and durations in words."""

from __future__ import annotations

import pytest

from privact.protocol.moments import write_duration, write_moment


def test_a_time_in_words():
    assert write_moment(1_767_225_600) == "1 January 2026, 00:00 UTC"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 seconds"), (1, "1 second"), (90, "90 seconds"), (3600, "1 hour"), (30 * 86400, "30 days"), (14 * 86400, "2 weeks")],
)
def test_a_duration_in_words(seconds, words):
    assert write_duration(seconds) == words
