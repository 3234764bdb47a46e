"""vCards of three versions: one id per card, the preferred one."""

from __future__ import annotations

import pytest

from privact.device.contacts.contact_list import contacts_from_text
from privact.device.contacts.source import Asked
from privact.device.contacts.vcard import SOURCE
from privact.errors import InputError

OWNER = "ada@vinyl.example"


def card(*lines: str, version: str = "3.0") -> str:
    return "\r\n".join(["BEGIN:VCARD", f"VERSION:{version}", "FN:Bob", *lines, "END:VCARD", ""])


def only(*lines: str, field: str = "email", version: str = "3.0") -> str:
    (found,) = SOURCE.read(card(*lines, version=version), Asked(OWNER, field))
    return found


@pytest.mark.parametrize(
    ("version", "lines"),
    [
        ("2.1", ["N:Bob;;;;", "EMAIL;INTERNET:bob@a.example"]),
        ("2.1", ["NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:caf=C3=A9 =\r\nand more", "EMAIL;PREF;INTERNET:bob@a.example"]),
        ("2.1", ["EMAIL;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:bob=40a.example"]),
        ("3.0", ["N:Bob;;;;", "EMAIL;TYPE=INTERNET,HOME:bob@a.example"]),
        ("3.0", ["item1.EMAIL;type=INTERNET:bob@a.example", "item1.X-ABLabel:_$!<Other>!$_"]),
        ("3.0", ["EMAIL:bob@a.ex\r\n ample"]),
        ("3.0", ["PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRgABAQ==", "EMAIL:bob@a.example"]),
        ("4.0", ["EMAIL;PREF=1:bob@a.example", "UID:urn:uuid:4fbe8971-0bc3-424c-9c26-36c3e1eff6b1"]),
        ("4.0", ["EMAIL:mailto:bob@a.example"]),
    ],
)
def test_versions_as_programs_write_them(version, lines):
    assert only(*lines, version=version) == "bob@a.example"


def test_a_card_is_one_contact_and_its_preferred_address_is_the_id():
    assert only("EMAIL:old@a.example", "EMAIL;TYPE=pref:bob@a.example") == "bob@a.example"
    assert only("EMAIL:old@a.example", "EMAIL;PREF:bob@a.example", version="2.1") == "bob@a.example"
    ranked = "EMAIL;PREF=50:old@a.example", "EMAIL;PREF=2:bob@a.example", "EMAIL:x@a.example"
    assert only(*ranked, version="4.0") == "bob@a.example"
    assert only("EMAIL:first@a.example", "EMAIL:second@a.example") == "first@a.example"
    assert only("EMAIL:", "EMAIL:second@a.example") == "second@a.example"


@pytest.mark.parametrize(
    ("field", "line", "id"),
    [
        ("tel", "TEL;TYPE=CELL:+49 (30) 123-45.67", "+49301234567"),
        ("tel", "TEL;VALUE=uri:tel:+49-30-1234567;ext=5", "+49301234567"),
        ("impp", "IMPP:xmpp:bob@jabber.example", "bob@jabber.example"),
        ("social", "X-MASTODON:@bob@a.example", "@bob@a.example"),
        ("social", "X-SOCIALPROFILE;type=mastodon:https://a.example/@bob", "bob@a.example"),
        ("social", "SOCIALPROFILE;SERVICE-TYPE=Mastodon:https://a.example/users/bob", "bob@a.example"),
        ("social", "IMPP:acct:bob@a.example", "bob@a.example"),
        ("x-mastodon", "X-MASTODON:https://a.example/@bob", "bob@a.example"),
        ("nickname", "NICKNAME:bobby", "bobby"),
        ("EMAIL", "EMAIL:bob@a.example", "bob@a.example"),
    ],
)
def test_any_property_can_be_the_id(field, line, id):
    assert only(line, field=field) == id


def test_many_cards_are_many_contacts_and_those_without_the_property_are_counted():
    text = card("EMAIL:bob@a.example") + card("TEL:1") + "\r\n" + card("EMAIL:BOB@a.example") + card("EMAIL:ada@vinyl.example")
    found = contacts_from_text(text + card("EMAIL:cleo@b.example", version="2.1"), OWNER)
    assert found.ids == ("bob@a.example", "cleo@b.example")
    assert (found.format, found.duplicates, found.oneself, found.without_id) == ("vcard", 1, 1, 1)


