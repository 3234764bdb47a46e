"""What a larger tree will cost in processor time, told before it is learned from the two largest that were.

Starting workers and fitting the posterior cost the same for any number of users. All else is done for each user, or in parts of
at most so many users: a line. (A power of the number of users through two points takes the noise of measurements for a power.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["extrapolate", "predict_processor_seconds"]


def extrapolate(known: Sequence[tuple[int, float]], n: int) -> float:
    """The value at n of the line through two points. known: users and value of both, different users."""
    (few, low), (many, high) = known
    return float(high + (high - low) / (many - few) * (n - many))


def predict_processor_seconds(rows: Sequence[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    """The prediction for n users in two processes, from the two largest sizes among finished rows; none without two.

    `n`; `from`: the sizes that it is computed from; `processor_seconds`.
    """
    ours = [row for row in rows if (row["method"], row["workers"], row["status"]) == ("privact", 2, "ok") and row["n"] < n]
    known = sorted((row["n"], row["processor_seconds"]) for row in ours)[-2:]
    if len(known) < 2:
        return []
    return [{"n": n, "from": [size for size, _ in known], "processor_seconds": extrapolate(known, n)}]
