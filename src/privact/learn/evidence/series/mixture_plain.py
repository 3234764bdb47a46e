"""The mixture model's two sums as their formulas read, one user at a time: what tests hold _mixture.py to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.mixture import SideBySide
from privact.learn.evidence.series.report_laws import STEP

__all__ = ["plain_log_likelihood", "plain_profile_statistics"]


def plain_log_likelihood(reports: SideBySide, profile: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, G) log-probability of the reports of each user in each group."""
    found = np.zeros((len(reports.contacts), len(profile)))
    for u, contacts in enumerate(reports.contacts):
        for g in range(len(profile)):
            for c, law in enumerate(reports.law_of):
                row, part = _place(contacts * profile[g, c], reports.laws.log_probability.shape[1])
                low, high = reports.laws.log_probability[law, row : row + 2, reports.column[u, c]]
                found[u, g] += low + part * (high - low)
    return found


def plain_profile_statistics(
    reports: SideBySide, profile: NDArray[np.float64], membership: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(G, C) the score and the Fisher information about each entry of the profiles."""
    score, fisher = np.zeros_like(profile), np.zeros_like(profile)
    for u, contacts in enumerate(reports.contacts):
        for g in range(len(profile)):
            if membership[u, g] < 1e-3:
                continue
            for c, law in enumerate(reports.law_of):
                row, part = _place(contacts * profile[g, c], reports.laws.log_probability.shape[1])
                low, high = reports.laws.log_probability[law, row : row + 2, reports.column[u, c]]
                root = max(float(np.sqrt(contacts * profile[g, c])), STEP / 2.0)
                inside = reports.laws.information[law]
                score[g, c] += membership[u, g] * contacts * (high - low) / (2.0 * STEP * root)
                fisher[g, c] += membership[u, g] * contacts**2 * (inside[row] + part * (inside[row + 1] - inside[row]))
    return score, fisher


def _place(rate: float, n_rows: int) -> tuple[int, float]:
    """The row of the table below an expected count, and how far the count is from it to the next row."""
    place = float(np.sqrt(rate)) / STEP - 0.5
    row = min(max(int(place), 0), n_rows - 2)
    return row, min(max(place - row, 0.0), 1.0)
