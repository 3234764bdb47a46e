"""Average linkage: the start of the default search, exact up to a few thousand users.

A node that average linkage makes never gains from a local swap: when it joins A and B, their average dissimilarity is at
most that of A or B to any other cluster C, so |C| W(A,B) <= |B| W(A,C). Its trees are local optima of the swap chain;
what improves them is a wider move (regraft.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.tree.embedding import Embedding

EXACT_LIMIT = 5_000
"""Up to how many users the default search starts from exact average linkage."""

LINKAGE_LIMIT = 20_000
"""How many users exact average linkage takes at all: it keeps n^2 / 2 numbers."""


def average_linkage(embedding: Embedding) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The children of each internal node of the average linkage tree, merges in order, the root last."""
    if len(embedding) > LINKAGE_LIMIT:
        raise InputError(
            f"search='linkage' keeps all pairs and takes at most {LINKAGE_LIMIT:,} users, not {len(embedding):,}: "
            "use search='linkage+gentree'"
        )
    return linkage_children(embedding.condensed())


def linkage_children(condensed: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Average linkage of condensed dissimilarities, which are overwritten."""
    import fastcluster

    merges: NDArray[Any] = fastcluster.linkage(condensed, method="average", preserve_input=False)
    return merges[:, 0].astype(np.int32), merges[:, 1].astype(np.int32)
