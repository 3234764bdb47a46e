"""What every tree learner is given: users as an embedding, or as vectors whose dissimilarity is their L1 distance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from privact.errors import InputError
from privact.tree.embedding import Embedding, Thresholds, as_vectors, thresholds_for


def points_of(users: Embedding | ArrayLike) -> Embedding:
    """The embedding of at least two users, or InputError.

    users: an `Embedding`, or (n, K) degree vectors.
    """
    if not isinstance(users, Embedding):
        vectors = as_vectors(users)
        return Thresholds.of(vectors, thresholds_for(len(vectors))).embed(vectors)
    if len(users) < 2:
        raise InputError(f"{len(users)} users, but at least 2 are needed: give more points")
    if not np.isfinite(users.points).all():
        row = int(np.flatnonzero(~np.isfinite(users.points).all(axis=1))[0])
        raise InputError(f"the point of user {row} holds NaN or infinity: give finite points")
    return users
