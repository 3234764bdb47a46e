from __future__ import annotations

import hashlib
import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privact.errors import FileFormatError, InputError
from privact.query.quality import draw_random_tree
from privact.tree import id_index, user_ids
from privact.tree.formats import hct_file
from privact.tree.hct import HierarchicalClusterTree

PREFIX = struct.Struct("<8sIIQ")


@pytest.fixture
def saved(tmp_path):
    """A small tree and the bytes of its file."""
    tree = HierarchicalClusterTree.from_nested((("ann", "bob"), ("éva", ("cat", "dan")))).with_parameters({"epsilon": 1.0})
    tree.save(tmp_path / "tree.hct")
    return tree, (tmp_path / "tree.hct").read_bytes()


def refused(tmp_path: Path, data: bytes, message: str = "") -> None:
    path = tmp_path / "bad.hct"
    path.write_bytes(data)
    for memory_map in (False, True):
        with pytest.raises(FileFormatError, match=message) as caught:
            HierarchicalClusterTree.load(path, memory_map)
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)


def forged(data: bytes, header=None, **arrays: np.ndarray) -> bytes:
    """The file with another header or other array contents, and a checksum that fits."""
    magic, version, header_length, _ = PREFIX.unpack_from(data)
    old = json.loads(data[PREFIX.size : PREFIX.size + header_length])
    begin = -(-(PREFIX.size + header_length) // 64) * 64
    body = bytearray(data[begin:-32])
    for name, array in arrays.items():
        offset = old["arrays"][name]["offset"]
        body[offset : offset + array.nbytes] = array.tobytes()
    text = json.dumps(old).encode() if header is None else header if isinstance(header, bytes) else json.dumps(header).encode()
    padding = bytes(-(PREFIX.size + len(text)) % 64)
    length = PREFIX.size + len(text) + len(padding) + len(body) + 32
    whole = PREFIX.pack(magic, version, len(text), length) + text + padding + bytes(body)
    return whole + hashlib.blake2b(whole, digest_size=32).digest()


def header_of(data: bytes) -> dict:
    return json.loads(data[PREFIX.size : PREFIX.size + PREFIX.unpack_from(data)[2]])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_round_trip(trees, tmp_path, data):
    tree = data.draw(trees)
    if data.draw(st.booleans()):
        text = st.text(st.characters(codec="utf-8"), max_size=5)
        ids = data.draw(st.lists(text, min_size=tree.n_users, max_size=tree.n_users, unique=True))
        tree = HierarchicalClusterTree.from_children(tree.left, tree.right, ids)
    tree.save(tmp_path / "tree.hct", {"epsilon": 0.1, "bins": 7})
    for memory_map in (False, True):
        again = HierarchicalClusterTree.load(tmp_path / "tree.hct", memory_map)
        assert again == tree
        assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(again.layout, tree.layout, strict=True))
        assert again.parameters == {"epsilon": 0.1, "bins": 7}
        assert [again.nearest(user, 3).leaves.tolist() for user in again.users or ()] == [
            tree.nearest(user, 3).leaves.tolist() for user in tree.users or ()
        ]


def test_numbers_stay_numbers_and_text_keeps_its_bytes(tmp_path):
    numbers = HierarchicalClusterTree.from_nested(((30, 7), ("ann", -4)))
    numbers.save(tmp_path / "numbers.hct")
    loaded = HierarchicalClusterTree.load(tmp_path / "numbers.hct")
    assert loaded == numbers
    assert list(loaded.users) == [-4, 7, 30, "ann"]
    assert HierarchicalClusterTree.from_json(numbers.to_json()) == numbers
    texts = HierarchicalClusterTree.from_children(numbers.left, numbers.right, numbers.users.names())
    texts.save(tmp_path / "texts.hct")
    assert HierarchicalClusterTree.load(tmp_path / "texts.hct").users[:] == ["-4", "7", "30", "ann"]
    assert b'"ids":"integers"' in (tmp_path / "numbers.hct").read_bytes()
    assert b'"ids"' not in (tmp_path / "texts.hct").read_bytes()


def test_same_tree_same_bytes(tmp_path):
    one = HierarchicalClusterTree.from_children([0, 3], [1, 2], ["a", "b", "c"], {"b": 1, "a": np.float64(0.5)})
    other = HierarchicalClusterTree.from_children([2, 1], [4, 0], ["a", "b", "c"])
    one.save(tmp_path / "one")
    other.save(tmp_path / "other", {"a": 0.5, "b": np.int64(1)})
    HierarchicalClusterTree.load(tmp_path / "one", memory_map=True).save(tmp_path / "again")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes() == (tmp_path / "again").read_bytes()


