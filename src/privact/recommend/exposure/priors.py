"""How likely a user has come across an item before the rating is seen: by popularity, by degree, or by one's own contacts.

A prior is kept as counts: mu / (1 - mu) = favour / against. With A_i the expected number of users exposed to item i among n,
and S_ui the boosted ones, the update of Wang et al. is

    favour_ui = a - 1 + A_i + (s - 1) S_ui        against_i = b - 1 + n - A_i

It is the maximum of a weighted likelihood: each user's exposure to i is a coin with the same mu_ui; a coin that shows
"exposed" counts s times where S counts it, and once elsewhere; one that shows "not exposed" counts once; and Beta(a, b) adds
a - 1 and b - 1 coins. The three priors differ in S alone:

- `PopularityPrior`: S = 0. Who knows whom plays no part (ExpoMF; "Basic SERec").
- `DegreePrior`: S_ui = (number of contacts of u) * A_i. This is what RecQ computes: it sums over all users before it
  multiplies by the adjacency matrix, so any contacts of the same number give the same model.
- `ContactPrior`: S_ui = sum of exposures to i of u's own contacts, as the paper of Wang et al. describes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.recommend.exposure.exposure_settings import ExposureSettings

Floats = NDArray[np.floating[Any]]
Rows = slice | NDArray[np.integer[Any]]

__all__ = ["ContactPrior", "DegreePrior", "Floats", "PopularityPrior"]


class PopularityPrior:
    """Exposure follows the number of exposed users.

    Counts in favour are kept in parts, favour_ui = base_i + gain_u slope_i + near_ui, of which this prior has the first alone.

    base, slope, against: (n_items,). gain: (n_users,). near: (n_users, n_items), or without columns where it is 0.
    """

    def __init__(self, n_users: int, n_items: int, settings: ExposureSettings, dtype: Any = np.float32) -> None:
        self.settings = settings
        self.base: Floats = np.full(n_items, settings.initial_exposure, dtype)
        self.against: Floats = np.full(n_items, 1.0 - settings.initial_exposure, dtype)
        self.slope: Floats = np.zeros(n_items, dtype)
        self.gain: Floats = np.zeros(n_users, dtype)
        self.near: Floats = np.zeros((n_users, 0), dtype)

    def go_on_from(self, other: PopularityPrior) -> None:
        """Take over the counts by popularity that another prior has learned."""
        self.base[:], self.against[:] = other.base, other.against

    def favour(self, users: Rows, items: slice) -> Floats:
        """(users, items) counts in favour of exposure."""
        found = self.base[items] + np.outer(self.gain[users], self.slope[items])
        return found + self.near[users, items] if self.near.shape[1] else found

    def learn(self, items: slice, exposures: Floats) -> None:
        """Count who is exposed.

        exposures: of all users to some items, (n_users, items); every item comes once in an iteration.
        """
        total = exposures.sum(axis=0, dtype=np.float64)
        self.base[items] = self.settings.exposed - 1.0 + total
        self.against[items] = self.settings.unexposed - 1.0 + len(self.gain) - total


class DegreePrior(PopularityPrior):
    """Exposure follows how many are exposed, times how many contacts one has: RecQ's social term.

    degrees: (n_users,) how many contacts, or how many users in their place.
    """

    def __init__(
        self, n_users: int, n_items: int, settings: ExposureSettings, degrees: NDArray[Any], dtype: Any = np.float32
    ) -> None:
        super().__init__(n_users, n_items, settings, dtype)
        self.gain = ((settings.boost - 1.0) * np.asarray(degrees, np.float64)).astype(dtype)

    def learn(self, items: slice, exposures: Floats) -> None:
        """Count who is exposed."""
        super().learn(items, exposures)
        self.slope[items] = exposures.sum(axis=0, dtype=np.float64)


class ContactPrior(PopularityPrior):
    """Exposure follows how many are exposed, and one's own neighbours count more.

    Its state is one number for each user and distinct item, the only array of that size a model keeps.

    contacts: (n_users, n_users) SciPy CSR; row u holds weight 1 for each contact of u.
    """

    def __init__(self, n_users: int, n_items: int, settings: ExposureSettings, contacts: Any, dtype: Any = np.float32) -> None:
        super().__init__(n_users, n_items, settings, dtype)
        self._contacts = (contacts * (settings.boost - 1.0)).astype(dtype)
        self.near = np.zeros((n_users, n_items), dtype)

    def learn(self, items: slice, exposures: Floats) -> None:
        """Count the exposed users, and the exposed neighbours of each user."""
        super().learn(items, exposures)
        self.near[:, items] = self._contacts @ exposures
