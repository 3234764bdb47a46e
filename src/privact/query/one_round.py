"""Trees of one round over random bins: they compare users by how many contacts they have, and cannot show communities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["ONE_ROUND", "OneRoundWarning", "is_one_round"]

ONE_ROUND = "one round over random bins sees how many contacts users have, not who they are: use several rounds or public labels"
"""What users of such a tree are told."""


class OneRoundWarning(UserWarning):
    """Communities were asked of a tree that was learned from one round over random bins."""


def is_one_round(parameters: Mapping[str, Any]) -> bool:
    """Whether a tree was learned from one round over random bins.

    parameters: the public parameters of the tree.
    """
    return parameters.get("bins") == "random" and parameters.get("rounds", 1) == 1 and "series" not in parameters
