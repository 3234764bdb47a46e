"""Times as people write them: '2026-01-31T12:00Z', '+7d' -> UTC seconds; and back, in words."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

from privact.errors import InputError
from privact.protocol.moments import write_moment

__all__ = ["moment", "seconds", "write_time"]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_DURATION = re.compile(r"([0-9]{1,9})([smhdw]?)")


def seconds(text: str, option: str) -> int:
    """A duration: '90' or '90s', '15m', '12h', '7d', '2w'.

    text: as written.
    option: what it was written for; named when it is wrong.
    """
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise InputError(f"{option} {text} is no duration: give for example 12h or 7d")
    return int(found[1]) * _UNITS[found[2] or "s"]


def moment(text: str | None, option: str) -> int | None:
    """A time in UTC seconds: seconds since 1970, ISO 8601 (UTC unless it says otherwise), or '+7d' from now; None stays None.

    text: as written.
    option: what it was written for; named when it is wrong.
    """
    if text is None:
        return None
    if text.startswith("+"):
        return int(time.time()) + seconds(text[1:], option)
    if text.isascii() and text.isdecimal():
        return int(text)
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"{option} {text} is no time: give for example 2026-01-31T12:00Z or +7d") from None
    return int((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp())


def write_time(moment: int | None) -> str:
    """A time for people to read; a dash for none."""
    return "-" if moment is None else write_moment(moment)
