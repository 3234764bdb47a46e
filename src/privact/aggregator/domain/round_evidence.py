"""What the reports of a released round say about the counts: fitted once, when the round is learned, and kept.

`<data folder>/evidence/<round id>.json` holds what was estimated from all reports together, and no single report. Late
joiners are placed and items recommended with it. Where it is missing, it is fitted again from the stored reports.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privact.aggregator.domain.release import evidence_path
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import label_tables
from privact.aggregator.storage.stored_reports import StoredRound, read_reports
from privact.errors import PrivaCTError
from privact.ids import UserId
from privact.protocol.bins import assign_bins
from privact.protocol.labels import LabelTable

if TYPE_CHECKING:
    from privact.learn.evidence.profile import Evidence, RoundReports

__all__ = ["clamp_reports", "evidence_of", "own_bins", "own_labels", "stored_reports"]


def evidence_of(url: str, stored: StoredRound, releases: Path) -> Evidence:
    """The evidence of a round: read where it was kept, else fitted again.

    url: of the database. releases: the folder of releases.
    """
    from privact.learn.evidence.evidence_file import read_evidence
    from privact.learn.evidence.plausible import clamp_batches
    from privact.learn.evidence.profile import RoundReports
    from privact.learn.pipeline import fit_evidence
    from privact.learn.reports.report_table import write_report_table

    try:
        kept = read_evidence(evidence_path(releases, stored.round.id))
        if kept.profile == stored.profile:
            return kept
    except PrivaCTError:  # released by an earlier version, or damaged
        pass
    with tempfile.TemporaryDirectory(dir=releases.parent) as folder:
        batches = clamp_batches(read_reports(url, stored.round.id), stored.round.n_users, stored.round.epsilon_report)
        table = write_report_table(batches, Path(folder) / "reports")
        labels = own_labels(url, stored, table.users)
        reports = RoundReports(table, stored.round.epsilon_report, stored.round.bins == "random", labels)
        return fit_evidence(reports, stored.profile)


def stored_reports(url: str, stored: StoredRound, users: Sequence[str], reports: NDArray[np.int32]) -> RoundReports:
    """Reports of a round in memory, clamped, and how they were made."""
    from privact.learn.evidence.profile import RoundReports
    from privact.learn.reports.report_table import ReportTable

    table = ReportTable(clamp_reports(stored, reports), users)
    return RoundReports(table, stored.round.epsilon_report, stored.round.bins == "random", own_labels(url, stored, users))


def clamp_reports(stored: StoredRound, reports: NDArray[np.int32]) -> NDArray[np.int64]:
    """Clamp reports to what an honest device could have sent."""
    from privact.learn.evidence.plausible import plausible_counts

    return plausible_counts(reports, stored.round.n_users, stored.round.epsilon_report)


def own_bins(url: str, stored: StoredRound, users: Sequence[str]) -> NDArray[np.integer[Any]]:
    """The public bin of each user, -1 for none, whatever the bins are; arguments as for `own_labels`."""
    labels = own_labels(url, stored, users)
    return assign_bins(users, stored.round.seed, stored.round.n_bins) if labels is None else labels


def own_labels(url: str, stored: StoredRound, users: Sequence[UserId] | None) -> NDArray[np.integer[Any]] | None:
    """The public label of each user, -1 for none; None where bins are random.

    url: of the database. users: their ids, as the round spells them.
    """
    if stored.round.bins != "labels" or users is None:
        return None
    with closing(Store(url)) as store, store.read() as connection:
        query = label_tables.select().where(label_tables.c.round_id == stored.round.id)
        table = LabelTable.from_bytes(connection.execute(query).one().bytes)  # users erased since may be missing
    return table.labels_of(map(str, users))
