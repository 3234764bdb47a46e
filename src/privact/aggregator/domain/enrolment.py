"""Who may report: users are enrolled and removed by the operator, and each gets one token."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, bindparam, delete, func, insert, select, update

from privact.aggregator.domain.access.tokens import new_user_token, sha256
from privact.aggregator.domain.erasure.pending_erasures import cancel_erasures
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import invitations, rounds, users
from privact.errors import InputError, UnknownUserError
from privact.protocol.users import LONGEST_USER_ID, normalise_user_id, user_digest

__all__ = [
    "MOST_AT_ONCE",
    "Enrolled",
    "ListedUser",
    "User",
    "check_user_id",
    "count_users",
    "enrol",
    "find_users",
    "list_users",
    "remove",
    "replace_token",
    "revoke",
    "revoke_all",
    "select_users",
]

MOST_AT_ONCE: Final = 10_000
"""Most users that one call enrols."""
_MOST_PARAMETERS: Final = 2_000


class User(NamedTuple):
    """Someone enrolled, as the tables know them.

    digest: user_digest(id).
    token_sha256: SHA-256 of the token.
    id: normalised.
    serial: place in the order of enrolment.
    enrolled: when, UTC seconds.
    """

    digest: bytes
    token_sha256: bytes
    id: str
    serial: int
    enrolled: int


def select_users(*columns: ColumnElement[Any]) -> Select[Any]:
    """The statement that finds the enrolled users among those with `digests`: the columns of User, then others."""
    wanted = select(users.c.digest, users.c.token_sha256, users.c.id, users.c.serial, users.c.enrolled, *columns)
    return wanted.where(users.c.digest.in_(bindparam("digests", expanding=True)), users.c.removed.is_(None))


_FIND = select_users()


def find_users(connection: Connection, digests: Sequence[bytes]) -> dict[bytes, User]:
    """The enrolled users among those with these digests."""
    if not digests:
        return {}
    rows = connection.execute(_FIND, {"digests": list(dict.fromkeys(digests))}).all()
    return {row[0]: User(*row) for row in rows}


class Enrolled(NamedTuple):
    """What an enrolment gave.

    tokens: the token of each new user by normalised id; they are kept nowhere.
    existing: normalised ids that were enrolled already, and whose tokens stay as they are, or that were named again.
    """

    tokens: dict[str, str]
    existing: list[str]


def check_user_id(user_id: str) -> str:
    """The normalised id, if it can be kept, shown on one line and written to a table."""
    normal = normalise_user_id(user_id)
    if len(normal) > LONGEST_USER_ID:
        raise InputError(f"user id {normal[:20]!r}... has {len(normal)} characters; at most {LONGEST_USER_ID} are taken")
    if not normal.isprintable():
        raise InputError(f"user id {normal!r} has a character that cannot be shown: remove it")
    return normal


def enrol(store: Store, user_ids: Iterable[str], now: int) -> Enrolled:
    """Enrol users and give each a token; ids that are the same after normalising are one user.

    store: where users are.
    user_ids: in any spelling.
    now: UTC seconds.
    """
    wanted: dict[str, bytes] = {}
    existing: list[str] = []
    for normal in map(check_user_id, user_ids):
        if normal in wanted:
            existing.append(normal)
        wanted[normal] = user_digest(normal)
    tokens = {normal: new_user_token(digest) for normal, digest in wanted.items()}
    with store.write() as connection:
        store.one_at_a_time(connection)
        there = _removed_or_not(connection, list(wanted.values()))
        cancel_erasures(connection, wanted)
        serial = _find_last_serial(connection)
        fresh: list[dict[str, object]] = []
        back: list[dict[str, object]] = []
        for normal, digest in wanted.items():
            if digest in there and not there[digest]:
                existing.append(normal)
                del tokens[normal]
                continue
            serial += 1
            row = {
                "digest": digest,
                "id": normal,
                "token_sha256": sha256(tokens[normal].encode()),
                "enrolled": now,
                "serial": serial,
            }
            (back if digest in there else fresh).append(row)
        if fresh:
            connection.execute(insert(users), fresh)
        for row in back:
            connection.execute(update(users).where(users.c.digest == row["digest"]).values(row | {"removed": None}))
    return Enrolled(tokens, existing)


def _find_last_serial(connection: Connection) -> int:
    """The highest serial that was ever given to somebody who could be in a round: rows of erased users are gone."""
    given = connection.execute(select(func.max(users.c.serial))).scalar_one() or 0
    opened = connection.execute(select(func.max(rounds.c.last_serial))).scalar_one() or 0
    return max(given, opened)


def replace_token(store: Store, user_id: str) -> tuple[str, bytes, str]:
    """Give a user a new token and make the old one, and an invitation, worthless; the normalised id, the digest and the token.

    store: where users are.
    user_id: in any spelling.
    """
    normal = check_user_id(user_id)
    digest = user_digest(normal)
    token = new_user_token(digest)
    with store.write() as connection:
        _change(connection, normal, digest, token_sha256=sha256(token.encode()))
        connection.execute(delete(invitations).where(invitations.c.user == digest))
    return normal, digest, token


def remove(store: Store, user_id: str, now: int) -> bytes:
    """Make a user's token worthless and leave the user out of future rounds; the digest. Reports that were accepted stay.

    store: where users are.
    user_id: in any spelling.
    now: UTC seconds.
    """
    normal = check_user_id(user_id)
    digest = user_digest(normal)
    with store.write() as connection:
        store.one_at_a_time(connection)
        _change(connection, normal, digest, removed=now)
        connection.execute(delete(invitations).where(invitations.c.user == digest))
    return digest


def revoke(store: Store, user_id: str) -> tuple[str, bytes]:
    """Make a user's token and invitation worthless; the normalised id and the digest. The user stays enrolled.

    store: where users are.
    user_id: in any spelling.
    """
    normal = check_user_id(user_id)
    digest = user_digest(normal)
    with store.write() as connection:
        _change(connection, normal, digest, token_sha256=secrets.token_bytes(32))
        connection.execute(delete(invitations).where(invitations.c.user == digest))
    return normal, digest


def revoke_all(store: Store) -> int:
    """Make the tokens and invitations of all enrolled users worthless; how many users there are.

    store: where users are.
    """
    with store.write() as connection:
        connection.execute(delete(invitations))
        nobody = secrets.token_bytes(32)  # the SHA-256 of nothing that anybody knows
        return connection.execute(update(users).where(users.c.removed.is_(None)).values(token_sha256=nobody)).rowcount


def count_users(connection: Connection) -> int:
    """How many users are enrolled."""
    return connection.execute(select(func.count()).select_from(users).where(users.c.removed.is_(None))).scalar_one()


class ListedUser(NamedTuple):
    """An enrolled user, as an operator sees one.

    user: the normalised id. enrolled: UTC seconds. serial: the place in the order of enrolment.
    invitation: "waiting" or "used"; None without one. discoverable: whether others may be told about the user.
    """

    user: str
    enrolled: int
    serial: int
    invitation: str | None
    discoverable: bool


def list_users(connection: Connection, after: int, limit: int, search: str = "") -> list[ListedUser]:
    """Enrolled users in the order of enrolment.

    connection: to read from.
    after: serial of the last user that is already known; 0 for the beginning.
    limit: how many at most.
    search: only ids that contain this text, in any case.
    """
    rows = connection.execute(
        select(users.c.id, users.c.enrolled, users.c.serial, users.c.discoverable, invitations.c.made, invitations.c.used)
        .outerjoin(invitations, invitations.c.user == users.c.digest)
        .where(users.c.removed.is_(None), users.c.serial > after, users.c.id.icontains(search, autoescape=True))
        .order_by(users.c.serial)
        .limit(limit)
    )
    return [ListedUser(row.id, row.enrolled, row.serial, _state_of(row.made, row.used), bool(row.discoverable)) for row in rows]


def _state_of(made: int | None, used: int | None) -> str | None:
    """What became of an invitation, if there is one."""
    return None if made is None else "waiting" if used is None else "used"


def _change(connection: Connection, normal: str, digest: bytes, **values: object) -> None:
    """Change an enrolled user's row."""
    changed = connection.execute(update(users).where(users.c.digest == digest, users.c.removed.is_(None)).values(**values))
    if changed.rowcount == 0:
        raise UnknownUserError(f"no user {normal!r} is enrolled")


def _removed_or_not(connection: Connection, digests: list[bytes]) -> dict[bytes, bool]:
    """Which of these users have a row, and whether they were removed."""
    statement = select(users.c.digest, users.c.removed).where(users.c.digest.in_(bindparam("digests", expanding=True)))
    found: dict[bytes, bool] = {}
    for begin in range(0, len(digests), _MOST_PARAMETERS):
        rows = connection.execute(statement, {"digests": digests[begin : begin + _MOST_PARAMETERS]})
        found.update((row[0], row[1] is not None) for row in rows)
    return found
