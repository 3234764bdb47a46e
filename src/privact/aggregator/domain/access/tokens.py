"""Tokens: what a user or an operator shows. Only their SHA-256 is ever kept."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import Final, NamedTuple

from privact.errors import InputError

__all__ = [
    "Claim",
    "check_operator_token",
    "is_right",
    "names_somebody",
    "new_operator_token",
    "new_user_token",
    "read_bearer",
    "read_claim",
    "sha256",
]

_USER: Final = re.compile(rb"[0-9a-f]{32}\.[A-Za-z0-9_-]{43}")
_OPERATOR: Final = re.compile(r"operator\.[A-Za-z0-9_-]{43}")
_NOBODY: Final = bytes(16)
_NO_TOKEN: Final = secrets.token_bytes(32)
"""What is compared when there is nothing to compare with, so that a missing user takes as long as a wrong token."""


class Claim(NamedTuple):
    """Who a request claims to come from.

    digest: the user it names; sixteen zero bytes if it names none.
    sha256: of the whole token.
    """

    digest: bytes
    sha256: bytes


def read_claim(headers: list[tuple[bytes, bytes]]) -> Claim:
    """The token of a request: always something to look up and compare, whatever was sent."""
    token = read_bearer(headers)
    digest = bytes.fromhex(token[:32].decode("ascii")) if _USER.fullmatch(token) else _NOBODY
    return Claim(digest, sha256(token))


def read_bearer(headers: list[tuple[bytes, bytes]]) -> bytes:
    """What a request shows as `Authorization: Bearer ...`; empty if it shows nothing."""
    token = b""
    for name, value in headers:
        if name == b"authorization" and value[:7].lower() == b"bearer ":
            token = value[7:].strip()
    return token


def names_somebody(claim: Claim) -> bool:
    """Whether a token has the form of a user's token, so that there is somebody to look up."""
    return claim.digest != _NOBODY


def is_right(shown: bytes, kept: bytes | None) -> bool:
    """Whether a token is the one that is kept, in time that does not depend on either.

    shown: SHA-256 of what was presented.
    kept: SHA-256 of the right one, or None if there is none.
    """
    return hmac.compare_digest(shown, _NO_TOKEN if kept is None else kept) and kept is not None


def sha256(token: bytes) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(token).digest()


def new_user_token(digest: bytes) -> str:
    """A fresh token of the user with this digest."""
    return f"{digest.hex()}.{secrets.token_urlsafe(32)}"


def new_operator_token() -> str:
    """A fresh token of an operator."""
    return f"operator.{secrets.token_urlsafe(32)}"


def check_operator_token(token: str) -> str:
    """The token itself, if it could be one of an operator."""
    if not _OPERATOR.fullmatch(token):
        raise InputError("the operator's token must be 'operator.' and 43 of A-Z a-z 0-9 _ -: leave it out and one is made")
    return token
