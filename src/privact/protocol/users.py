"""User ids, written one way: any spelling of an id -> its normal form -> its fixed-size digest.

Two devices must count the same person in the same bin, so an id is normalised before anything is computed from it.
The normal form of an id, in this order:

1. Unicode NFD, then full case folding, then Unicode NFC: `Ada`, `ADA` and `ada` are one person, and so are the
   composed and the decomposed spelling of `é`. (Case folding after decomposition is what makes the form stable.)
2. White space at both ends and every leading `@` are dropped: `@Ada@Server.example` is `ada@server.example`.

Normalising twice changes nothing. Both Unicode steps never change for assigned characters, so devices with
different Unicode versions agree.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from privact.errors import InputError

__all__ = ["LONGEST_USER_ID", "USER_DIGEST_SIZE", "normalise_user_id", "user_digest"]

USER_DIGEST_SIZE = 16
"""Bytes of a user digest."""

LONGEST_USER_ID = 320
"""Characters of the longest normal form that a user can have: that of the longest e-mail address."""

_BEFORE = re.compile(r"[\s@]+")


def normalise_user_id(user_id: str) -> str:
    """The one spelling under which a user is counted, hashed and compared.

    user_id: an account handle, address or number as a person or an export wrote it.
    """
    if not isinstance(user_id, str):
        raise InputError(f"user id {user_id!r} is a {type(user_id).__name__}; ids are text: pass str(id)")
    folded = user_id.casefold() if user_id.isascii() else _fold(user_id)
    before = _BEFORE.match(folded)
    normal = folded[before.end() if before else 0 :].rstrip()
    if not normal:
        raise InputError(
            f"user id {user_id!r} is empty after normalising; give an id with at least one character besides spaces and @"
        )
    return normal


def user_digest(user_id: str) -> bytes:
    """The 16 bytes that stand for a user in a report: BLAKE2b-128 of the normalised id in UTF-8."""
    return hashlib.blake2b(normalise_user_id(user_id).encode(), digest_size=USER_DIGEST_SIZE).digest()


def _fold(user_id: str) -> str:
    """Canonical caseless form of text that is not plain ASCII."""
    try:
        user_id.encode()
    except UnicodeEncodeError:
        raise InputError(f"user id {user_id!r} is not valid Unicode (a lone surrogate); read the file as UTF-8") from None
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", user_id).casefold())
