"""How many reports of a round came when, in a few dozen equal stretches of time: no user, and no exact time."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Connection, func, select

from privact.aggregator.storage.schema import reports

__all__ = ["count_answers"]

_MOST: Final = 60  # stretches
_WIDTHS: Final = (60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86400, 7 * 86400)  # seconds


def count_answers(connection: Connection, round_id: str, begin: int, end: int) -> dict[str, Any]:
    """The reports that came in time, by stretches of at least a minute.

    begin, end: the time to look at, UTC seconds.
    """
    width = next((width for width in _WIDTHS if (end - begin) / width <= _MOST), _WIDTHS[-1])
    stretch = (reports.c.received - begin) // width
    wanted = select(stretch, func.count()).where(reports.c.round_id == round_id, reports.c.late.is_(False)).group_by(stretch)
    counts = [0] * (max(0, end - begin) // width + 1)
    for place, count in connection.execute(wanted):
        counts[min(max(int(place), 0), len(counts) - 1)] += int(count)
    return {"begin": begin, "seconds": width, "counts": counts}
