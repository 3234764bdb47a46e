"""Ids numbered in the order in which they come, block by block: the same numbers as a Python dict gives."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privact.network import _id_numbers as module
from privact.network._id_numbers import IdNumbers

IDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)


@pytest.fixture(scope="module", autouse=True)
def small_start():
    """Begin with room for two ids, so that everything grows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FIRST_IDS", 2)
        yield


@settings(deadline=None)
@given(st.lists(st.lists(IDS, unique=True, max_size=40), max_size=6))
def test_numbers_are_those_of_a_dict(blocks):
    numbers, plain = IdNumbers(), {}
    for block in blocks:
        expected = [plain.setdefault(each, len(plain)) for each in block]
        assert numbers.number(pa.array(block, pa.string())).tolist() == expected
    assert len(numbers) == len(plain)
    if plain:
        packed = numbers.pack()
        assert list(packed) == list(plain) == [packed[i] for i in range(len(packed))]


def test_a_slice_of_an_arrow_array():
    numbers = IdNumbers()
    assert numbers.number(pa.array(["a", "bb", "ccc", "dd"])[1:3]).tolist() == [0, 1]
    assert numbers.number(pa.array(["ccc", "a"])).tolist() == [1, 2]
    assert list(numbers.pack()) == ["bb", "ccc", "a"]
