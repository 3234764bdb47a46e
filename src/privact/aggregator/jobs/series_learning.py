"""What a worker process computes for a series: the reports of its rounds so far -> groups, evidence, tree, places of others.

Groups and tree are inferred from users who answered every round. Who answered only some of the rounds, or joins after the
release, gets a group and a place in the tree from the reports that there are. The same reports and the same seed give the same
groups and the same bytes, in any process.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privact.aggregator.domain.release import public_parameters
from privact.aggregator.domain.round_evidence import own_bins
from privact.aggregator.jobs.learning import read_stored_table
from privact.aggregator.storage.stored_reports import StoredRound, read_round
from privact.errors import InputError
from privact.progress import Progress, ignore_progress
from privact.protocol.labels import LabelTable
from privact.protocol.promise import amount

if TYPE_CHECKING:
    from privact.learn.evidence.profile import RoundReports
    from privact.learn.evidence.series.group_posterior import GroupPosterior
    from privact.learn.pipeline import Learned
    from privact.learn.reports.report_table import ReportTable
    from privact.learn.scale.task_runner import Engine

__all__ = ["ReportedSeries", "align_series", "gather_users", "infer_labels", "learn_series", "read_series"]


@dataclass(frozen=True, eq=False)
class ReportedSeries:
    """The reports of the rounds of a series that have enough of them.

    url: of the database. newest: the newest round of the series. used: the rounds that are learned from, in order.
    tables: everyone who reported to each of them, in the order of user digests.
    users: who reported to all of them, in the same order.
    """

    url: str
    newest: StoredRound
    used: list[StoredRound]
    tables: list[ReportTable]
    users: list[str]

    def reports(self) -> list[RoundReports]:
        """The reports of everyone who answered every round, and their public bins."""
        from privact.learn.evidence.profile import RoundReports
        from privact.learn.reports.report_table import ReportTable

        found = []
        for stored, table in zip(self.used, self.tables, strict=True):
            rows = _rows_of(table, self.users)
            whole = len(rows) == len(table)
            matrix = table.matrix if whole else table.matrix[rows]
            bins = own_bins(self.url, stored, self.users)
            random_bins = stored.round.bins == "random"
            found.append(RoundReports(ReportTable(matrix, self.users), stored.round.epsilon_report, random_bins, bins))
        return found

    def others(self) -> Iterator[tuple[list[str], list[NDArray[np.integer[Any]] | None]]]:
        """Everyone else who reported, together with those who answered the same rounds; None for a round without reports."""
        places = [dict(zip(_names(table), range(len(table)), strict=True)) for table in self.tables]
        return gather_users([(place, table.matrix) for place, table in zip(places, self.tables, strict=True)], set(self.users))


def read_series(
    url: str, newest: StoredRound, folder: Path, minimum: int, progress: Progress = ignore_progress
) -> list[tuple[StoredRound, ReportTable]]:
    """Read the reports of the rounds of a series up to the newest, without the rounds that have too few.

    folder: for temporary files, which must stay as long as the result is in use. minimum: fewest reports of a round.
    """
    series = newest.round.series
    assert series is not None
    rounds = [read_round(url, series.round_id(number)) for number in range(1, newest.round.series_number + 1)]
    enough = [stored for stored in rounds if stored.n_reports >= minimum]
    return [(stored, read_stored_table(url, stored, folder / stored.round.id, progress)) for stored in enough]


def align_series(url: str, newest: StoredRound, read: list[tuple[StoredRound, ReportTable]], minimum: int) -> ReportedSeries:
    """The rounds that enough users answered together, and those users.

    read: from `read_series`. minimum: while fewer users answered all rounds, the one with the fewest reports is left out.
    """
    used = list(read)
    while used:
        users = _answered_all([table for _, table in used])
        if len(users) >= minimum:
            return ReportedSeries(url, newest, [stored for stored, _ in used], [table for _, table in used], users)
        used.remove(min(used, key=lambda pair: (len(pair[1]), -pair[0].round.series_number)))
    raise InputError(f"no round before or with {newest.round.id} has the {minimum} reports that learning needs")


def infer_labels(found: ReportedSeries, progress: Progress = ignore_progress) -> tuple[LabelTable, dict[str, Any]]:
    """The groups of everyone who reported to the series, as the label table of the next round, and the evidence so far."""
    from privact.learn.evidence.series.missing_reports import fill_missing
    from privact.learn.evidence.series.round_bins import infer_next
    from privact.learn.evidence.series.series_rounds import SeriesRound
    from privact.learn.evidence.series_profile import as_series

    complete = as_series(found.reports())
    following = infer_next(complete, seed=found.newest.search_seed, progress=progress)
    users, parts = list(found.users), [[np.asarray(each.reports) for each in complete]]
    for some, given in found.others():
        users += some
        parts.append(list(fill_missing(following.posterior, given)))
    columns = [np.concatenate([part[number] for part in parts]) for number in range(len(complete))]
    everybody = [SeriesRound(rows, None, each.epsilon_report) for rows, each in zip(columns, complete, strict=True)]
    labels, n_labels = following.label(everybody)
    label_of = dict(zip(users, labels.tolist(), strict=True))
    return LabelTable.from_labels(label_of, n_labels, key=secrets.token_bytes(16)), describe_evidence(found, following.posterior)


def learn_series(
    found: ReportedSeries, *, engine: Engine | None = None, progress: Progress = ignore_progress
) -> tuple[Learned, dict[str, Any]]:
    """Learn the tree of a series from all its rounds, and what evidence there is for communities."""
    from privact.learn.evidence.profiles import DEFAULT_PROFILE
    from privact.learn.evidence.series_profile import SERIES_PROFILE, as_series, series_posterior
    from privact.learn.pipeline import LearnSettings, learn_from_reports

    reports = found.reports()
    profile = SERIES_PROFILE if len(reports) > 1 else DEFAULT_PROFILE
    series, number = found.newest.round.series, found.newest.round.series_number
    assert series is not None
    parameters = public_parameters(found.newest._replace(n_reports=len(found.users), profile=profile)) | {
        "epsilon": float(amount(found.newest.round.epsilon) * number),
        "rounds": number,
        "series": series.name,
        "series_rounds": [stored.round.series_number for stored in found.used],
    }
    settings = LearnSettings(profile, random_state=found.newest.search_seed)
    learned = learn_from_reports(reports, settings, parameters=parameters, engine=engine, progress=progress)
    if profile == SERIES_PROFILE:
        return learned, describe_evidence(found, series_posterior(learned.evidence))
    from privact.learn.evidence.series.group_posterior import infer_groups

    return learned, describe_evidence(found, infer_groups(as_series(reports), seed=found.newest.search_seed))


def describe_evidence(found: ReportedSeries, posterior: GroupPosterior) -> dict[str, Any]:
    """What a series knows so far, for everybody to read: nothing of it tells one report from another."""
    return {
        "figure": round(float(posterior.evidence), 3),
        "threshold": float(posterior.threshold),
        "sees_communities": bool(posterior.sees_communities),
        "groups": posterior.n_groups if posterior.sees_communities else 1,
        "users": len(found.users),
        "rounds": [stored.round.series_number for stored in found.used],
    }


def gather_users(
    rounds: Sequence[tuple[Mapping[str, int], NDArray[np.integer[Any]]]], known: Set[Any]
) -> Iterator[tuple[list[str], list[NDArray[np.integer[Any]] | None]]]:
    """Users who are not known yet, together with those who answered the same rounds, and their reports to each round.

    rounds: of each the row of every user who answered it, and the reports.
    """
    alike: dict[tuple[bool, ...], list[str]] = {}
    for user in dict.fromkeys(user for place, _ in rounds for user in place if user not in known):
        alike.setdefault(tuple(user in place for place, _ in rounds), []).append(user)
    for pattern, users in alike.items():
        pairs = zip(pattern, rounds, strict=True)
        yield users, [matrix[[place[user] for user in users]] if answered else None for answered, (place, matrix) in pairs]


def _names(table: ReportTable) -> list[str]:
    assert table.users is not None
    return list(map(str, table.users))


def _answered_all(tables: Sequence[ReportTable]) -> list[str]:
    """Who is in every table, in the order of the first."""
    others = [set(_names(table)) for table in tables[1:]]
    return [user for user in _names(tables[0]) if all(user in other for other in others)]


def _rows_of(table: ReportTable, users: Sequence[str]) -> NDArray[np.int64]:
    place = {user: row for row, user in enumerate(_names(table))}
    return np.array([place[user] for user in users], np.int64)
