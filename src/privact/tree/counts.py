"""Validation of requested counts: whole numbers of at least 1."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from privact.errors import InputError


def check_count(name: str, value: SupportsIndex, most: int | None = None) -> int:
    """The requested count as an int; InputError if it is out of range.

    name: of the argument, for the error.
    most: the upper limit, if there is one.
    """
    try:
        count = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = 0
    if count < 1 or (most is not None and count > most):
        limit = "of at least 1" if most is None else f"from 1 to {most}, the number of users"
        raise InputError(f"{name} = {value!r} cannot be: choose a whole number {limit}")
    return count
