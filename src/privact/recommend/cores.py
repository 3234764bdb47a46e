"""Work in parts on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["run_on_all_cores", "split_into_blocks"]

CELLS = 1_000_000
"""Pairs of user and item in a block: some 15 MB of work space a core, whatever the number of users and items."""

Part = TypeVar("Part")
Result = TypeVar("Result")


def run_on_all_cores(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """Do the work for every part; returns the results in the order of the parts.

    A part runs on one core from start to end, its matrix products too, so results do not depend on how many cores there are.
    """
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        if len(parts) < 2:
            return [work(part) for part in parts]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(work, parts))


def split_into_blocks(n_rows: int, n_columns: int) -> list[slice]:
    """Ranges of rows that together have about `CELLS` cells."""
    step = max(1, CELLS // max(1, n_columns))
    return [slice(first, min(first + step, n_rows)) for first in range(0, n_rows, step)]
