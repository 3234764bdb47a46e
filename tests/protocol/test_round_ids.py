from __future__ import annotations

import pytest

from privact.protocol.round_ids import is_round_id


@pytest.mark.parametrize("text", ["spring", "2026-01", "a.b_c", "Z", "x" * 64])
def test_letters_digits_and_three_signs_are_ids(text):
    assert is_round_id(text)


@pytest.mark.parametrize("text", ["", ".", "..", "-x", "_x", ".x", "a/b", "a b", "a\n", "x" * 65, "ä", "٣", 5, None])
def test_anything_else_is_not(text):
    assert not is_round_id(text)
