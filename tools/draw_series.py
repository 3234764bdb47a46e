"""Draws the pictures of docs/explanation/series.md from simulated series.

    python tools/draw_series.py [FOLDER]      # by default docs/images

series-rounds.png: what the reports of each round say about 400 users in four planted blocks.
series-threshold.png: how well blocks are found, over (d epsilon)^2 / s.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.bench.rounds.refine import plant_blocks
from privact.estimator import PrivaCT

COLOURS = ("#2f6fb0", "#d1762b", "#3a8a55", "#8e5aa8")
"""Of the four blocks; readable on white and to colour-blind readers with the legend's order."""

SIZES = (50, 100, 200)
"""Users of a block in the second picture."""

EPSILONS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
"""Total epsilons in the second picture."""


def main() -> None:
    """Draw both."""
    import matplotlib

    matplotlib.use("agg")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that nothing is seen at small epsilons is what the picture shows
        draw_rounds(folder / "series-rounds.png")
        draw_threshold(folder / "series-threshold.png")


def draw_rounds(path: Path) -> None:
    """Users by the two leading axes of what they reported in each round."""
    import matplotlib.pyplot as plt

    graph, block = plant_blocks(4, 100, 0.2, 0.01, np.random.default_rng(4))
    assert block is not None
    model = PrivaCT(epsilon=6.0, rounds=4, random_state=4).fit(graph)
    figure, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
    for number, (panel, played) in enumerate(zip(axes, model.rounds_, strict=True)):
        points = find_axes(played.reports)
        for each, colour in enumerate(COLOURS):
            chosen = points[block == each]
            panel.scatter(chosen[:, 0], chosen[:, 1], s=7, color=colour, linewidths=0, alpha=0.75, label=f"block {each + 1}")
        panel.set_title(f"round {number + 1}: {played.n_bins} {'random bins' if number == 0 else 'groups as bins'}", fontsize=10)
        panel.set_xticks([])
        panel.set_yticks([])
        panel.set_aspect("equal", "datalim")
    axes[0].set_ylabel("two leading axes of the reports", fontsize=9)
    axes[-1].legend(fontsize=8, markerscale=2, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.savefig(path, dpi=110)
    plt.close(figure)


def find_axes(reports: NDArray[Any]) -> NDArray[np.float64]:
    """(n, 2) the leading principal components of the reports, less what the number of contacts explains."""
    share = reports.sum(axis=0) / reports.sum()
    apart = reports - reports.sum(axis=1, keepdims=True) * share
    left, strength, _ = np.linalg.svd(apart - apart.mean(axis=0), full_matrices=False)
    return np.asarray(left[:, :2] * strength[:2])


def draw_threshold(path: Path) -> None:
    """The agreement of groups with planted blocks, for blocks of several sizes and several epsilons."""
    import matplotlib.pyplot as plt
    from sklearn.metrics import adjusted_rand_score

    figure, panel = plt.subplots(figsize=(7, 3.8), layout="constrained")
    for size, colour in zip(SIZES, COLOURS, strict=False):
        signal, found = [], []
        for epsilon in EPSILONS:
            agreement = []
            for seed in range(3):
                graph, block = plant_blocks(4, size, 20 / size, 1 / size, np.random.default_rng(seed))
                model = PrivaCT(epsilon=epsilon, rounds=4, random_state=seed).fit(graph)
                agreement.append(adjusted_rand_score(block, model.groups_))
            signal.append((23 * epsilon) ** 2 / size)
            found.append(float(np.mean(agreement)))
        panel.plot(signal, found, "o-", color=colour, label=f"4 blocks of {size} users, 23 contacts each")
    panel.set_xscale("log")
    panel.set_xlabel("(d epsilon)² / s: contacts times total epsilon, squared, over users of a community")
    panel.set_ylabel("ARI of groups and blocks")
    panel.set_ylim(-0.03, 1.03)
    panel.grid(alpha=0.25)
    panel.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
