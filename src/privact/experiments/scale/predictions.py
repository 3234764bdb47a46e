"""What a larger tree will cost in processor time, told before it is learned from the two largest that were.

Every stage grows with the number of users times the number of thresholds, which rises with the bins up to 128, and users are
sent down a sketch once more whenever parts are still too large. Between neighbouring sizes that is a power of the number of users
a little above 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

__all__ = ["extrapolate", "predict_processor_seconds"]


def extrapolate(known: Sequence[tuple[int, float]], n: int) -> float:
    """The value at n of the power law through two points. known: users and value of both, different users."""
    (few, low), (many, high) = known
    power = math.log(high / low) / math.log(many / few)
    return float(high * (n / many) ** power)


def predict_processor_seconds(rows: Sequence[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    """The prediction for n users in two processes, from the two largest sizes among finished rows; none without two.

    `n`; `from`: the sizes that it is computed from; `processor_seconds`.
    """
    ours = [row for row in rows if (row["method"], row["workers"], row["status"]) == ("privact", 2, "ok") and row["n"] < n]
    known = sorted((row["n"], row["processor_seconds"]) for row in ours)[-2:]
    if len(known) < 2:
        return []
    return [{"n": n, "from": [size for size, _ in known], "processor_seconds": extrapolate(known, n)}]
