"""Matrix account data: whoever shares a direct chat is a contact."""

from __future__ import annotations

import json

import pytest

from privact.device.contacts.contact_list import contacts_from_text
from privact.errors import InputError

OWNER = "@ada:vinyl.example"
CHATS = {"@bob:a.example": ["!1:a.example"], "@Cleo:b.example": ["!2:b.example", "!3:b.example"]}


@pytest.mark.parametrize(
    "data",
    [
        CHATS,
        {"type": "m.direct", "content": CHATS},
        {"m.push_rules": {"global": {}}, "m.direct": CHATS},
        {"account_data": {"global": {"m.push_rules": {"global": {}}, "m.direct": CHATS}, "rooms": {}}},
        {"account_data": {"events": [{"type": "m.push_rules"}, {"type": "m.direct", "content": CHATS}]}, "rooms": {}},
    ],
    ids=["content", "event", "Synapse's export", "Synapse's administration", "a sync"],
)
def test_account_data_as_clients_and_servers_write_it(data):
    found = contacts_from_text(json.dumps(data, indent=1), OWNER)
    assert (found.ids, found.format, found.without_id) == (("bob:a.example", "cleo:b.example"), "matrix", 0)


def test_oneself_chats_that_were_left_and_other_ids_are_counted_apart():
    odd = {OWNER: ["!4:a.example"], "@dan:a.example": [], "eve@mail.example": ["!5:a.example"], "@f:a.example": "!6:a.example"}
    found = contacts_from_text(json.dumps(CHATS | odd), OWNER)
    assert (found.ids, found.oneself) == (("bob:a.example", "cleo:b.example"), 1)
    assert [each.reason for each in found.skipped] == [
        "the chat was left", "it is not a Matrix id, such as @bob:b.example", "the chat was left",
    ]  # fmt: skip


def test_matrix_ids_are_nobody_where_ids_are_addresses():
    found = contacts_from_text(json.dumps(CHATS), "ada@vinyl.example")
    assert (found.ids, found.without_id) == ((), 2)
    assert "ids look like ada@vinyl.example here" in found.skipped[0].reason


def test_nobody_is_a_list_of_nobody():
    assert contacts_from_text('{"type": "m.direct", "content": {}}', OWNER).ids == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"@bob:a.example": [', "not whole"),
        ('{"a":' * 100_000, "not whole"),
        ('{"name": "Bob"}', "not Matrix account data"),
        ('{"type": "m.direct", "content": []}', "not Matrix account data"),
        ('{"account_data": {"events": []}}', "not Matrix account data"),
    ],
)
def test_what_is_something_else_is_refused_in_one_line(text, reason):
    with pytest.raises(InputError, match=reason) as refused:
        contacts_from_text(text, OWNER)
    assert "\n" not in str(refused.value)
