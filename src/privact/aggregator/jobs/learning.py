"""What a worker process computes: the reports of a round -> its tree, and late reports -> their places in that tree.

All of it is post-processing of reports. The same reports and the same seed give the same bytes, in any process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privact.aggregator.domain.release import public_parameters
from privact.aggregator.domain.round_evidence import own_labels
from privact.aggregator.storage.stored_reports import StoredRound, read_reports
from privact.errors import InputError
from privact.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from privact.learn.pipeline import Learned, LearnSettings
    from privact.learn.reports.report_table import ReportTable
    from privact.learn.scale.population import EmbeddedRows
    from privact.learn.scale.task_runner import Engine
    from privact.tree.hct import HierarchicalClusterTree

__all__ = ["align_reports", "join_late", "learn_stored_round", "read_stored_table"]


def read_stored_table(url: str, stored: StoredRound, path: Path, progress: Progress = ignore_progress) -> ReportTable:
    """Write the reports of a round from the database to a table on disk, clamped to what honest devices send.

    url: of the database. path: the file; it must stay as long as the table is in use.
    """
    from privact.learn.evidence.plausible import clamp_batches
    from privact.learn.reports.report_table import Batch, write_report_table

    def counted() -> Iterator[Batch]:
        read = 0
        for users, vectors in read_reports(url, stored.round.id):
            read += len(users)
            progress("reading reports", read, stored.n_reports)
            yield users, vectors

    return write_report_table(clamp_batches(counted(), stored.round.n_users, stored.round.epsilon_report), path)


def learn_stored_round(
    url: str,
    stored: StoredRound,
    table: ReportTable,
    settings: LearnSettings | None = None,
    *,
    engine: Engine | None = None,
    progress: Progress = ignore_progress,
) -> Learned:
    """Learn the tree of a round.

    url: of the database, which holds the labels of the round. stored: the round.
    table: everyone who reported in time, in the order of user digests, from `read_stored_table`.
    settings: by default the profile and the seed of the round, and the default search.
    """
    from privact.learn.evidence.profile import RoundReports
    from privact.learn.pipeline import LearnSettings, learn_from_reports

    chosen = settings or LearnSettings(stored.profile, random_state=stored.search_seed)
    reports = RoundReports(
        table, stored.round.epsilon_report, stored.round.bins == "random", own_labels(url, stored, table.users)
    )
    parameters = {
        **public_parameters(stored._replace(n_reports=len(table))),
        "profile": chosen.profile,
        "search_seed": chosen.random_state,
    }
    return learn_from_reports(reports, chosen, parameters=parameters, engine=engine, progress=progress)


def align_reports(
    tree: HierarchicalClusterTree, users: Sequence[str], reports: NDArray[np.int32]
) -> tuple[list[str], NDArray[np.int32]]:
    """A report for every leaf of a released tree; a user who was erased gets that of the next user in the tree's own order.

    tree: as released. users, reports: who reported in time and was not erased.
    """
    assert tree.users is not None
    if not users:
        raise InputError("the reports of this round were erased: joiners cannot be placed any more")
    row_of = {user: row for row, user in enumerate(users)}
    names = tree.users.names()
    along = np.array([row_of.get(names[leaf], -1) for leaf in tree.order.tolist()])
    kept = np.flatnonzero(along >= 0)
    nearest = kept[np.minimum(np.searchsorted(kept, np.arange(len(along))), len(kept) - 1)]
    rows = np.empty(len(along), np.int64)
    rows[tree.order] = along[nearest]
    return names, reports[rows]


def join_late(
    tree: HierarchicalClusterTree, early: EmbeddedRows, late: EmbeddedRows, joiners: Sequence[str]
) -> HierarchicalClusterTree:
    """Add late joiners to a released tree as further leaves; nobody who was in it moves, and nothing is learned again.

    Each joiner is placed by its own report alone, so the result depends on who joined and not on when. Of several who belong
    beside one cluster, those with higher digests stand above the others.

    tree: as released. early: its users. late, joiners: the joiners and their ids, in the order of user digests.
    """
    from privact.learn.placement import place

    return place(tree, early.take(np.arange(len(early))), late.take(np.arange(len(late))), joiners).grafted()
