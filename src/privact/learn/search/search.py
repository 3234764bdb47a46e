"""What a search is: users with points + options -> a tree and its cost along the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.limits import LIMITS, Limits
from privact.learn.scale.population import Population
from privact.learn.scale.task_runner import IN_PROCESS, Engine
from privact.progress import Progress, ignore_progress

__all__ = ["FoundTree", "SearchFunction", "SearchOptions", "Temperature"]

Temperature = float | tuple[float, float] | Sequence[float]


@dataclass(frozen=True)
class SearchOptions:
    """What a caller may choose about a search; each search uses the options that it knows.

    rng: decides every random choice.
    sweeps: the length of the search; None leaves it to the search.
    temperature: of the chain, see `schedule`; None leaves it to the search.
    balance: the floor that every split keeps, see `floor_of`; 0 for none.
    progress: called with the stage, how much is done, and the total.
    engine: where the parts of very many users are learned.
    limits: where the search changes its method as the number of users grows.
    """

    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    sweeps: int | None = None
    temperature: Temperature | None = None
    balance: float = 0.0
    progress: Progress = ignore_progress
    engine: Engine = IN_PROCESS
    limits: Limits = LIMITS


class FoundTree(NamedTuple):
    """Where a search ended.

    left, right: (n-1) children of each internal node n+i.
    costs: Dasgupta's cost of the start and after each sweep or round.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    costs: list[float]


SearchFunction = Callable[[Population, SearchOptions], FoundTree]
"""Finds a tree of at least two users."""
