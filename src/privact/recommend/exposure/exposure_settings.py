"""The numbers that decide an exposure model: how ratings scatter, how likely exposure is, how much contacts count."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from privact.errors import InputError

__all__ = ["EXPOMF", "RECQ", "ExposureSettings"]


@dataclass(frozen=True)
class ExposureSettings:
    """What an exposure model assumes before it sees a rating; symbols as in Wang et al. (AAAI 2018).

    factors: length of the vector of a user and of an item.
    iterations: rounds of expectation maximisation.
    exposed, unexposed: a and b of the Beta prior of an exposure probability; at least 1 and above 1.
    boost: s, how often the exposure of a contact counts; 1 for not more than anybody's.
    precision: lambda_y, one over the variance of a rating around the preference of a user who was exposed.
    user_ridge, item_ridge: lambda_theta and lambda_beta, one over the prior variance of a factor.
    initial_spread: standard deviation of the first factors.
    initial_exposure: mu of every user and item at the start.
    density: what the normal density is multiplied by. 1 is the model; pi is what one version of RecQ computes.
    """

    factors: int = 20
    iterations: int = 13
    exposed: float = 1.0
    unexposed: float = 99.0
    boost: float = 2.2
    precision: float = 0.01
    user_ridge: float = 1e-5
    item_ridge: float = 1e-5
    initial_spread: float = 0.5
    initial_exposure: float = 0.01
    density: float = 1.0

    def __post_init__(self) -> None:
        for name, low in (("factors", 1), ("iterations", 0)):
            if getattr(self, name) < low:
                raise InputError(f"{name} is {getattr(self, name)}, but at least {low} is needed")
        for name in ("exposed", "boost"):
            if not 1.0 <= getattr(self, name) < np.inf:
                raise InputError(f"{name} is {getattr(self, name)}; it must be a finite number from 1 on")
        if not 1.0 < self.unexposed < np.inf:
            raise InputError(f"unexposed is {self.unexposed}; choose a number above 1, so that no exposure is certain")
        for name in ("precision", "user_ridge", "item_ridge", "initial_spread", "density"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise InputError(f"{name} is {getattr(self, name)}; it must be a finite number above 0")
        if not 0.0 < self.initial_exposure < 1.0:
            raise InputError(f"initial_exposure is {self.initial_exposure}; a probability between 0 and 1 is needed")

    @property
    def peak(self) -> float:
        """The density of a rating of zero where the preference is zero."""
        return float(self.density * np.sqrt(self.precision / (2.0 * np.pi)))

    def but(self, **changes: Any) -> ExposureSettings:
        """The same settings with some changed."""
        return replace(self, **changes)

    def as_dict(self) -> dict[str, Any]:
        """The settings by name, for files."""
        return asdict(self)


RECQ = ExposureSettings()
"""What RecQ runs SERec with."""

EXPOMF = ExposureSettings(precision=1.0, initial_spread=0.01, boost=1.0)
"""The exposure model without contacts, with the settings of its own paper."""
