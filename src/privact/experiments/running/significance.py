"""Is one recommender better than another for the same users? A paired test without assumptions on how scores are spread."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["FLIPS", "paired_p_value"]

FLIPS = 9_999
_BATCH = 500


def paired_p_value(differences: NDArray[np.float64], rng: np.random.Generator, flips: int = FLIPS) -> float:
    """How probable a mean difference at least this large is if, for each user, either sign was as likely (one-sided).

    differences: (n) score of one method less that of the other, a user each.
    rng: draws the signs.
    flips: how many times signs are drawn; the smallest value that can come out is 1 / (flips + 1).
    """
    values = np.asarray(differences, dtype=np.float64)
    values = values[values != 0.0]
    observed, as_large = values.sum(), 1
    for first in range(0, flips, _BATCH):
        signs = rng.integers(0, 2, (min(_BATCH, flips - first), len(values)), dtype=np.int8) * 2 - 1
        as_large += int((signs @ values >= observed - 1e-12).sum())
    return as_large / (flips + 1)
