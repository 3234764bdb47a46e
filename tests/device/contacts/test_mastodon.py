"""Mastodon's export, as its versions and people's spreadsheets write it."""

from __future__ import annotations

import pytest

from privact.device.contacts.contact_list import contacts_from_text

OWNER = "ada@vinyl.example"
TODAY = """Account address,Show boosts,Notify on new posts,Languages
bob@a.example,true,false,
cleo@b.example,false,true,"en, de"
"""


@pytest.mark.parametrize(
    "text",
    [
        TODAY,
        TODAY.replace("\n", "\r\n"),
        "\ufeff" + TODAY,
        TODAY.replace("Account address", "ACCOUNT ADDRESS"),
        TODAY.replace("Account address", " account_address "),
        TODAY.replace("bob@", "@bob@").replace("cleo", " @Cleo"),
        "Account address,Show boosts\nbob@a.example,true\ncleo@b.example,false\n",
        "Account address\nbob@a.example\ncleo@b.example\n",
        "bob@a.example,true,false,\ncleo@b.example,false,true,\n",
        "bob@a.example,true\ncleo@b.example\n",
        "Show boosts,Account address\ntrue,bob@a.example\nfalse,cleo@b.example\n",
        TODAY.replace(", ", "+").replace(",", ";"),
        TODAY.replace(", ", "+").replace(",", "\t"),
        "\n\n" + TODAY.replace("\ncleo", "\n\n\ncleo"),
        "account,hide notifications\nbob@a.example,true\ncleo@b.example,true\n",
    ],
    ids=range(15),
)
def test_every_version_is_read(text):
    found = contacts_from_text(text, OWNER)
    assert (found.format, found.ids) == ("mastodon", ("bob@a.example", "cleo@b.example"))


def test_an_account_without_a_server_lives_on_the_owner_s():
    text = "Account address,Show boosts\nbob,true\n@cleo@b.example,true\n"
    assert contacts_from_text(text, OWNER).ids == ("bob@vinyl.example", "cleo@b.example")
    assert contacts_from_text(text, "ada").ids == ("bob", "cleo@b.example")


def test_duplicates_and_oneself_are_counted():
    found = contacts_from_text(TODAY + "BOB@a.example,true,true,\nada@vinyl.example,true,true,\n", OWNER)
    assert (len(found.ids), found.duplicates, found.oneself) == (2, 1, 1)


def test_an_export_without_accounts_is_a_list_of_nobody():
    assert contacts_from_text("Account address,Show boosts\n", OWNER).ids == ()


@pytest.mark.parametrize("row", [",true", "two words@a.example,true", "a@b@c,true", "@,true", '"eve,true'])
def test_a_row_without_an_address_is_skipped_and_counted(row):
    found = contacts_from_text(TODAY + row + "\n" + "dan@d.example,true,true,\n", OWNER)
    assert (len(found.ids), found.without_id) == (3, 1)
    assert "dan@d.example" in found.ids


def test_a_row_that_is_too_short_is_skipped_and_counted():
    found = contacts_from_text("Show boosts,Account address\ntrue,bob@a.example\ntrue\n", OWNER)
    assert (found.ids, found.without_id) == (("bob@a.example",), 1)
