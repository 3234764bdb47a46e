"""What a worker process learns: the reports of a round -> its tree.

All of it is post-processing of reports. The same reports and the same seed give the same bytes, in any process.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from privact.aggregator.domain.release import public_parameters
from privact.aggregator.domain.round_evidence import own_labels
from privact.aggregator.storage.stored_reports import StoredRound, read_reports
from privact.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from privact.learn.pipeline import Learned, LearnSettings
    from privact.learn.reports.report_table import ReportTable
    from privact.learn.scale.task_runner import Engine

__all__ = ["learn_stored_round", "read_stored_table"]


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
