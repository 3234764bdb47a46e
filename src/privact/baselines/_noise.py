"""How much the noise of one report spreads."""

from __future__ import annotations

import math


def noise_variance(epsilon_report: float) -> float:
    """Variance of the discrete Laplace law, P(k) proportional to exp(-epsilon_report |k|): 2 a / (1 - a)^2, a = e^-epsilon."""
    return 2.0 * math.exp(-epsilon_report) / math.expm1(-epsilon_report) ** 2
