"""Table 3 as the paper prints it, and what a private recommender is to reach."""

from __future__ import annotations

__all__ = ["PAPER", "TARGETS"]

PAPER: dict[str, dict[str, tuple[float, float]]] = {
    "lastfm": {"itemAvg": (5.33e-4, 2.56e-5), "friendsCF": (0.158, 0.0403), "PrivaCT-CF": (0.0621, 0.00863)},
    "delicious": {"itemAvg": (8.80e-4, 7.18e-5), "friendsCF": (0.0067, 0.0008), "PrivaCT-CF": (9.00e-4, 6.59e-5)},
    "douban": {"itemAvg": (2.00e-4, 1.46e-5), "friendsCF": (0.0749, 0.0187), "PrivaCT-CF": (0.0780, 0.0200)},
}
"""NDCG and MAP of the paper's Table 3."""

TARGETS = {"lastfm": 1.15, "delicious": 1.05, "douban": 1.01}
"""How many times the NDCG of popularity a private recommender should reach at epsilon 1."""
