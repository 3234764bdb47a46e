"""Operators: named tokens with scopes and an end, and the record of what each of them did."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from privact.aggregator.domain.access.tokens import check_operator_token, new_operator_token, sha256
from privact.aggregator.domain.refusals import NotFound, WrongState
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import operator_actions, operators
from privact.errors import InputError
from privact.protocol.users import normalise_user_id

__all__ = [
    "ERASED_SUBJECT",
    "FIRST",
    "SCOPES",
    "Operator",
    "add_operator",
    "erase_subject",
    "has_operators",
    "list_actions",
    "list_operators",
    "read_operators",
    "record_action",
    "remove_operator",
    "store_first_operator",
]

SCOPES: Final = ("read", "rounds", "users", "operators")
"""What a token may do: read everything; rounds, labels and ratings; enrol and remove users; hand out tokens to operators."""
FIRST: Final = "operator"
"""The name of the first operator, who has every scope."""

ERASED_SUBJECT: Final = "(erased)"
"""What the record says instead of the id of an erased user."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_LONGEST_SUBJECT: Final = 400


class Operator(NamedTuple):
    """Somebody who operates.

    name: of the token. scopes: what it may do. expires: first second in which it is worthless, or None.
    """

    name: str
    scopes: frozenset[str]
    expires: int | None


def store_first_operator(connection: Connection, token: str, now: int) -> None:
    """Make this the token of the first operator, who has every scope; others keep theirs.

    token: operator. and 43 characters. now: UTC seconds.
    """
    row = {"token_sha256": sha256(check_operator_token(token).encode()), "scopes": ",".join(SCOPES), "expires": None}
    if connection.execute(update(operators).where(operators.c.name == FIRST).values(**row)).rowcount == 0:
        connection.execute(insert(operators).values(**row, name=FIRST, created=now))


def has_operators(connection: Connection) -> bool:
    """Whether anybody operates yet."""
    return connection.execute(select(operators.c.name).limit(1)).one_or_none() is not None


def read_operators(connection: Connection) -> dict[bytes, Operator]:
    """All operators by the SHA-256 of their tokens."""
    return {row.token_sha256: _operator(row) for row in connection.execute(select(operators))}


def add_operator(store: Store, name: str, scopes: Sequence[str], expires: int | None, now: int) -> str:
    """Give somebody a token; it is kept nowhere.

    name: new among operators. scopes: some of SCOPES. expires: first second without it, or None. now: UTC seconds.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"operator name {name[:80]!r} must be 1 to 64 of A-Z a-z 0-9 . _ @ -, beginning with a letter or digit")
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise InputError(f"scopes {', '.join(unknown) or 'none'} cannot be given: choose from {', '.join(SCOPES)}")
    if expires is not None and expires <= now:
        raise InputError(f"the token would expire at {expires}, which is over: choose a later time")
    token = new_operator_token()
    with store.write() as connection:
        if connection.execute(select(operators.c.name).where(operators.c.name == name)).one_or_none():
            raise WrongState(f"there is an operator {name!r} already: remove that one first, or choose another name")
        kept = ",".join(scope for scope in SCOPES if scope in scopes)
        row = {"name": name, "token_sha256": sha256(token.encode()), "scopes": kept, "created": now, "expires": expires}
        connection.execute(insert(operators).values(row))
    return token


def remove_operator(store: Store, name: str) -> None:
    """Make an operator's token worthless; the first operator stays, since nobody else could hand out tokens."""
    if name == FIRST:
        raise WrongState(f"operator {FIRST!r} cannot be removed: replace its token with privact serve --new-operator-token")
    with store.write() as connection:
        if connection.execute(delete(operators).where(operators.c.name == name)).rowcount == 0:
            raise NotFound(f"no operator {name[:80]!r}")


def list_operators(store: Store) -> list[dict[str, Any]]:
    """All operators by name, without their tokens."""
    with store.read() as connection:
        rows = connection.execute(select(operators).order_by(operators.c.name)).all()
    return [
        {"name": row.name, "scopes": row.scopes.split(","), "created_at": row.created, "expires_at": row.expires} for row in rows
    ]


def record_action(store: Store, at: int, operator: str, action: str, subject: str, status: int) -> None:
    """Write down what an operator did.

    action: method and route. subject: what it was about. status: of the response.
    """
    shown = "".join(letter if letter.isprintable() else "?" for letter in subject[:_LONGEST_SUBJECT])
    row = {"at": at, "operator": operator, "action": action, "subject": shown, "status": status}
    with store.write() as connection:
        connection.execute(insert(operator_actions).values(row))


def list_actions(store: Store, before: int, limit: int) -> list[dict[str, Any]]:
    """What operators did, newest first.

    before: number of the last action that is already known. limit: how many at most.
    """
    wanted = select(operator_actions).where(operator_actions.c.id < before).order_by(operator_actions.c.id.desc()).limit(limit)
    with store.read() as connection:
        return [dict(row._mapping) for row in connection.execute(wanted)]


def erase_subject(connection: Connection, subject: str) -> None:
    """Remove a user's id from the record, in whatever spelling an operator gave it.

    subject: the normalised id.
    """
    for spelled in connection.execute(select(operator_actions.c.subject).distinct()).scalars().all():
        if _normalise(spelled) == subject:
            named = update(operator_actions).where(operator_actions.c.subject == spelled)
            connection.execute(named.values(subject=ERASED_SUBJECT))


def _normalise(subject: str) -> str:
    """The normal form of what may be a user's id."""
    try:
        return normalise_user_id(subject)
    except InputError:  # nothing but spaces
        return ""


def _operator(row: Any) -> Operator:
    return Operator(row.name, frozenset(row.scopes.split(",")), row.expires)
