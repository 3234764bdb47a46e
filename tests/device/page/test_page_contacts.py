"""The browser reads a file of contacts as the Python device does: the same ids, or a refusal of both."""

from __future__ import annotations

import random
from typing import Any

import pytest

from privact.device.contacts.contact_list import contacts_from_text
from privact.errors import InputError

OWNER = "ada@vinyl.example"
TODAY = "Account address,Show boosts,Notify on new posts,Languages\nbob@a.example,true,false,\ncleo@b.example,false,true,en\n"
READ = """([text, owner]) => {
    try {
        const { ids, duplicates, oneself, withoutId, skipped } = core.contacts.readContacts(text, owner);
        const lines = skipped.filter(({ place }) => place.startsWith("line")).map(({ place, reason }) => `${place}: ${reason}`);
        return [ids, duplicates, oneself, withoutId, lines];
    } catch (error) { return error.constructor.name; }
}"""


def card(*lines: str, version: str = "3.0") -> str:
    return "\r\n".join(["BEGIN:VCARD", f"VERSION:{version}", "FN:Bob", *lines, "END:VCARD", ""])


TEXTS = [
    TODAY, TODAY.replace("\n", "\r\n"), "\ufeff" + TODAY, TODAY.replace("Account address", " account_address "),
    TODAY.replace("bob@", "@bob@").replace("cleo", " @Cleo"), "bob@a.example,true,false,\ncleo@b.example,false,true,\n",
    "Show boosts,Account address\ntrue,bob@a.example\nfalse,cleo@b.example\n", TODAY.replace(", ", "+").replace(",", ";"),
    TODAY + 'dan,true\n"eve,true\nfay,true\n', TODAY + "zo\ufffd,true\n", "bob\ntwo names\n",
    TODAY + '"eve@c.example","true"\n', TODAY + ",true\n", TODAY + "two words@a.example,true\n",
    "Show boosts,Account address\ntrue,bob@a.example\ntrue\n", TODAY + f"{OWNER},true\nBOB@a.example,true\n\n",
    "bob@a.example\n\n# not me\n@Cleo@b.example\nbob@A.example\n", f"{OWNER},bob@a.example\ncleo@b.example;{OWNER}\n",
    f"user\tcontact\n{OWNER}\tbob\n", "contact\nbob\n", "a,b,c\n", "bob@a.example,cleo@b.example\n", "@\n", "  \n", "",
    "bob\x85cleo@c.example\u2028dan@d.example", "myhost\n", "Anna Schmidt\n+49 (170) 123-45 67\n0049170 1234567\n",
    "Bob Bobson <bob@a.example>\n<cleo@b.example>\nBob <bob>\n", f"{OWNER},\n{OWNER},dan\na@b@c\n",
    card("EMAIL;INTERNET:bob@a.example", version="2.1"), card("EMAIL;TYPE=INTERNET,HOME:bob@a.example"),
    card("NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:caf=C3=A9 =\r\nand more",
         "EMAIL;PREF;INTERNET:bob@a.example", version="2.1"),
    card("EMAIL;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:bob=40a.example", version="2.1"),
    card("item1.EMAIL;type=INTERNET:bob@a.example", "item1.X-ABLabel:_$!<Other>!$_"), card("EMAIL:bob@a.ex\r\n ample"),
    card("PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRgABAQ==", "EMAIL:bob@a.example"),
    card("EMAIL:mailto:bob@a.example", version="4.0"),
    card("EMAIL:second@a.example", "EMAIL;PREF=1:first@a.example", version="4.0"),
    card("EMAIL;PREF=50:second@a.example", "EMAIL;PREF=7:first@a.example", version="4.0"),
    card("EMAIL:second@a.example", "EMAIL;TYPE=WORK,pref:first@a.example"), card("EMAIL:"), card("TEL:123"),
    card("EMAIL:bob@a.example") + card("TEL:1") + card("EMAIL:Bob@A.example") + card(f"EMAIL:{OWNER}"),
    card("EMAIL:bob@a.example").replace("END:VCARD\r\n", ""), "x\n" + card("EMAIL:bob@a.example"),
]  # fmt: skip


def ours(text: str) -> list[Any] | None:
    """What the Python device reads, or None if it refuses the text."""
    try:
        found = contacts_from_text(text.removeprefix("\ufeff"), OWNER)
    except InputError:
        return None
    lines = [f"{entry.place}: {entry.reason}" for entry in found.skipped if entry.place.startswith("line")]
    return [list(found.ids), found.duplicates, found.oneself, found.without_id, lines]


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_files_are_read_alike(page_device: Any, text: str) -> None:
    read = page_device.call(READ, [text, OWNER])
    expected = ours(text)
    assert read == ("InputError" if expected is None else expected)


def test_hundreds_of_random_files_are_read_alike(page_device: Any) -> None:
    rng = random.Random(10)
    people = [
        "+49 170 1234567",
        "Bob <bob@a.example>",
        "bob@a.example",
        "@Cleo@B.example",
        "dan",
        OWNER,
        '"eve@c.example"',
        "Ünal@é.example",
        "",
    ]
    n_read = 0
    for _ in range(400):
        between, end = rng.choice([",", ";", "\t", " "]), rng.choice(["\n", "\r\n", "\r"])
        heading = rng.choice(["", "Account address,Show boosts", "contact", "user,contact"]).replace(",", between)
        rows = [between.join([rng.choice(people), *rng.choice([[], ["true"], [OWNER]])]) for _ in range(rng.randrange(6))]
        text = end.join([*([heading] if heading else []), *rows, ""])
        expected = ours(text)
        n_read += expected is not None
        assert page_device.call(READ, [text, OWNER]) == ("InputError" if expected is None else expected), text
    assert n_read == 400
