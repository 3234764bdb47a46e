"""The browser reads a file of contacts as the Python device does: the same ids, or a refusal of both."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from privact.device.contacts.contact_list import contacts_from_text
from privact.errors import InputError

OWNER = "ada@vinyl.example"
TODAY = "Account address,Show boosts,Notify on new posts,Languages\nbob@a.example,true,false,\ncleo@b.example,false,true,en\n"
CHATS = {
    "@bob:a.example": ["!1:a.example"], "@Cleo:b.example": ["!2:b"], "@dan:a.example": [], "eve@mail.example": ["!5:a"],
    "@ada:vinyl.example": ["!7"], "@fay:\u2028x": ["!8"], "@gil:\x1cx": ["!9"], "@h\ud800:x": ["!1"], "@": ["!1"], "5": 5,
}  # fmt: skip
READ = """([text, owner]) => {
    try {
        const { ids, duplicates, oneself, withoutId, skipped } = core.contacts.readContacts(text, owner);
        const lines = skipped.filter(({ place }) => !place.startsWith("entry")).map(({ place, reason }) => `${place}: ${reason}`);
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
    "https://a.example/@Bob\nHTTP://B.example/@cleo/\nhttps://a.example/bob\nhttp\u017f://c.example/@eve\n(030) 123 456\n",
    "b\x00b@\x01a.example\nbob\x7f@a.example\n",
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
    *(card(f"EMAIL;ENCODING={encoding};CHARSET={charset}:b=F6b=40a.example", "EMAIL:bob@a.example", version="2.1")
      for charset in ("", "none", "x" * 999, "UTF-7", "UTF-16", "ISO-8859-1", "latin1", "windows-1252", "KOI8-R", "idna", "\x00")
      for encoding in ("QUOTED-PRINTABLE", "quoted-printable", "8BIT", "b")),
    card(f"EMAIL:{'b' * 300}@a.example") + card(f"EMAIL:{'b' * 400}@a.example"), card("EMAIL;TYPE=a" + ",b" * 50_000),
    card(f"EMAIL:b{' ' * 100_000}@b.c"), f"a{chr(160) * 100_000}b\n", card("EMAIL:mailto:b%40%zz%C3%A9%FF?x=%20"),
    json.dumps(CHATS), json.dumps({"type": "m.direct", "content": CHATS}), json.dumps({"m.direct": CHATS}),
    json.dumps({"account_data": {"global": {"m.direct": CHATS, "m.push_rules": {"global": {}}}, "rooms": {}}}),
    json.dumps({"m.direct": CHATS, "m.push_rules": {"global": {}}}),
    json.dumps({"account_data": {"events": [{"type": "m.direct", "content": CHATS}, 5]}}), "{}", "{", "{]", '{"a": NaN}',
    '{"x": 1}', '{"__proto__": {"@bob:a.example": [1]}}', json.dumps({"type": "m.direct", "content": {}}),
]  # fmt: skip


def ours(text: str, owner: str = OWNER) -> list[Any] | None:
    """What the Python device reads, or None if it refuses the text."""
    try:
        found = contacts_from_text(text.removeprefix("\ufeff"), owner)
    except InputError:
        return None
    lines = [f"{entry.place}: {entry.reason}" for entry in found.skipped if not entry.place.startswith("entry")]
    return [list(found.ids), found.duplicates, found.oneself, found.without_id, lines]


@pytest.mark.parametrize("owner", [OWNER, "@Ada:vinyl.example"])
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:60]))
def test_files_are_read_alike(page_device: Any, text: str, owner: str) -> None:
    read = page_device.call(READ, [text, owner])
    expected = ours(text, owner)
    assert read == ("InputError" if expected is None else expected)


PARAMETERS = [
    ";", ";PREF", ";PREF=7", ";PREF=101", ";PREF=x", ";TYPE=pref", ';TYPE="home,PREF"', ";ENCODING=QUOTED-PRINTABLE",
    ";quoted-printable",    ";ENCODING=b", ";CHARSET=UTF-8", ";CHARSET=latin1", ";CHARSET=koi8-r", ";CHARSET=",
    '"', "=", "\n ", " ", "\u2028",
]  # fmt: skip
VALUES = [
    ":", "=", "=40", "=C3=A9", "=E9", "=8", "=\n", "=\r\n ", "@", "bob", "a.example", "mailto:", "%40", "%C3", "?", "/",
    "\\,", "\\", '"', " ", "\t", "\r\n", "\n ", "\r", "\n\n", "\u2028", "\x85", "\x1c", "\xa0", "\ufeff", "\ufffd",
    "é", "İ", "K", "😀",
    "\nEND:VCARD\n",
]  # fmt: skip


def test_thousands_of_random_cards_are_read_alike(page_device: Any) -> None:
    rng = random.Random(11)

    def some(pieces: list[str], most: int) -> str:
        return "".join(rng.choice(pieces) for _ in range(rng.randrange(most)))

    def line() -> str:
        name = rng.choice(["EMAIL", "email", "item1.EMAIL", "e_mail", "NOTE"])
        return name + some(PARAMETERS, 4) + rng.choice([":", ":bob@a.example", ""]) + some(VALUES, 6)

    texts = []
    for _ in range(3000):
        lines = [line() for _ in range(rng.randrange(1, 4))]
        texts.append("".join(card(*lines) for _ in range(rng.randrange(1, 3))) + rng.choice(["", "\n", card("EMAIL:z@z.z")]))
    every = READ.replace("([text, owner]) => {", "([texts, owner]) => texts.map((text) => {") + ")"
    expected = [ours(text) or "InputError" for text in texts]
    assert page_device.call(every, [texts, OWNER]) == expected
    assert 500 < sum(bool(set(each[0]) - {"z@z.z"}) for each in expected) < 2500


def test_hundreds_of_random_files_are_read_alike(page_device: Any) -> None:
    rng = random.Random(10)
    people = [
        "+49 170 1234567",
        "(0170) 1234567",
        "https://d.example/@dora",
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