def test_arrays_are_aligned_and_cannot_be_written_to(tmp_path, saved):
    _, data = saved
    length = PREFIX.unpack_from(data)[2]
    header = header_of(data)
    begin = -(-(PREFIX.size + length) // 64) * 64
    assert all(entry["offset"] % 64 == 0 for entry in header["arrays"].values())
    order = header["arrays"]["order"]
    assert np.frombuffer(data, "<i4", order["shape"][0], begin + order["offset"]).tolist() == [0, 1, 2, 3, 4]
    for memory_map in (False, True):
        tree = HierarchicalClusterTree.load(tmp_path / "tree.hct", memory_map)
        with pytest.raises(ValueError, match="read-only"):
            tree.parent[0] = 3


def test_a_mapped_tree_survives_a_new_file_in_its_place(tmp_path, saved):
    tree, _ = saved
    mapped = HierarchicalClusterTree.load(tmp_path / "tree.hct", memory_map=True)
    HierarchicalClusterTree.from_nested((0, 1)).save(tmp_path / "tree.hct")
    assert mapped == tree
    assert HierarchicalClusterTree.load(tmp_path / "tree.hct").n_users == 2


@pytest.fixture
def indexed(tmp_path, monkeypatch):
    """A tree of 200 users whose file holds an index of ids, and the bytes of that file."""
    monkeypatch.setattr(user_ids, "INDEXED_FROM", 1)
    monkeypatch.setattr(hct_file, "INDEXED_FROM", 1)
    tree = draw_random_tree(200, np.random.default_rng(4), [f"user{i * 37 % 200}@b.example" for i in range(200)])
    tree.save(tmp_path / "indexed.hct")
    return tree, (tmp_path / "indexed.hct").read_bytes()


def test_ids_are_found_by_the_index_in_the_file_without_a_pass_over_them(tmp_path, indexed, monkeypatch):
    tree, _ = indexed
    monkeypatch.setattr(id_index, "hashes_of", None)
    loaded = HierarchicalClusterTree.load(tmp_path / "indexed.hct", memory_map=True)
    assert [loaded.leaf_of(user) for user in tree.users] == list(range(200))
    assert "user200@b.example" not in loaded.users
    assert loaded.users._scans == 0


def test_the_index_is_an_addition_that_readers_may_ignore(tmp_path, indexed):
    tree, data = indexed
    header = header_of(data)
    assert header["indexes"].keys() == {"users_by_hash"}
    del header["indexes"]
    (tmp_path / "old.hct").write_bytes(forged(data, header))
    old = HierarchicalClusterTree.load(tmp_path / "old.hct")
    assert old == tree
    assert old.users._index is None
    assert old.leaf_of(tree.users[123]) == 123
    header["indexes"] = {"of_a_later_version": {"dtype": "?", "shape": "?", "offset": "?"}}
    (tmp_path / "new.hct").write_bytes(forged(data, header))
    assert HierarchicalClusterTree.load(tmp_path / "new.hct") == tree


def test_a_small_file_has_no_index(saved):
    assert "indexes" not in header_of(saved[1])


@pytest.mark.parametrize("leaf", [-1, 200])
def test_an_index_of_other_leaves_is_refused(tmp_path, indexed, leaf):
    _, data = indexed
    offset = header_of(data)["indexes"]["users_by_hash"]["offset"]
    place = -(-(PREFIX.size + PREFIX.unpack_from(data)[2]) // 64) * 64 + offset
    body = data[:place] + np.int32(leaf).tobytes() + data[place + 4 : -32]
    refused(tmp_path, body + hashlib.blake2b(body, digest_size=32).digest(), "index of user ids does not match")


def test_an_index_of_another_length_is_refused(tmp_path, indexed):
    header = header_of(indexed[1])
    header["indexes"]["users_by_hash"]["shape"] = [199]
    refused(tmp_path, forged(indexed[1], header), "index of user ids does not match")


def test_every_flipped_byte_is_noticed(tmp_path, saved):
    _, data = saved
    for place in range(len(data)):
        for flip in (1 << place % 8, 0xFF):
            damaged = bytearray(data)
            damaged[place] ^= flip
            path = tmp_path / "bad.hct"
            path.write_bytes(damaged)
            with pytest.raises(FileFormatError):
                HierarchicalClusterTree.load(path)


def test_every_truncation_and_any_addition_is_noticed(tmp_path, saved):
    _, data = saved
    for length in range(len(data)):
        refused(tmp_path, data[:length], "is empty" if length == 0 else "cut off")
    refused(tmp_path, data + b"\0", "bytes where its header says")


@pytest.mark.parametrize("data", [b"hello", b"PK\x03\x04" + bytes(100), b"\x89PNG\r\n\x1a\n" + bytes(100), b"\0" * 1000])
def test_foreign_files(tmp_path, data):
    refused(tmp_path, data, "is not a tree file of privact")


def test_a_newer_version(tmp_path, saved):
    _, data = saved
    newer = bytearray(data)
    newer[8:12] = (2).to_bytes(4, "little")
    refused(tmp_path, bytes(newer), "has format version 2, this privact reads up to 1: update privact")


def test_nonsense_with_a_fitting_checksum(tmp_path, saved):
    tree, data = saved
    assert HierarchicalClusterTree.load(_written(tmp_path, forged(data))) == tree  # the forger itself is sound
    for name, array in tree.layout._asdict().items():
        for place in range(len(array)):
            for value in (-1, 0, 4, 8, 9, 2**31 - 1):
                changed = array.copy()
                changed[place] = value
                if value != array[place]:
                    refused(tmp_path, forged(data, **{name: changed}), "does not hold a tree")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"\xffbob", b"\xff\xffob", "do not match the number of users"),
        (b"\xffbob", b"-bob", "do not match the number of users"),
        (b"dan", b"d\xc3n", "not UTF-8"),
        ("éva".encode(), b"\xc3\xc3va", "not UTF-8"),
    ],
)
def test_user_ids_that_are_none(tmp_path, saved, old, new, message):
    tree, data = saved
    packed = tree.users.packed.replace(old, new)
    refused(tmp_path, forged(data, users=np.frombuffer(packed, np.uint8)), message)


