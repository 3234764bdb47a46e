"""learn_reports: from the reports of a round, however many, to its tree; nothing but the reports is ever held for everybody.

Points are made of reports where they are needed and forgotten again, so memory follows the size of a report (some tens of bytes),
not the size of a point (some hundreds).
"""

from __future__ import annotations

import numpy as np

from privact.errors import InputError
from privact.learn.reports.table import Reports
from privact.learn.scale.engines import Engine
from privact.learn.scale.population import EmbeddedRows, Embedder
from privact.learn.search.learn_tree import Progress, Search, learn_tree
from privact.tree.embedding import Thresholds, thresholds_for
from privact.tree.hct import HierarchicalClusterTree


def learn_reports(
    reports: Reports,
    epsilon_report: float | None,
    *,
    equal_bins: bool = True,
    search: Search = "linkage+gentree",
    sweeps: int | None = None,
    random_state: int | np.random.Generator | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> HierarchicalClusterTree:
    """The tree of a round.

    reports: from `read_reports` of a file, or `gathered` from batches.
    epsilon_report: the privacy parameter of each report (half the promise per edge), to denoise them; None takes them as they
        are.
    equal_bins: bins were drawn at random; False for labels, which hold unequal shares of contacts.
    search, sweeps, random_state, progress, engine: see `learn_tree`.
    """
    if len(reports.matrix) < 2:
        raise InputError(f"{len(reports.matrix)} reports, but a tree needs at least 2: wait for more")
    if progress is not None:
        progress("denoising reports", 0, len(reports.matrix))
    return learn_tree(
        EmbeddedRows(reports.matrix, embedder_of(reports, epsilon_report, equal_bins)),
        search=search,
        sweeps=sweeps,
        random_state=random_state,
        progress=progress,
        users=reports.users,
        engine=engine,
    )


def embedder_of(reports: Reports, epsilon_report: float | None, equal_bins: bool) -> Embedder:
    """What makes points of reports: their posterior, or thresholds where they are taken as they are."""
    if epsilon_report is None:
        return Thresholds.of(reports.matrix, thresholds_for(len(reports.matrix)))
    from privact.learn.evidence.count_posterior import CountPosterior

    return CountPosterior.fit(reports.matrix, epsilon_report, equal_bins=equal_bins)
