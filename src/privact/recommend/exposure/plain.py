"""Exposure models as their formulas read, one user and one item at a time: what tests hold the blocks to.

A user u was exposed to item i or not, a_ui ~ Bernoulli(mu_ui). If exposed, the rating is y_ui ~ N(theta_u . beta_i, 1/lambda_y);
if not, y_ui = 0. Factors are normal with precisions lambda_theta and lambda_beta. An iteration:

    p_ui    = 1 where there is a rating, else mu_ui N(0; theta_u . beta_i, 1/lambda_y) / (the same + 1 - mu_ui)
    theta_u = (lambda_y sum_i p_ui beta_i beta_i' + lambda_theta I)^-1 (lambda_y sum_i p_ui y_ui beta_i)
    beta_i  = the same with the roles exchanged, with p computed anew
    mu_ui   = (a - 1 + A_i + (s - 1) S_ui) / (a + b - 2 + n + (s - 1) S_ui), with p computed anew, A_i = sum_v p_vi

Computing p anew before each of the three is an E step before every conditional M step. Without contacts (S = 0) none of them
can lower the posterior density of theta, beta and mu given the ratings; with contacts the last one maximises the weighted
likelihood that `exposure_prior` states, which is not a part of that density.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.recommend.exposure.exposure_settings import ExposureSettings

Matrix = NDArray[np.float64]
Boosted = Callable[[Matrix], Matrix]
"""From all exposures p, (n_users, n_items), to the boosted S of the same shape."""


def ignore_neighbours(exposure: Matrix) -> Matrix:
    """S = 0: no contacts."""
    return np.zeros_like(exposure)


def sum_times_degree(adjacency: Matrix) -> Boosted:
    """RecQ's S: the adjacency matrix times the exposures summed over all users."""

    def boosted(exposure: Matrix) -> Matrix:
        total = np.tile(exposure.sum(axis=0), (len(exposure), 1))
        return np.asarray(adjacency @ total)

    return boosted


def own_contacts(adjacency: Matrix) -> Boosted:
    """S_ui = sum of p_vi over the contacts v of u."""

    def boosted(exposure: Matrix) -> Matrix:
        found = np.zeros_like(exposure)
        for user, contact in zip(*np.nonzero(adjacency), strict=True):
            found[user] += exposure[contact]
        return found

    return boosted


def fit_plainly(
    rated: Matrix, boosted: Boosted, settings: ExposureSettings, users: Matrix, items: Matrix
) -> tuple[Matrix, Matrix, Matrix]:
    """Factors of users and items and the prior mu after the settings' iterations.

    rated: (n, m) 1 where there is a rating. users, items: factors to start from.
    """
    n_users, n_items = rated.shape
    users, items = users.copy(), items.copy()
    mu = np.full(rated.shape, settings.initial_exposure)
    for _ in range(settings.iterations):
        seen = posterior(rated, users, items, mu, settings)
        for u in range(n_users):
            users[u] = _best(seen[u], rated[u], items, settings.user_ridge, settings.precision)
        seen = posterior(rated, users, items, mu, settings)
        for i in range(n_items):
            items[i] = _best(seen[:, i], rated[:, i], users, settings.item_ridge, settings.precision)
        seen = posterior(rated, users, items, mu, settings)
        extra = (settings.boost - 1.0) * boosted(seen)
        a, b = settings.exposed, settings.unexposed
        mu = (a - 1.0 + seen.sum(axis=0) + extra) / (a + b - 2.0 + n_users + extra)
    return users, items, mu


def posterior(rated: Matrix, users: Matrix, items: Matrix, mu: Matrix, settings: ExposureSettings) -> Matrix:
    """(n, m) probability of exposure given the ratings."""
    density = settings.peak * np.exp(-0.5 * settings.precision * (users @ items.T) ** 2)
    return np.where(rated > 0, 1.0, mu * density / (mu * density + 1.0 - mu))


def _best(seen: Any, rated: Any, other: Matrix, ridge: float, precision: float) -> Matrix:
    system = ridge * np.eye(other.shape[1])
    right = np.zeros(other.shape[1])
    for weight, rating, vector in zip(seen, rated, other, strict=True):
        system += precision * weight * np.outer(vector, vector)
        right += precision * weight * rating * vector
    return np.asarray(np.linalg.solve(system, right))
