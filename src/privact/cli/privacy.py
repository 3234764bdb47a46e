"""What a tree promises, in words, from its public parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["NO_NOISE", "SIMULATED", "promise"]

SIMULATED = (
    "The noise was simulated here, by one program that sees all contacts: good for research. In a real round each device "
    "adds its own noise before anything leaves it."
)
NO_NOISE = (
    "No promise: this tree was learned from exact counts, without noise. It tells about contacts, so do not release it where "
    "contacts are private."
)


def promise(parameters: Mapping[str, Any]) -> str | None:
    """The privacy sentence of a tree, or None if nothing is known about how it was made.

    parameters: the tree's public parameters. A learned tree tells its search, and if there was noise "epsilon", the promise per
        edge; "round" or "series" is its name, "rounds" says how many share epsilon.
    """
    from privact.errors import ProtocolError
    from privact.protocol.promise import privacy_sentence

    if parameters.get("epsilon") is None:
        return NO_NOISE if "search" in parameters else None
    try:
        name = parameters.get("series", parameters.get("round", "simulation"))
        return privacy_sentence(parameters["epsilon"], name, parameters.get("rounds", 1))
    except ProtocolError:  # a file of another program
        return None
