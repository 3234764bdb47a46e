"""Invitations: a link that lets one person join once.

    https://clusters.example/join#invite-DIGEST.SECRET        the page is served by the aggregator
    https://pages.example/page/#invite-DIGEST.SECRET@ADDRESS  the page lives elsewhere; ADDRESS is the aggregator's

DIGEST is the user's digest, 32 hexadecimal digits; SECRET is 22 letters of base64url, 128 random bits. A device draws its own
token and gives the aggregator the token's SHA-256 together with the code: afterwards the code is worthless, and nobody but the
device has ever known the token. Where a code stands, a token may stand too.
"""

from __future__ import annotations

import re
import secrets
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from privact.errors import InputError
from privact.protocol.addresses import Address, aggregator_address

__all__ = ["Invitation", "invitation_link", "is_invitation_code", "new_invitation_code", "new_token_for", "read_invitation"]

_CODE: Final = re.compile(r"invite-[0-9a-f]{32}\.[A-Za-z0-9_-]{22}")
_TOKEN: Final = re.compile(r"[0-9a-f]{32}\.[A-Za-z0-9_-]{43}")
_DIGEST: Final = slice(len("invite-"), len("invite-") + 32)
_SERVED: Final = re.compile(r"(.*)/join/?(?:index\.html)?")


class Invitation(NamedTuple):
    """What a link says.

    address: the aggregator.
    secret: the code of an invitation, or a user's token.
    """

    address: Address
    secret: str


def new_invitation_code(digest: bytes) -> str:
    """A fresh code for the user with this digest."""
    return f"invite-{digest.hex()}.{secrets.token_urlsafe(16)}"


def is_invitation_code(text: str) -> bool:
    """Whether a text has the form of an invitation's code."""
    return _CODE.fullmatch(text) is not None


def new_token_for(code: str) -> str:
    """A fresh token of the user whom a code invites, drawn by the user's device."""
    return f"{code[_DIGEST]}.{secrets.token_urlsafe(32)}"


def invitation_link(address: Address, code: str, page: str | None = None) -> str:
    """The link of an invitation.

    address: the aggregator; code: of the invitation.
    page: where the page for browsers lives, if the aggregator's own is not to be used.
    """
    if page is None:
        return f"{address.url}/join#{code}"
    if "#" in page or "://" not in page:
        raise InputError(f"{page!r} is not the address of a page: give for example https://pages.example/privact/")
    return f"{page}#{code}@{quote(address.url, safe=':/')}"


def read_invitation(link: str, *, allow_plain_http: bool = False) -> Invitation:
    """What an invitation's link says; the reverse of invitation_link.

    allow_plain_http: as for aggregator_address.
    """
    before, _, fragment = link.strip().partition("#")
    secret, _, elsewhere = fragment.partition("@")
    if not (_CODE.fullmatch(secret) or _TOKEN.fullmatch(secret)):
        raise InputError("this invitation is not complete: copy the whole link again, in quotes")
    served = _SERVED.fullmatch(before.partition("?")[0])
    if not elsewhere and served is None:
        raise InputError("this invitation does not say where to take part: copy the whole link again, in quotes")
    address = unquote(elsewhere) if elsewhere else served[1] if served else ""
    return Invitation(aggregator_address(address, allow_plain_http=allow_plain_http), secret)
