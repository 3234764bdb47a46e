"""Seconds and memory of one task, measured in a fresh process so that nothing before it counts.

python -m privact.bench.fresh_process METHOD VECTORS.npy
"""

from __future__ import annotations

import contextlib
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def default_search(vectors: NDArray[np.int64]) -> None:
    """Our default search on the exact vectors."""
    from privact.learn.search.learn_tree import learn_tree

    learn_tree(vectors, random_state=0)


def fastcluster_average(vectors: NDArray[np.int64]) -> None:
    """fastcluster's average linkage on the same vectors."""
    import fastcluster

    fastcluster.linkage(vectors.astype(np.float64), method="average", metric="cityblock")


def scipy_average(vectors: NDArray[np.int64]) -> None:
    """SciPy's average linkage on the same vectors."""
    from scipy.cluster.hierarchy import linkage

    linkage(vectors.astype(np.float64), method="average", metric="cityblock")


def privact_fit(vectors: NDArray[np.int64]) -> None:
    """All the aggregator does for one round: posterior of the reports, then the default search."""
    from privact.experiments.running.seeded_trees import denoise
    from privact.learn.search.learn_tree import learn_tree

    learn_tree(denoise(vectors, 1.0), random_state=0)


def posterior(vectors: NDArray[np.int64]) -> None:
    """What the reports say about the true counts, as an embedding."""
    from privact.experiments.running.seeded_trees import denoise

    denoise(vectors, 1.0)


def cost_of_random_tree(vectors: NDArray[np.int64]) -> None:
    """Dasgupta's cost, exact, of a random tree."""
    from privact.query.quality import draw_random_tree
    from privact.tree.cost import dasgupta_cost

    dasgupta_cost(draw_random_tree(len(vectors), np.random.default_rng(0)), vectors)


METHODS: dict[str, Callable[[NDArray[np.int64]], None]] = {
    "default": default_search,
    "fastcluster": fastcluster_average,
    "scipy": scipy_average,
    "posterior+default": privact_fit,
    "posterior": posterior,
    "cost": cost_of_random_tree,
}


def run_alone(method: str, vectors: NDArray[np.int64]) -> dict[str, Any]:
    """Run a method in a fresh process; returns seconds and the memory it took beyond its start, in MB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.npy"
        np.save(path, vectors)
        done = subprocess.run(
            [sys.executable, "-m", "privact.bench.fresh_process", method, str(path)], capture_output=True, text=True, check=True
        )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def time_side_by_side(methods: list[str], vectors: NDArray[np.int64], repeats: int) -> dict[str, list[float]]:
    """Processor seconds of each method, run in turns so that a busy moment of the machine meets them all."""
    for method in methods:
        METHODS[method](vectors[:64])  # compile and import before the clock starts
    seconds: dict[str, list[float]] = {method: [] for method in methods}
    for _ in range(repeats):
        for method in methods:
            begin = time.process_time()
            METHODS[method](vectors)
            seconds[method].append(time.process_time() - begin)
    return seconds


def resident_mb(peak: bool = False) -> float:
    """Memory of this process in MB: now, or at its peak since the peak was last reset."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:  # not Linux: the peak since the start is all there is
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line = re.search(rf"^Vm{'HWM' if peak else 'RSS'}:\s+(\d+)", status, re.MULTILINE)
    return int(line[1]) / 1024 if line else 0.0


def reset_peak() -> None:
    """Let the peak count from now on, where the system can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def main(method: str, path: str) -> None:
    """Measure in this process and print JSON."""
    vectors = np.load(path)
    METHODS[method](vectors[:64])  # compile and import before the clock starts
    reset_peak()
    before = resident_mb()
    begin = time.perf_counter()
    METHODS[method](vectors)
    seconds = time.perf_counter() - begin
    peak = resident_mb(peak=True)
    sys.stdout.write(json.dumps({"seconds": seconds, "peak_mb": peak, "extra_mb": max(0.0, peak - before)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
