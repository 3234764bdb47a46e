"""Times and durations for people to read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

__all__ = ["write_duration", "write_moment"]

_UNITS: Final = (("week", 7 * 86400), ("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))


def write_moment(seconds: int) -> str:
    """A time in words, such as '31 January 2026, 12:00 UTC'.

    seconds: UTC seconds since 1970.
    """
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def write_duration(seconds: int) -> str:
    """A duration in the largest unit that measures it exactly, such as '30 days'.

    seconds: at least 0.
    """
    unit, length = next((unit, length) for unit, length in _UNITS if (seconds % length == 0 and seconds) or length == 1)
    count = seconds // length
    return f"{count:,} {unit}{'' if count == 1 else 's'}"
