"""Contact lists: three formats told apart by content, ids in one spelling, and a line number where something is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privact.device.contacts.contact_list import Contacts, contacts_from_text, read_contacts
from privact.errors import InputError
from privact.protocol.users import normalise_user_id

OWNER = "Ada@Vinyl.example"


def ids(text: str, **options: str) -> tuple[str, ...]:
    return contacts_from_text(text, OWNER, **options).ids


@pytest.mark.parametrize(
    "text",
    [
        "bob@a.example\ncleo@b.example\n",
        "@Bob@A.example\r\n@cleo@b.example",
        "# whom I know\n\n  bob@a.example  \ncleo@b.example\n\n",
        "contact\nbob@a.example\ncleo@b.example\n",
        "ada@vinyl.example\tbob@a.example\nada@vinyl.example\tcleo@b.example\n",
        "ada@vinyl.example bob@a.example\ncleo@b.example @ADA@vinyl.example\n",
        "bob@a.example,ada@vinyl.example\nada@vinyl.example,cleo@b.example\n",
        "user;contact\nada@vinyl.example;bob@a.example\nada@vinyl.example;cleo@b.example\n",
        '"ada@vinyl.example","bob@a.example"\n"ada@vinyl.example","cleo@b.example"\n',
    ],
)
def test_an_edge_list_has_one_id_a_line_or_the_owner_on_one_side(text):
    found = contacts_from_text(text, OWNER)
    assert (found.ids, found.format) == (("bob@a.example", "cleo@b.example"), "edges")
    assert (found.duplicates, found.oneself) == (0, 0)


def test_who_is_named_twice_counts_once_and_oneself_not_at_all():
    found = contacts_from_text("bob@a.example\nBOB@a.example\n@bob@a.example\ncleo@b.example\nADA@vinyl.example\n", OWNER)
    assert (found.ids, found.duplicates, found.oneself) == (("bob@a.example", "cleo@b.example"), 2, 1)
    assert found.in_words() == "2 contacts (a plain list; 2 named again; 1 with oneself)"


def test_spellings_of_one_id_are_one_contact():
    assert ids("cafe\u0301@x.example\ncaf\u00e9@X.example\n") == ("caf\u00e9@x.example",)


def test_nobody_is_a_list_too():
    assert contacts_from_text("", OWNER) == Contacts((), "edges")
    assert contacts_from_text("\n# nobody\n", OWNER).in_words() == "0 contacts (a plain list)"
    assert contacts_from_text("bob@a.example", OWNER).in_words() == "1 contact (a plain list)"


@pytest.mark.parametrize(
    "line",
    ["@", "@@ ", "bob eve", "ada@vinyl.example,bob,eve", "ada@vinyl.example,", "ada@vinyl.example\t@", "zo\ufffd@a.example"],
)
def test_a_line_without_one_contact_is_skipped_and_counted(line):
    found = contacts_from_text(f"cleo@b.example\n{line}\ndan@d.example\n", OWNER)
    assert (found.ids, found.without_id) == (("cleo@b.example", "dan@d.example"), 1)
    assert found.skipped[0].place == "line 2"
    assert found.in_words() == "2 contacts (a plain list; 1 skipped without an id that can be read)"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("myhost", "'myhost' is not an id: ids look like ada@vinyl.example here"),
        ("Anna Schmidt", "'Anna Schmidt' is a name, not an id"),
        ("+49 (170) 123-45 67", "'+491701234567' is a phone number: ids look like ada@vinyl.example here"),
        ("(030) 123 456", "'030123456' is a phone number: ids look like ada@vinyl.example here"),
        ("https://a.example/bob", "'https://a.example/bob' is a link: ids look like ada@vinyl.example here"),
        ("https://a.example/@bob/1", "'https://a.example/@bob/1' is a link: ids look like ada@vinyl.example here"),
        ("b\x00b@\x01a.example", "'b\x00b@\x01a.example' is not UTF-8 text"),
        (
            "bob@a.example,cleo@b.example",
            "'bob@a.example,cleo@b.example' does not have your id and one other: give one id a line",
        ),
        ("ada@vinyl.example,", "'ada@vinyl.example,' has an empty column: give one id, or yours and another"),
        ("@", "there is no id"),
        (
            "root:x:0:0:root:/root:/bin/bash",
            "'root:x:0:0:root:/root:/bin/bash' is not an id: ids look like ada@vinyl.example here",
        ),
    ],
)
def test_a_skipped_line_says_why(line, reason):
    found = contacts_from_text(f"# mine\n\n{line}\n", OWNER)
    assert (found.ids, [(entry.place, entry.reason) for entry in found.skipped]) == ((), [("line 3", reason)])


def test_phone_numbers_have_one_spelling_where_ids_are_numbers():
    text = "+49 (170) 123-45 67\n0049 170 1234567\n0170/1234568\n"
    assert contacts_from_text(text, "+491701111111").ids == ("+491701234567", "01701234568")
    assert contacts_from_text("1234567 7654321\n", "1234567").ids == ("7654321",)  # two ids of another service


def test_an_address_in_brackets_is_the_contact():
    assert contacts_from_text("Bob Bobson <bob@a.example>\n<cleo@b.example>\n", OWNER).ids == ("bob@a.example", "cleo@b.example")


def test_the_link_of_a_profile_is_its_address():
    text = "https://a.example/@Bob\nHTTP://B.example/@cleo/\n"
    assert contacts_from_text(text, OWNER).ids == ("bob@a.example", "cleo@b.example")


def test_a_program_is_no_list_of_contacts(tmp_path):
    path = tmp_path / "program"
    path.write_bytes(b"\x7fELF\x02\x01\x00\x00@\x00\x01\n\x00\x00h@\x02\x00\n\xff\xfe\n")
    assert read_contacts(path, OWNER).ids == ()


def test_words_are_ids_where_the_own_id_is_one():
    assert contacts_from_text("bob\ncleo\n", "ada").ids == ("bob", "cleo")


def test_the_owner_may_be_the_word_of_a_heading():
    assert contacts_from_text("name\nbob\n", "Ann").ids == ("bob",)
    assert contacts_from_text("bob\nname\n", "Ann").ids == ("bob", "name")


def test_what_cannot_be_read_is_told_in_one_line(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*: no such file"):
        read_contacts(tmp_path / "missing", OWNER)
    with pytest.raises(InputError, match=r"cannot read .*: is a directory"):
        read_contacts(tmp_path, OWNER)


def test_bytes_that_are_no_text_make_only_their_own_entry_unreadable(tmp_path):
    path = tmp_path / "latin"
    path.write_bytes("bob@a.example\nzoé@a.example\n".encode("latin-1"))
    found = read_contacts(path, OWNER)
    assert (found.ids, found.without_id) == (("bob@a.example",), 1)


def test_a_byte_order_mark_is_no_part_of_an_id(tmp_path):
    path = tmp_path / "marked"
    path.write_bytes("\ufeffbob@a.example\n".encode())
    assert read_contacts(path, OWNER).ids == ("bob@a.example",)


def test_the_format_is_told_by_content_and_can_be_overridden():
    card = "BEGIN:VCARD\nVERSION:3.0\nEMAIL:bob@a.example\nEND:VCARD\n"
    assert contacts_from_text("\n" + card.lower().replace("vcard", "VCARD"), OWNER).format == "vcard"
    assert contacts_from_text("Account address\nbob@a.example\n", OWNER).format == "mastodon"
    assert contacts_from_text("bob@a.example,true\n", OWNER).format == "mastodon"
    plain = contacts_from_text("bob\n", OWNER, format="mastodon")
    assert (plain.ids, plain.format) == (("bob@vinyl.example",), "mastodon")
    with pytest.raises(InputError, match="format 'csv' is unknown: it must be edges, mastodon, matrix or vcard"):
        contacts_from_text("bob\n", OWNER, format="csv")
    with pytest.raises(InputError, match="begins with BEGIN:VCARD"):
        contacts_from_text("bob\n", OWNER, format="vcard")


PIECES = st.lists(
    st.sampled_from(
        [
            "BEGIN:VCARD",
            "END:VCARD",
            "VERSION:2.1",
            "EMAIL",
            ";",
            ":",
            "=",
            "QUOTED-PRINTABLE",
            "ENCODING=",
            "CHARSET=x",
            "PREF=",
            "\r\n",
            "\n",
            " ",
            "\t",
            ",",
            '"',
            "@",
            "a@b.c",
            "Account address",
            "true",
            "\ufeff",
            "\u2028",
            "\x00",
            "\\",
            "é",
        ]
    )
)


@given(st.one_of(st.text(), PIECES.map("".join), PIECES.map(lambda rest: "BEGIN:VCARD\n" + "".join(rest) + "\nEND:VCARD")))
@settings(deadline=None, max_examples=100)
@pytest.mark.parametrize("format", [None, "edges", "mastodon", "vcard"])
def test_whatever_a_file_holds_it_is_read_or_refused_in_one_line(format, text):
    try:
        found = contacts_from_text(text, OWNER, format=format)
    except InputError as error:
        refused = str(error)
    else:
        assert all(contact == normalise_user_id(contact) for contact in found.ids)
        assert normalise_user_id(OWNER) not in found.ids
        refused = ""
    assert "\n" not in refused
