"""What the program is called: `privact device` in the whole package, `privact-device` where only the device is installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

__all__ = ["PROGRAM", "spell_command"]

_ALONE: Final = "privact-device"
_IN_PRIVACT: Final = "privact device"

PROGRAM: Final = _ALONE if Path(sys.argv[0]).stem == _ALONE else "privact"
"""The program that was started."""


def spell_command(text: str) -> str:
    """Text that names commands of a device as they are called in the program that was started."""
    return text.replace(_IN_PRIVACT, _ALONE) if PROGRAM == _ALONE else text