def test_a_property_that_no_card_has_is_a_list_of_nobody():
    found = contacts_from_text(card("EMAIL:bob@a.example") * 2, OWNER, field="impp")
    assert (found.ids, found.without_id) == ((), 2)
    assert found.in_words() == "0 contacts (an address book; 2 skipped without an id that can be read)"


def test_a_field_that_is_no_property_is_refused_in_one_line():
    with pytest.raises(InputError, match="field 'e mail' is not the name"):
        contacts_from_text(card("EMAIL:bob@a.example"), OWNER, field="e mail")


@pytest.mark.parametrize(
    "text",
    [
        card("EMAIL:a@b.c") + card("no colon in this line"),
        card("EMAIL:a@b.c") + card("EMAIL:b@b.c").replace("END:VCARD", ""),
        card("EMAIL:b@b.c").replace("END:VCARD", "") + card("EMAIL:a@b.c"),
        card("EMAIL;ENCODING=QUOTED-PRINTABLE;CHARSET=none:b=40b.c", version="2.1") + card("EMAIL:a@b.c"),
        card("EMAIL;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:b=FF=40b.c", version="2.1") + card("EMAIL:a@b.c"),
        card("EMAIL;ENCODING=QUOTED-PRINTABLE;CHARSET=WINDOWS-1252:b=81=40b.c", version="2.1") + card("EMAIL:a@b.c"),
        card("EMAIL;ENCODING=BASE64:YkBiLmM=", version="2.1") + card("EMAIL:a@b.c"),
        card("EMAIL;TYPE=a" + ",b" * 50_000) + card("EMAIL:a@b.c"),
        card('EMAIL;TYPE="a:b@b.c') + card("EMAIL:a@b.c"),
        card(f"EMAIL:b{' ' * 200_000}@b.c") + card("EMAIL:a@b.c"),
        card(*["NOTE;QUOTED-PRINTABLE:=", *["="] * 50_000, "EMAIL:b@b.c"], version="2.1") + card("EMAIL:a@b.c"),
        card("EMAIL:a@b.c") + card("EMAIL:b@b.c") + "something else\r\n",
        card("EMAIL:a@b.c") + card("EMAIL:b\ufffd@b.c"),
        card("TEL:5") + card("EMAIL:a@b.c"),
    ],
)
def test_a_card_that_cannot_be_read_is_skipped_and_counted(text, caplog):
    found = contacts_from_text(text, OWNER)
    assert (found.ids, found.without_id) == (("a@b.c",), 1)
    assert caplog.text == ""


@pytest.mark.parametrize(
    "odd",
    [
        "NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=none:caf=E9",
        "NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:caf=E9",
        "X-SYNC;CHARSET=:",
        "no colon in this line",
        "EMAIL;PREF;ENCODING=QUOTED-PRINTABLE;CHARSET=KOI8-R:=C2=40b.c",
        "FN;CHARSET=UTF-7;ENCODING=QUOTED-PRINTABLE:=\r\n=\r\nbob",
    ],
)
def test_what_is_odd_about_one_property_leaves_the_contact(odd):
    assert only(odd, "EMAIL:bob@a.example", version="2.1") == "bob@a.example"


@pytest.mark.parametrize(
    ("charset", "written", "read"),
    [
        ("UTF-8", "b=C3=B6b=40a.example", "böb@a.example"),
        ("utf8", "b=C3=B6b=40a.example", "böb@a.example"),
        ("ISO-8859-1", "b=F6b=40a.example", "böb@a.example"),
        ('"windows-1252"', "b=f6b=40a.example", "böb@a.example"),
        ("US-ASCII", "bob=40a.example=zz", "bob@a.example=zz"),
    ],
)
def test_charsets_that_are_known(charset, written, read):
    assert only(f"EMAIL;ENCODING=quoted-printable;CHARSET={charset}:{written}", version="2.1") == read


def test_a_profile_whose_address_is_none_is_skipped_and_counted():
    found = contacts_from_text(card("X-MASTODON:https://[x/@bob") + card("X-MASTODON:@a@b.c"), OWNER, field="social")
    assert (found.ids, found.without_id) == (("a@b.c",), 1)
