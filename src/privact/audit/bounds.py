"""One-sided Clopper-Pearson limits of a probability: exact, whatever the probability and the number of trials."""

from __future__ import annotations

__all__ = ["at_least", "at_most"]


def at_least(hits: int, trials: int, alpha: float) -> float:
    """The probability of a hit is at least this, except with probability alpha.

    hits: trials in which it happened.
    trials: independent trials in all.
    alpha: how often the limit may be wrong.
    """
    from scipy.special import betaincinv

    return float(betaincinv(hits, trials - hits + 1, alpha)) if hits else 0.0


def at_most(hits: int, trials: int, alpha: float) -> float:
    """The probability of a hit is at most this, except with probability alpha; arguments as for at_least."""
    from scipy.special import betainccinv

    return float(betainccinv(hits + 1, trials - hits, alpha)) if hits < trials else 1.0
