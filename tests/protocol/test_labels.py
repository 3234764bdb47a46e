"""LabelTable: public groups of users in ten bytes a user."""

from __future__ import annotations

import hashlib
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privact.errors import ProtocolError
from privact.protocol import labels as labels_module
from privact.protocol.labels import NO_LABEL, LabelTable

KEY = bytes(range(16))
GROUPS = {"ada": 0, "bob": 2, "@Cleo@Server.example": 1}


def keyed(user: bytes) -> bytes:
    return hashlib.blake2b(user, digest_size=8, key=KEY).digest()


@st.composite
def tables(draw: st.DrawFn) -> LabelTable:
    n_labels = draw(st.integers(1, 65_536))
    users = draw(st.lists(st.integers(0, 10**6), unique=True, max_size=12))
    groups = {f"user{user}": draw(st.integers(0, n_labels - 1)) for user in users}
    return LabelTable.from_labels(groups, n_labels, key=draw(st.binary(min_size=16, max_size=16)))


def test_users_are_found_in_any_spelling_and_others_are_in_no_group() -> None:
    table = LabelTable.from_labels(GROUPS, 3, key=KEY)
    assert [table.label_of(user) for user in ("ada", "@ADA", "Bob ", "cleo@server.example")] == [0, 0, 2, 1]
    assert table.label_of("dora") == NO_LABEL == -1
    assert table.labels_of(["bob", "dora", "ada"]).tolist() == [2, -1, 0]
    assert table.labels_of([]).tolist() == []


def test_an_empty_table_knows_nobody() -> None:
    table = LabelTable.from_labels({}, 3, key=KEY)
    assert table.labels_of(["ada", "bob"]).tolist() == [-1, -1]
    assert LabelTable.from_bytes(table.to_bytes()).label_of("ada") == -1


def test_encoding_is_the_documented_layout_sorted_by_hash() -> None:
    entries = sorted(
        [keyed(b"ada") + bytes([0, 0]), keyed(b"bob") + bytes([0, 2]), keyed(b"cleo@server.example") + bytes([0, 1])]
    )
    by_hand = b"PCLT\x01" + (3).to_bytes(4) + (3).to_bytes(4) + KEY + b"".join(entries)
    table = LabelTable.from_labels(GROUPS, 3, key=KEY)
    assert table.to_bytes() == by_hand
    assert table.digest() == hashlib.blake2b(by_hand, digest_size=32).digest()


def test_the_order_of_users_does_not_matter() -> None:
    backwards = dict(reversed(GROUPS.items()))
    assert LabelTable.from_labels(backwards, 3, key=KEY).digest() == LabelTable.from_labels(GROUPS, 3, key=KEY).digest()


def test_a_user_takes_at_most_twelve_bytes() -> None:
    users = {f"user{number}@server{number % 7}.example": number % 7 for number in range(1000)}
    table = LabelTable.from_labels(users, 7, key=KEY)
    assert len(table.to_bytes()) <= 12 * len(users)
    assert table.labels_of(users).tolist() == list(users.values())


@given(tables())
@settings(deadline=None)
def test_round_trip(table: LabelTable) -> None:
    data = table.to_bytes()
    again = LabelTable.from_bytes(data, digest=table.digest())
    assert again.to_bytes() == data
    assert again.entries == table.entries


@given(tables(), st.data())
@settings(deadline=None)
def test_a_changed_byte_is_refused_or_is_another_table(table: LabelTable, data: st.DataObject) -> None:
    encoded = bytearray(table.to_bytes())
    place = data.draw(st.integers(0, len(encoded) - 1))
    encoded[place] ^= data.draw(st.integers(1, 255))
    changed = bytes(encoded)
    with pytest.raises(ProtocolError, match="round's digest"):
        LabelTable.from_bytes(changed, digest=table.digest())
    try:
        other = LabelTable.from_bytes(changed)
    except ProtocolError:
        return
    assert other.to_bytes() == changed
    assert other.digest() != table.digest()


@given(tables(), st.data())
@settings(deadline=None)
def test_cut_or_lengthened_bytes_are_refused(table: LabelTable, data: st.DataObject) -> None:
    encoded = table.to_bytes()
    for wrong in (encoded[: data.draw(st.integers(0, len(encoded) - 1))], encoded + b"\x00"):
        with pytest.raises(ProtocolError):
            LabelTable.from_bytes(wrong)


def test_tables_out_of_order_are_refused() -> None:
    encoded = LabelTable.from_labels(GROUPS, 3, key=KEY).to_bytes()
    head, entries = encoded[:29], encoded[29:]
    with pytest.raises(ProtocolError, match="ascend"):
        LabelTable.from_bytes(head + entries[10:20] + entries[:10] + entries[20:])
    with pytest.raises(ProtocolError, match="ascend"):
        LabelTable.from_bytes(head + entries[:10] + entries[:10] + entries[20:])


def test_one_user_in_two_spellings_is_refused() -> None:
    with pytest.raises(ProtocolError, match=r"'ada' and '@Ada' fall on the same entry .* list each user once"):
        LabelTable.from_labels({"ada": 0, "@Ada": 1}, 2, key=KEY)


def test_two_users_with_one_hash_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels_module, "_hash", lambda user, key: bytes(8))
    with pytest.raises(ProtocolError, match=r"'ada' and 'bob' fall on the same entry .* draw another key"):
        LabelTable.from_labels({"ada": 0, "bob": 1}, 2, key=KEY)


@pytest.mark.parametrize(
    ("groups", "n_labels", "key", "names"),
    [
        ({"ada": 3}, 3, KEY, "'ada' has label 3; labels go from 0 to 2"),
        ({"ada": -1}, 3, KEY, "leave out users in no group"),
        ({"ada": 0.5}, 3, KEY, "label 0.5"),
        ({"ada": 70_000}, 80_000, KEY, "0 to 65535"),
        ({}, 0, KEY, "0 labels"),
        ({}, 65_537, KEY, "1 to 65536"),
        ({"ada": 0}, 1, b"short", "16 bytes"),
        ({"ada": 0}, 1, "0123456789abcdef", "16 bytes"),
    ],
)
def test_what_cannot_be_a_table_is_refused(groups: Any, n_labels: int, key: Any, names: str) -> None:
    with pytest.raises(ProtocolError, match=names):
        LabelTable.from_labels(groups, n_labels, key=key)


def test_a_table_cannot_be_changed() -> None:
    table = LabelTable.from_labels(GROUPS, 3, key=KEY)
    with pytest.raises(FrozenInstanceError):
        table.entries = b""  # type: ignore[misc]


def test_one_user_and_many_users_are_looked_up_alike() -> None:
    table = LabelTable.from_labels({f"user{number}": number % 7 for number in range(300)}, 7, key=KEY)
    asked = [f"user{number}" for number in range(0, 600, 7)]
    assert table.labels_of(asked).tolist() == [table.label_of(user) for user in asked]
    assert table.labels_of(["user8", "user599"]).tolist() == [1, NO_LABEL]
