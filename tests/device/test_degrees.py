"""Exact degree vectors: every contact counts once, in its own bin."""

from __future__ import annotations

from operator import sub

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privact.device.degrees import degree_vector
from privact.errors import InputError
from privact.protocol.bins import bin_of
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round

ROUND = Round(id="r", epsilon=1.0, n_bins=5, n_users=100, seed=bytes(16))
NAMES = st.sets(st.text(alphabet="abcxyz0123", min_size=1, max_size=6), max_size=30)


@given(NAMES)
def test_each_contact_counts_once_in_its_bin(names: set[str]) -> None:
    expected = [0] * 5
    for name in names:
        expected[bin_of(name, ROUND)] += 1
    vector = degree_vector(names, ROUND)
    assert vector == expected


@given(NAMES, st.text(alphabet="klmn", min_size=1, max_size=6))
def test_one_contact_more_changes_one_entry_by_one(names: set[str], new: str) -> None:
    more, before = degree_vector([*names, new], ROUND), degree_vector(names, ROUND)
    assert sorted(map(sub, more, before)) == [0, 0, 0, 0, 1]


def test_spellings_of_one_contact_count_once() -> None:
    assert sum(degree_vector(["ada@s.example", "@Ada@S.example", " ada@s.example"], ROUND)) == 1


def test_nobody_is_their_own_contact() -> None:
    assert degree_vector(["ada", "bob"], ROUND, owner="@Ada") == degree_vector(["bob"], ROUND)
    assert sum(degree_vector(["bob"], ROUND, owner="ada")) == 1


def test_a_user_without_contacts_has_a_vector_too() -> None:
    assert degree_vector([], ROUND) == [0, 0, 0, 0, 0]
    assert degree_vector(iter(()), ROUND, owner="ada") == [0, 0, 0, 0, 0]


def test_contacts_in_no_group_are_counted_nowhere() -> None:
    table = LabelTable.from_labels({"ada": 0, "bob": 2, "cleo": 2}, 3, key=bytes(16))
    round = Round(id="r", epsilon=1.0, n_bins=3, n_users=9, bins="labels", labels_digest=table.digest())
    assert degree_vector(["ada", "bob", "cleo", "dora", "eve"], round, table) == [1, 0, 2]
    assert degree_vector(["dora"], round, table) == [0, 0, 0]


def test_a_single_text_is_not_a_list_of_contacts() -> None:
    with pytest.raises(InputError, match="pass a list"):
        degree_vector("ada", ROUND)
