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
_UNKNOWN = "Unknown: the file does not say with which epsilon its reports were made."


def promise(parameters: Mapping[str, Any]) -> str:
    """The privacy sentence of a tree.

    parameters: the tree's public parameters: "epsilon" is the promise per edge, null without noise; "round" names the round.
    """
    from privact.errors import ProtocolError
    from privact.protocol.round import Round

    if parameters.get("denoise") is not None and parameters.get("epsilon") is None:
        return NO_NOISE
    try:  # the sentence follows from the name and epsilon of a round, whatever its bins
        named = Round(
            id=parameters.get("round", "simulation"), epsilon=parameters["epsilon"], n_bins=1, n_users=1, seed=bytes(16)
        )
    except (KeyError, ProtocolError):
        return _UNKNOWN
    return named.privacy_sentence()
