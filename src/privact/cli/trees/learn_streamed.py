"""privact learn, for an edge list too large to be a graph in memory: contacts are counted as they are read."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from privact.cli.files import read_labels
from privact.cli.trees.learn_options import EngineChoice, open_chosen_engine
from privact.learn.limits import LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from privact.learn.pipeline import Learned, LearnSettings
    from privact.network.streamed_degrees import StreamedDegrees
    from privact.progress import Progress

__all__ = ["choose_streaming", "learn_streamed"]


def choose_streaming(graph: Path, wanted: bool | None) -> bool:
    """Whether contacts are counted in little memory: as a person wants, or by default where they are in a large edge list."""
    if wanted is not None:
        return wanted
    if not graph.is_file() or Path(graph.name.lower().removesuffix(".gz")).suffix in (".graphml", ".gml", ".mtx"):
        return False
    packed = graph.name.lower().endswith(".gz")
    return graph.stat().st_size * (8 if packed else 1) > LIMITS.streamed_bytes


@dataclass(frozen=True, eq=False)
class Streamed:
    """What was learned from an edge list.

    learned: the tree and the evidence. contacts: what was counted. users_without_label: counted in no bin.
    """

    learned: Learned
    contacts: StreamedDegrees
    users_without_label: int


def learn_streamed(
    graph: Path,
    labels: Path | None,
    epsilon: float | None,
    bins: int | None,
    settings: LearnSettings,
    choice: EngineChoice,
    progress: Progress,
) -> Streamed:
    """Play every device of an edge list in little memory and learn the tree.

    labels: public labels as bins; None for random bins. epsilon: the promise per contact; None for no noise.
    settings: the random_state also draws the bins and the noise.
    """
    from privact.learn.evidence.profile import RoundReports
    from privact.learn.pipeline import learn_from_reports
    from privact.learn.reports.report_table import ReportTable
    from privact.learn.search.learn_tree import generator
    from privact.network.streamed_degrees import stream_degree_vectors
    from privact.protocol.bins import assign_bins
    from privact.protocol.label_files import number_labels
    from privact.protocol.promise import public_parameters
    from privact.protocol.round import check_bins, default_bins, epsilon_per_report
    from privact.tree.user_ids import UserIds

    bin_stream, noise_stream, search_stream = generator(settings.random_state).spawn(3)
    bins_seed = bin_stream.bytes(16) if labels is None else None

    def bins_of(users: Sequence[str]) -> tuple[NDArray[np.integer], int]:
        import numpy as np

        if bins_seed is None:
            assert labels is not None
            numbers, n_labels = number_labels(read_labels(labels, users))
            return np.array(numbers, np.int32), n_labels
        n_bins = check_bins(default_bins(len(users)) if bins is None else bins, len(users))
        return assign_bins(users, bins_seed, n_bins), n_bins

    with tempfile.TemporaryDirectory(prefix="privact-", dir=choice.scratch) as folder:
        progress("reading contacts", 0, 0)
        found = stream_degree_vectors(graph, Path(folder), bins_of)
        n, n_bins = found.vectors.shape
        per_report = None if epsilon is None else epsilon_per_report(epsilon)
        if per_report is not None:
            progress("adding noise", 0, n)
            _add_noise(found.vectors, per_report, noise_stream)
        table = ReportTable(found.vectors, UserIds(found.users.packed))
        with open_chosen_engine(choice, n) as engine:
            learned = learn_from_reports(
                RoundReports(table, per_report, labels is None, None if labels is None else found.bins),
                replace(settings, random_state=search_stream),
                parameters=public_parameters(epsilon, n_bins, labels is None, bins_seed),
                engine=engine,
                progress=progress,
            )
    return Streamed(learned, found, 0 if labels is None else int((found.bins < 0).sum()))


def _add_noise(vectors: NDArray[np.int32], epsilon_report: float, rng: np.random.Generator, limits: Limits = LIMITS) -> None:
    """Turn counts into reports where they are."""
    from privact.simulate.reports import simulated_noise

    for first in range(0, len(vectors), limits.noisy):
        block = vectors[first : first + limits.noisy]
        block += simulated_noise(block.shape, epsilon_report, rng).astype(block.dtype)
