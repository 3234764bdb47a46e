from __future__ import annotations

import hashlib
import re

import pytest

from privact.aggregator.domain.access.tokens import (
    check_operator_token,
    is_right,
    new_user_token,
    read_claim,
    sha256,
)
from privact.errors import InputError
from privact.protocol.users import user_digest

ADA = user_digest("ada")


def shown(value: bytes):
    return read_claim([(b"host", b"x"), (b"authorization", value)])


def test_a_users_token_names_the_user_and_is_unguessable():
    tokens = {new_user_token(ADA) for _ in range(100)}
    assert len(tokens) == 100
    assert all(re.fullmatch(rf"{ADA.hex()}\.[A-Za-z0-9_-]{{43}}", token) for token in tokens)


def test_a_token_is_taken_from_the_header_however_its_name_is_spelled():
    token = new_user_token(ADA)
    expected = (ADA, hashlib.sha256(token.encode()).digest())
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert shown(f"{scheme} {token}".encode()) == expected
    assert shown(f"Bearer   {token} ".encode()) == expected


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"Bearer",
        b"Bearer ",
        b"Basic YWRhOng=",
        b"Bearer \xff\xfe",
        b"Bearer " + b"0" * 100_000,
        b"Bearer " + b"g" * 32 + b"." + b"a" * 43,
    ],
)
def test_whatever_is_sent_there_is_someone_to_look_up(value):
    digest, hashed = shown(value[:200])
    assert digest == bytes(16)
    assert len(hashed) == 32


def test_a_token_names_nobody_unless_it_is_well_formed():
    token = new_user_token(ADA)
    for wrong in (token.replace(ADA.hex(), ADA.hex().upper()), token[:-1], token + "a", token.replace(".", ":"), f"x{token}"):
        assert shown(f"Bearer {wrong}".encode()).digest == bytes(16)


def test_only_the_kept_token_is_right():
    assert is_right(sha256(b"a"), sha256(b"a"))
    assert not is_right(sha256(b"a"), sha256(b"b"))
    assert not is_right(sha256(b"a"), None)
    assert not is_right(bytes(32), None)


@pytest.mark.parametrize("token", ["", "operator.", "secret", "operator." + "a" * 42, "operator." + "ä" * 43])
def test_a_token_that_is_easily_guessed_is_refused(token):
    with pytest.raises(InputError, match=r"must be 'operator\.' and 43 of") as refused:
        check_operator_token(token)
    assert str(refused.value).count(token or "operator.") <= 1  # only as part of the advice
