"""Table 2 as the paper prints it."""

from __future__ import annotations

from typing import Any

__all__ = ["PAPER"]

PAPER: dict[str, dict[str, Any]] = {
    "lastfm": {"relative_utility": 22.82, "loss": {"0.5": 9.57, "1.0": 4.05, "2.0": 1.45}},
    "delicious": {"relative_utility": 12.20, "loss": {"0.5": 10.87, "1.0": 6.61, "2.0": 3.29}},
    "douban": {"relative_utility": 28.83, "loss": {"0.5": 7.09, "1.0": 3.27, "2.0": 1.14}},
}
"""Table 2 of the paper: relative utility of GenTree, and percent of it that PrivaCT loses at each epsilon."""
