"""User ids: every spelling of one person gives one id."""

from __future__ import annotations

import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privact.errors import InputError
from privact.protocol.users import normalise_user_id, user_digest

VALID = st.text(min_size=1).filter(lambda text: text.strip().strip("@ \t\r\n\x0b\x0c").strip() != "")


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("ada", "ada"),
        ("@Ada@Server.example", "ada@server.example"),
        ("  @ADA@SERVER.EXAMPLE\r\n", "ada@server.example"),
        ("@ @@ada", "ada"),
        ("Ada Lovelace", "ada lovelace"),
        ("José", "josé"),
        ("JOSE\u0301", "josé"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("+49 30 123", "+49 30 123"),
    ],
)
def test_spellings_of_one_person_meet(written: str, normal: str) -> None:
    assert normalise_user_id(written) == normal


@given(VALID)
def test_normalising_twice_changes_nothing(text: str) -> None:
    try:
        normal = normalise_user_id(text)
    except InputError:
        return
    assert normalise_user_id(normal) == normal
    assert unicodedata.is_normalized("NFC", normal)


def test_every_character_has_a_stable_normal_form() -> None:
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    moving = [one for one in characters if one.casefold() != one or unicodedata.decomposition(one)]
    assert len(moving) > 6000
    normal = [normalise_user_id(f"a{character}") for character in moving]
    assert [normalise_user_id(text) for text in normal] == normal


@given(VALID)
def test_composed_and_decomposed_spelling_are_one(text: str) -> None:
    spellings = {unicodedata.normalize(form, f"a{text}") for form in ("NFC", "NFD")}
    assert len({normalise_user_id(spelling) for spelling in spellings}) == 1


@pytest.mark.parametrize("nobody", ["", "   ", "@", " @@ \n"])
def test_an_id_of_nothing_is_refused(nobody: str) -> None:
    with pytest.raises(InputError, match="empty after normalising"):
        normalise_user_id(nobody)


def test_what_is_not_text_is_refused() -> None:
    with pytest.raises(InputError, match="ids are text"):
        normalise_user_id(17)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="lone surrogate"):
        normalise_user_id("ada\ud800")


def test_digest_is_of_the_normal_form_and_has_a_fixed_size() -> None:
    assert user_digest("@Ada@Server.example") == hashlib.blake2b(b"ada@server.example", digest_size=16).digest()
    assert len(user_digest("x" * 10_000)) == len(user_digest("x")) == 16
