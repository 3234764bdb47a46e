"""privact learn, for an edge list too large to be a graph in memory: contacts are counted as they are read."""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from privact.cli.learn_reports import Where, where

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from privact.progress import Tell

__all__ = ["is_huge", "learn_streamed"]

_HUGE = 1 << 28  # bytes; a graph takes several times its text in memory
_BLOCK = 1 << 18  # users whose noise is drawn at a time


def is_huge(graph: Path) -> bool:
    """Whether contacts are in an edge list that is better streamed."""
    if not graph.is_file() or Path(graph.name.lower().removesuffix(".gz")).suffix in (".graphml", ".gml", ".mtx"):
        return False
    return graph.stat().st_size > (_HUGE // 8 if graph.name.lower().endswith(".gz") else _HUGE)


def learn_streamed(
    graph: Path,
    output: Path,
    choice: Where,
    tell: Tell,
    *,
    epsilon: float | None,
    bins: int | None,
    denoise: bool,
    search: str,
    sweeps: int | None,
    seed: int | None,
) -> dict[str, Any]:
    """Play every device of an edge list in little memory, learn the tree and write it; returns what to tell about it."""
    from privact.learn.pipeline import learn_reports
    from privact.learn.reports.table import Reports
    from privact.learn.search.learn_tree import generator
    from privact.network.streamed_degrees import stream_degree_vectors
    from privact.protocol.bins import assign_bins
    from privact.protocol.round import check_bins, default_bins, epsilon_per_report
    from privact.tree.users import UserIds

    begin = perf_counter()
    bin_stream, noise_stream, search_stream = generator(seed).spawn(3)
    bins_seed = bin_stream.bytes(16)

    def bins_of(users: Sequence[str]) -> tuple[NDArray[np.integer], int]:
        n_bins = default_bins(len(users)) if bins is None else bins
        return assign_bins(users, bins_seed, check_bins(n_bins, len(users))), n_bins

    with tempfile.TemporaryDirectory(prefix="privact-", dir=choice.scratch) as folder:
        tell("reading contacts", 0, 0)
        found = stream_degree_vectors(graph, Path(folder), bins_of)
        n, n_bins = found.vectors.shape
        per_report = None if epsilon is None else epsilon_per_report(epsilon)
        if per_report is not None:
            tell("adding noise", 0, n)
            _add_noise(found.vectors, per_report, noise_stream)
        users = UserIds.of(found.users)
        with where(choice, n) as engine:
            tree = learn_reports(
                Reports(found.vectors, users),
                per_report if denoise else None,
                search=search,  # type: ignore[arg-type]  # checked by learn_tree
                sweeps=sweeps,
                random_state=search_stream,
                progress=tell,
                engine=engine,
            )
        noisy = {} if epsilon is None else {"epsilon": epsilon, "epsilon_report": per_report}
        shown = {"n_bins": n_bins, "bins": "random", "bins_seed": bins_seed.hex(), "denoise": denoise, "search": search}
        tree.with_parameters({**noisy, **shown}).save(output)
    return {
        "output": str(output),
        "users": n,
        "contacts": found.n_edges,
        "dropped_duplicates": found.dropped_duplicates,
        "dropped_self_loops": found.dropped_self_loops,
        "users_without_label": 0,
        "parameters": {**noisy, **shown},
        "relative_utility": None,
        "seconds": round(perf_counter() - begin, 3),
    }


def _add_noise(vectors: NDArray[np.int32], epsilon_report: float, rng: np.random.Generator) -> None:
    """Turn counts into reports where they are."""
    from privact.simulate.reports import simulated_noise

    for first in range(0, len(vectors), _BLOCK):
        block = vectors[first : first + _BLOCK]
        block += simulated_noise(block.shape, epsilon_report, rng).astype(block.dtype)