@pytest.mark.parametrize(
    "header",
    [b"", b"{", b"\xff", b"[]", b"3", b'{"arrays": 3}', b'{"arrays": {}}', b'{"arrays": {}, "parameters": {}}', b"[" * 100_000],
)
def test_headers_that_make_no_sense(tmp_path, saved, header):
    refused(tmp_path, forged(saved[1], header), "invalid header")


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("left", "dtype", "|O"),
        ("left", "dtype", "<i8"),
        ("left", "shape", [-1]),
        ("left", "shape", [10**9]),
        ("left", "shape", [2, 2]),
        ("left", "shape", 4),
        ("left", "shape", ["4"]),
        ("left", "shape", [True]),
        ("size", "offset", -64),
        ("size", "offset", 4),
        ("size", "offset", 2**40),
        ("size", "offset", 0.0),
        ("extra", "dtype", "<i4"),
    ],
)
def test_arrays_described_in_nonsense(tmp_path, saved, name, key, value):
    header = header_of(saved[1])
    header["arrays"].setdefault(name, dict(header["arrays"]["left"]))[key] = value
    refused(tmp_path, forged(saved[1], header), "invalid header")


@pytest.mark.parametrize("parameters", [3, "text", [1], {"epsilon": float("nan")}])
def test_parameters_that_are_none(tmp_path, saved, parameters):
    header = header_of(saved[1]) | {"parameters": parameters}
    refused(tmp_path, forged(saved[1], header), "invalid header")


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"cannot read .*none\.hct: no such file"):
        HierarchicalClusterTree.load(tmp_path / "none.hct")
    with pytest.raises(InputError, match=r"cannot read .*: it is not a regular file"):
        HierarchicalClusterTree.load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        HierarchicalClusterTree.load(tmp_path / "pipe")

    def forbidden(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", forbidden)
    with pytest.raises(InputError, match="permission denied"):
        HierarchicalClusterTree.load(tmp_path / "secret.hct")


def test_saving_that_fails_leaves_the_old_file(tmp_path, saved, monkeypatch):
    tree, data = saved

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tree.save(tmp_path / "tree.hct", {"epsilon": 2.0})
    assert os.listdir(tmp_path) == ["tree.hct"]
    assert (tmp_path / "tree.hct").read_bytes() == data


def _written(folder: Path, data: bytes) -> Path:
    (folder / "forged.hct").write_bytes(data)
    return folder / "forged.hct"
