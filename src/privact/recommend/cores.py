"""Work in parts on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["on_all_cores"]

Part = TypeVar("Part")
Result = TypeVar("Result")


def on_all_cores(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
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
