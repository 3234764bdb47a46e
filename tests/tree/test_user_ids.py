from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privact.errors import InputError, TreeError, UnknownUserError
from privact.tree import id_index
from privact.tree import user_ids as module
from privact.tree.user_ids import UserIds, find_ids_problem, number_leaves

texts = st.lists(st.text(st.characters(codec="utf-8"), max_size=4), min_size=1, max_size=12, unique=True)


@given(texts)
def test_ids_come_back_as_they_went_in(names):
    ids = UserIds.of(names)
    assert list(ids) == names == ids[:]
    assert [ids[i] for i in range(-len(names), 0)] == names
    assert ids == names
    assert ids == UserIds.of(names)
    assert [ids.leaf(name) for name in names] == list(range(len(names)))
    assert find_ids_problem(ids.packed, len(names)) is None
    assert pickle.loads(pickle.dumps(ids)) == ids


@pytest.mark.parametrize("tabled", [False, True])
def test_scan_and_table_find_the_same(monkeypatch, tabled):
    monkeypatch.setattr(module, "INDEXED_FROM", 100 if tabled else 0)
    ids = UserIds.of(["1", "11", "111", "", "é", "e"])
    assert [ids.leaf(user) for user in ("111", "11", "1", "", "e", "é")] == [2, 1, 0, 3, 5, 4]
    for stranger in ("1111", "\xff", "\udcff", "E", "1\udcff11"):
        with pytest.raises(UnknownUserError, match="among the 6 users"):
            ids.leaf(stranger)
        assert stranger not in ids
    assert "é" in ids
    assert 1 in ids  # by its text
    assert 2 not in ids
    assert None not in ids
    assert ids.index("111") == 2
    with pytest.raises(ValueError, match="no user '111'"):
        ids.index("111", 3)


def test_many_scans_build_the_index(monkeypatch):
    monkeypatch.setattr(module, "INDEXED_FROM", 0)
    ids = UserIds.of([str(i) for i in range(100)])
    assert [ids.leaf(str(i)) for i in range(100)] == list(range(100))
    assert ids._scans == module._SCANS_BEFORE_INDEX


@pytest.mark.parametrize("tabled", [False, True])
def test_the_first_of_two_forged_twins_answers(monkeypatch, tabled):
    monkeypatch.setattr(module, "INDEXED_FROM", 100 if tabled else 0)
    assert UserIds(b"\xffeve\xffann\xffeve\xff").leaf("eve") == 0


@pytest.mark.parametrize("leaves", [[2], [3, 0, 2, 1]])
def test_take(leaves):
    names = ["a", "b", "c", "d"]
    assert UserIds.of(names).take(np.array(leaves, np.int32)) == [names[i] for i in leaves]


@pytest.mark.parametrize(
    ("users", "message"),
    [
        (["a", "b", "a"], "user id 'a' occurs twice"),
        (["a", None], "None is no user id"),
        (["a", float("nan")], "nan is no user id"),
        ([7, "8"], "mix the number 7 with the text '8'"),
        ([7, 7.0], "user 7 is named twice"),
        (["a", "\ud800"], "the id of leaf 1, .* is not valid Unicode"),
        ("ab", "not one string"),
    ],
)
def test_bad_ids_are_refused(users, message):
    with pytest.raises(InputError, match=message):
        UserIds.of(users)


def test_numbers_stay_numbers_and_other_objects_become_text():
    ids = UserIds.of([30, np.int64(7), 2.0, "ann", (1, 2), -4])
    assert list(ids) == [30, 7, 2, "ann", "(1, 2)", -4]
    assert [type(user) for user in ids] == [int, int, int, str, str, int]
    assert ids.names() == ["30", "7", "2", "ann", "(1, 2)", "-4"]
    for leaf, user in enumerate([30, 7, 2, "ann", (1, 2), -4]):
        assert ids.leaf(user) == leaf == ids.leaf(str(user))
    assert ids.take(np.array([1, 4], np.int32)) == [7, "(1, 2)"]
    assert pickle.loads(pickle.dumps(ids)) == ids
    assert ids != UserIds.of(ids.names())
    assert UserIds.of(["007", "+1"])[:] == ["007", "+1"]


@pytest.mark.parametrize("packed", [b"", b"\xff", b"a\xff", b"\xffa", b"\xffa\xff", b"\xffa\xffb\xffc\xff", b"\xffa\xff\xc3\xff"])
def test_bytes_that_are_not_two_packed_ids(packed):
    assert find_ids_problem(packed, 2) is not None


def test_leaves_are_numbered_by_number_by_alphabet_or_as_told():
    leaves, ids = number_leaves([2, 0, 1])
    assert (leaves.tolist(), ids) == ([2, 0, 1], None)
    leaves, ids = number_leaves(["c", "a", "b"])
    assert (leaves.tolist(), list(ids)) == ([2, 0, 1], ["a", "b", "c"])
    leaves, ids = number_leaves(["a", 30, 7])
    assert (leaves.tolist(), list(ids)) == ([2, 1, 0], [7, 30, "a"])
    leaves, ids = number_leaves(["c", "a", "b"], ["b", "c", "a"])
    assert (leaves.tolist(), list(ids)) == ([1, 2, 0], ["b", "c", "a"])


@pytest.mark.parametrize(
    ("names", "users", "message"),
    [
        ([0, 0], None, "0 is named twice"),
        ([0, None], None, "None is no user id"),
        (["a", "b"], ["a", "c"], "leaf 'b' is not among"),
        (["a", "b"], ["a", "b", "c"], "3 users were given but the tree names 2 leaves"),
        (["a", "a"], ["a", "b"], "2 leaves, 1 of them different"),
    ],
)
def test_leaves_that_cannot_be_numbered(names, users, message):
    with pytest.raises(TreeError, match=message):
        number_leaves(names, users)


@pytest.mark.parametrize("tabled", [True, False])
def test_many_users_are_found_at_once(monkeypatch, tabled):
    monkeypatch.setattr(module, "INDEXED_FROM", 1000 if tabled else 0)
    users = UserIds.of([f"user{number}" for number in range(300)])
    asked = ["user7", "nobody", "user299", "user0", "user7", "user", None]
    assert users.leaves_of(asked).tolist() == [7, -1, 299, 0, 7, -1, -1]
    assert users.leaves_of(asked[:-1]).tolist() == [7, -1, 299, 0, 7, -1]
    assert users.leaves_of([]).tolist() == []


def test_ids_with_the_same_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(module, "INDEXED_FROM", 0)
    monkeypatch.setattr(id_index, "hash_of", lambda key: len(key))
    monkeypatch.setattr(id_index, "hashes_of", lambda packed, offsets: (np.diff(offsets) - 1).astype(np.uint64))
    assert UserIds.of(["ann", "bob", "cleo"]).leaves_of(["bob", "ann", "cleo", "eve"]).tolist() == [1, 0, 2, -1]
