"""How many reports a round has: the sum of what servers counted, each in a row of its own.

One count in the row of the round would be locked until the commit that raises it is on disk, and servers on one database would
commit one after the other.
"""

from __future__ import annotations

import secrets
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, Connection, Select, bindparam, cast, func, insert, select, update

from privact.aggregator.storage.schema import report_counts, rounds

__all__ = ["count_reports", "draw_slot", "joiner_count", "report_count", "select_rounds"]

_SLOTS: Final = 256
_COUNT = (
    update(report_counts)
    .where(report_counts.c.round_id == bindparam("counted"), report_counts.c.slot == bindparam("own"))
    .values(
        n_reports=report_counts.c.n_reports + bindparam("in_time"),
        n_joiners=report_counts.c.n_joiners + bindparam("late"),
    )
)


def draw_slot() -> int:
    """Which row of each round a server counts in. Two servers that drew the same one count right, and wait for each other."""
    return secrets.randbelow(_SLOTS)


def count_reports(connection: Connection, round_id: str, slot: int, *, in_time: int, late: int) -> None:
    """Add accepted reports to the count of a round.

    connection: in the transaction that stores them. slot: of this server. in_time, late: how many more there are.
    """
    if connection.execute(_COUNT, {"counted": round_id, "own": slot, "in_time": in_time, "late": late}).rowcount == 0:
        connection.execute(insert(report_counts).values(round_id=round_id, slot=slot, n_reports=in_time, n_joiners=late))


def report_count() -> ColumnElement[int]:
    """How many reports of a row of rounds came in time."""
    return _count("n_reports")


def joiner_count() -> ColumnElement[int]:
    """How many reports of a row of rounds came from users who enrolled later."""
    return _count("n_joiners")


def select_rounds() -> Select[Any]:
    """All columns of rounds, with n_reports and n_joiners as they are in all."""
    counts = {"n_reports": report_count(), "n_joiners": joiner_count()}
    return select(*(counts[column.name].label(column.name) if column.name in counts else column for column in rounds.c))


def _count(name: str) -> ColumnElement[int]:
    by_servers = select(func.sum(report_counts.c[name])).where(report_counts.c.round_id == rounds.c.id)
    total = cast(by_servers.correlate(rounds).scalar_subquery(), BigInteger)  # PostgreSQL's sums are decimals
    return rounds.c[name] + func.coalesce(total, 0)
