from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from privact.tree import id_index as module
from privact.tree.id_index import IdIndex, hash_of, hashes_of
from privact.tree.user_ids import UserIds


def indexed(ids):
    packed = b"\xff" + b"".join(each + b"\xff" for each in ids)
    offsets = np.flatnonzero(np.frombuffer(packed, np.uint8) == 255)
    return packed, offsets


def test_the_hash_is_the_published_one():
    """Test vectors of FNV-1a, 64 bits."""
    assert hash_of(b"") == 0xCBF29CE484222325
    assert hash_of(b"a") == 0xAF63DC4C8601EC8C
    assert hash_of(b"foobar") == 0x85944171F73967E8


@given(st.lists(st.binary(max_size=9).map(lambda text: text.replace(b"\xff", b"")), min_size=1, max_size=30))
def test_all_at_once_is_one_by_one(ids):
    assert hashes_of(*indexed(ids)).tolist() == [hash_of(each) for each in ids]
    index = IdIndex(*indexed(ids))
    assert [index.find(each) for each in ids] == [ids.index(each) for each in ids]
    assert index.find(b"not there at all") == -1


def test_ids_with_the_same_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(module, "hash_of", lambda key: 7)
    monkeypatch.setattr(module, "hashes_of", lambda packed, offsets: np.full(len(offsets) - 1, 7, np.uint64))
    index = IdIndex(*indexed([b"ann", b"bob", b"cat"]))
    assert [index.find(key) for key in (b"cat", b"ann", b"bob", b"dan")] == [2, 0, 1, -1]


def test_very_many_ids_are_found_without_a_table():
    ids = UserIds.of([f"user{i}@server{i % 7}.example" for i in range(12_000)])
    assert [ids.leaf(f"user{i}@server{i % 7}.example") for i in range(0, 12_000, 611)] == list(range(0, 12_000, 611))
    assert "user1@server2.example" not in ids
