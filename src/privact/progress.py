"""How long work says how far it is."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Tell"]

Tell = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much; where that is not known, as much as is done."""
