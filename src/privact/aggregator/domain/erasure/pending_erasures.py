"""Erasures that are not complete yet: whose labels are fixed by an open round, or whose report is being learned from."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, bindparam, delete, insert, select

from privact.aggregator.storage.schema import pending_erasures, rounds

__all__ = ["cancel_erasures", "find_learning", "forget_erasure", "note_erasure", "read_pending"]


def read_pending(connection: Connection) -> dict[str, int]:
    """The ids that are still to be erased somewhere, and when that was asked for, UTC seconds."""
    return {row.id: row.asked for row in connection.execute(select(pending_erasures).order_by(pending_erasures.c.id))}


def note_erasure(connection: Connection, name: str, now: int) -> None:
    """Remember an id until it is gone everywhere."""
    forget_erasure(connection, name)
    connection.execute(insert(pending_erasures).values(id=name, asked=now))


def forget_erasure(connection: Connection, name: str) -> None:
    """An id is gone everywhere: it need not be remembered."""
    connection.execute(delete(pending_erasures).where(pending_erasures.c.id == name))


def cancel_erasures(connection: Connection, names: Collection[str]) -> None:
    """These users were enrolled again: nothing more is erased of them."""
    if connection.execute(select(pending_erasures.c.id).limit(1)).one_or_none() is not None:
        again = delete(pending_erasures).where(pending_erasures.c.id == bindparam("name"))
        connection.execute(again, [{"name": name} for name in names])


def find_learning(connection: Connection, asked: int) -> list[str]:
    """Rounds that are being learned from reports that may have been read before a time in UTC seconds."""
    learning = select(rounds.c.id).where(rounds.c.state == "learning", rounds.c.closed <= asked)
    return list(connection.execute(learning.order_by(rounds.c.id)).scalars())
