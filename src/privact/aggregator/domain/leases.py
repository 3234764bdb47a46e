"""Leases: which server learns a round, so that of several on one database exactly one does and its result is the one taken.

A server holds a round by `lease_holder` until `lease_until`, and prolongs the lease while it works. A server that dies or loses
the database stops prolonging; after LEASE_SECONDS another one takes the round over. Times are the database's, so the clocks of
servers do not matter. Only the current holder of the lease can record a result.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, or_, update

from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import rounds

__all__ = ["BEAT_SECONDS", "LEASE_SECONDS", "is_free", "prolong_lease", "take_lease"]

LEASE_SECONDS: Final = 30
"""How long a server may be silent before another takes its round over."""
BEAT_SECONDS: Final = 8.0
"""How often a server that learns says that it is alive."""


def is_free(holder: str, now: int) -> ColumnElement[bool]:
    """Condition on a row of rounds: nobody else holds it.

    holder: this server. now: by the database's clock.
    """
    return or_(rounds.c.lease_holder.is_(None), rounds.c.lease_holder == holder, rounds.c.lease_until <= now)


def take_lease(store: Store, round_id: str, holder: str, **progress: Any) -> bool:
    """Take a closed round, or one whose lease has run out, to learn it; False if another server has it or it is settled.

    A round of a series that was followed by the next one is settled: it stays closed, with its evidence.
    progress: stage, done and total to begin with.
    """
    with store.write() as connection:
        now = store.seconds(connection)
        take = update(rounds).where(rounds.c.id == round_id, rounds.c.state.in_(("closed", "learning")), is_free(holder, now))
        take = take.where(rounds.c.evidence.is_(None))
        values = {"state": "learning", "lease_holder": holder, "lease_until": now + LEASE_SECONDS}
        return connection.execute(take.values(**values, **progress)).rowcount == 1


def prolong_lease(store: Store, round_id: str, holder: str, **progress: Any) -> bool:
    """Say that this server still learns a round; False if it is not this server's any more.

    progress: stage, done and total, if they are to be written down.
    """
    with store.write() as connection:
        until = store.seconds(connection) + LEASE_SECONDS
        held = update(rounds).where(rounds.c.id == round_id, rounds.c.state == "learning", rounds.c.lease_holder == holder)
        return connection.execute(held.values(lease_until=until, **progress)).rowcount == 1
