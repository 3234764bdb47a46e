"""The rule for round ids, written once for devices, aggregators and files.

An id is 1 to 64 of A-Z a-z 0-9 . _ - and starts with a letter or digit. It becomes part of addresses and of file names, so
`.` and `..` must not be ids, and a leading `-` would read as an option on a command line. Every round that was ever opened has
such an id, because its parameters could not have been encoded otherwise.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["ROUND_ID", "is_round_id"]

ROUND_ID: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""Regular expression of a whole round id."""

_WHOLE: Final = re.compile(ROUND_ID)


def is_round_id(text: object) -> bool:
    """Whether a round can have this id."""
    return isinstance(text, str) and _WHOLE.fullmatch(text) is not None
