"""Invitations: each lets one enrolled user choose a token, once. Only the SHA-256 of a code is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlalchemy import delete, insert, select, update

from privact.aggregator.domain.access.tokens import is_right, sha256
from privact.aggregator.domain.enrolment import check_user_id, find_users
from privact.aggregator.domain.refusals import WrongState
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import invitations, users
from privact.errors import UnknownUserError
from privact.protocol.invitation_links import is_invitation_code, new_invitation_code
from privact.protocol.users import user_digest

__all__ = ["accept_invitation", "invite"]

_MOST_PARAMETERS: Final = 2_000


def invite(store: Store, user_ids: Iterable[str], now: int) -> dict[str, str]:
    """Make an invitation for each enrolled user; an earlier one is worthless from then on. Codes by normalised id.

    store: where users are. user_ids: in any spelling. now: UTC seconds.
    """
    wanted = {normal: user_digest(normal) for normal in map(check_user_id, user_ids)}
    codes = {normal: new_invitation_code(digest) for normal, digest in wanted.items()}
    digests = list(wanted.values())
    with store.write() as connection:
        store.one_at_a_time(connection)
        for begin in range(0, len(digests), _MOST_PARAMETERS):
            some = digests[begin : begin + _MOST_PARAMETERS]
            enrolled = find_users(connection, some)
            for normal, digest in wanted.items():
                if digest in some and digest not in enrolled:
                    raise UnknownUserError(f"no user {normal!r} is enrolled: enrol the user first")
            connection.execute(delete(invitations).where(invitations.c.user.in_(some)))
        rows = [{"user": wanted[normal], "sha256": sha256(code.encode()), "made": now} for normal, code in codes.items()]
        if rows:
            connection.execute(insert(invitations), rows)
    return codes


def accept_invitation(store: Store, code: str, token_sha256: bytes, now: int) -> str | None:
    """Give the invited user the token that the user's device has drawn; the user's id, or None if there is no such invitation.

    The same request again, as after a lost connection, has the same result. Anybody else's is refused.

    code: of the invitation. token_sha256: SHA-256 of the token. now: UTC seconds.
    """
    if not is_invitation_code(code):
        return None
    digest = bytes.fromhex(code[len("invite-") :].partition(".")[0])
    with store.write() as connection:
        store.one_at_a_time(connection)
        kept = connection.execute(
            select(invitations.c.sha256, invitations.c.used).where(invitations.c.user == digest)
        ).one_or_none()
        user = find_users(connection, [digest]).get(digest)
        if not is_right(sha256(code.encode()), kept.sha256 if kept else None) or kept is None or user is None:
            return None
        if kept.used is None:
            connection.execute(update(users).where(users.c.digest == digest).values(token_sha256=token_sha256))
            connection.execute(update(invitations).where(invitations.c.user == digest).values(used=now))
        elif not is_right(token_sha256, user.token_sha256):
            raise WrongState("this invitation was used before: go on where it was used, or ask for a new one")
    return user.id
