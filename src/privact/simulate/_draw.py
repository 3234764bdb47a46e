"""Drawing in proportion to weight from nested slices, and drawing until enough different ones are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError

__all__ = ["NestedSlices", "draw_distinct"]

_LEAST_YIELD = 0.01  # give up where fewer of the pairs drawn are new ones


class NestedSlices:
    """Members in a line, cut into nested communities; each is drawn in proportion to its weight.

    weight: how likely each member is drawn, relative to the others of the same community.
    levels: how many communities there are on each level, coarsest first; level 0 here is everyone.
    """

    def __init__(self, weight: NDArray[np.float64], levels: Sequence[int]) -> None:
        parts = [1, *levels]
        self._total = np.concatenate(([0.0], np.cumsum(weight)))
        # The first member of every community (and one past the last), level after level in one array.
        self._start = np.concatenate([-(-np.arange(count + 1) * len(weight) // count) for count in parts])
        self._offset = np.cumsum([0, *(count + 1 for count in parts[:-1])])
        self._merged = parts[-1] // np.array(parts)  # finest communities in one community of each level

    def draw(self, level: NDArray[np.int64], community: NDArray[np.int64], points: NDArray[np.float64]) -> NDArray[np.int64]:
        """One member per draw, from the community of a level around a finest community, at a random point in [0, 1).

        Fast where the communities come in ascending order: look-ups then stay close together.
        """
        slot = self._offset[level] + community // self._merged[level]
        low, high = self._start[slot], self._start[slot + 1]
        weight = self._total[low]
        point = weight + points * (self._total[high] - weight)
        drawn = np.searchsorted(self._total, point, side="right") - 1
        return np.asarray(np.clip(drawn, low, high - 1))  # rounding may step over the edge of the slice


def draw_distinct(draw: Callable[[int], NDArray[np.int64]], target: int, what: str) -> NDArray[np.int64]:
    """Draw keys until there are `target` different ones, in ascending order; those of the last batch are thinned evenly."""
    keys = np.empty(0, dtype=np.int64)
    while len(keys) < target:
        missing = target - len(keys)
        count = missing + missing // 4 + 16
        fresh = _unique(draw(count))
        fresh = fresh[~_contains(keys, fresh)]
        if len(fresh) < _LEAST_YIELD * count:
            raise InputError(f"{what} asks for {target} different pairs, more than the communities can hold: ask for fewer")
        if len(fresh) > missing:
            fresh = fresh[np.linspace(0, len(fresh) - 1, missing).astype(np.int64)]
        keys = _unique(np.concatenate((keys, fresh)))
    return keys


def _unique(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    keys = np.sort(keys)
    return keys[np.concatenate(([True], keys[1:] != keys[:-1]))] if len(keys) else keys


def _contains(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of `wanted` are among the ascending `keys`."""
    if len(keys) == 0:
        return np.zeros(len(wanted), dtype=bool)
    return np.asarray(keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] == wanted)
