"""What the server writes down: one JSON object per line on stderr, without tokens, vectors, addresses, user ids or times finer
than a second.

A request is logged as its route (`/v1/users/{user}`, not the address that was asked for). Accepted reports are not logged one by
one, nor is what was only read, unless a token was refused or the server failed: pages and devices poll.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from typing import Final, TextIO

__all__ = ["JsonLines", "log_to"]

_ALWAYS_THERE: Final = {*vars(logging.makeLogRecord({})), "message", "asctime", "color_message", "taskName"}
_TOKEN: Final = re.compile(r"(?:[0-9a-fA-F]{32}|operator)\.[A-Za-z0-9_-]{20,}")


class JsonLines(logging.Formatter):
    """A log record as one line of JSON: time, level, logger, message, and whatever was passed as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line.update((name, value) for name, value in vars(record).items() if name not in _ALWAYS_THERE)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _TOKEN.sub("(token)", json.dumps(line, default=str))  # nobody logs one; an exception's text might hold one


def log_to(stream: TextIO | None = None, level: str = "info") -> None:
    """Send everything that is logged in this process to a stream.

    stream: where lines go; stderr if not given.
    level: debug, info, warning or error.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in ("privact", "uvicorn"):
        logging.getLogger(name).setLevel(level.upper())
