"""What the inference of groups takes on a million users: 4 rounds of 13 bins, reports in files, measured in a fresh process.

    python -m privact.bench.rounds.million USERS

Users are in 13 groups, a third more of which is right in each round; numbers of contacts vary as in social networks. The
reports are drawn into files and read from there block by block, as a server reads them. One core works.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from privact.bench.fresh_process import reset_peak, resident_mb
from privact.learn.evidence.series.group_posterior import infer_groups
from privact.learn.evidence.series.round_bins import infer_next
from privact.learn.evidence.series.series_rounds import SeriesRound
from privact.simulate.reports import simulate_reports

__all__ = ["measure_million"]

ROUNDS, BINS, EPSILON = 4, 13, 4.0
"""Rounds of the series, bins of each round, and the promise per edge over all of them."""

BLOCK = 100_000
"""Users whose reports are drawn at a time."""


def measure_million(n_users: int) -> dict[str, Any]:
    """Infer the bins of a fifth round and the groups of the tree in a fresh process.

    Returns `users`, `groups` found, `seconds`, `processor_seconds`, `peak_mb`.
    """
    done = subprocess.run(
        [sys.executable, "-m", "privact.bench.rounds.million", str(n_users)], capture_output=True, text=True, check=True
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def draw_series(n_users: int, folder: Path, rng: np.random.Generator) -> list[SeriesRound]:
    """Reports of a series in memory-mapped files of a folder."""
    group = rng.integers(0, BINS, n_users)
    contacts = np.minimum(rng.lognormal(3.3, 0.9, n_users), 2_000.0)
    rounds = []
    for number in range(ROUNDS):
        right = number / (ROUNDS - 1)
        bins = np.where(rng.random(n_users) < right, group, rng.integers(0, BINS, n_users))
        profile = 0.5 * right * np.eye(BINS) + (1.0 - 0.5 * right) / BINS
        path = folder / f"{number}.npy"
        table = np.lib.format.open_memmap(path, "w+", np.int32, (n_users, BINS))
        for first in range(0, n_users, BLOCK):
            part = slice(first, first + BLOCK)
            counts = rng.poisson(contacts[part, None] * profile[group[part]])
            table[part] = simulate_reports(counts, EPSILON / ROUNDS, rng)
        table.flush()
        rounds.append(SeriesRound(np.load(path, mmap_mode="r"), bins, EPSILON / ROUNDS / 2.0))
    return rounds


def main(n_users: str) -> None:
    """Measure in this process and print JSON."""
    with tempfile.TemporaryDirectory() as folder:
        rounds = draw_series(int(n_users), Path(folder), np.random.default_rng(0))
        reset_peak()
        begin, work = time.perf_counter(), time.process_time()
        infer_next(rounds).label(rounds)
        known = infer_groups(rounds)
        known.find_likeliest(rounds)
        measured = {
            "users": int(n_users),
            "groups": known.n_groups,
            "seconds": time.perf_counter() - begin,
            "processor_seconds": time.process_time() - work,
            "peak_mb": resident_mb(peak=True),
        }
    sys.stdout.write(json.dumps(measured))


if __name__ == "__main__":
    main(*sys.argv[1:])
