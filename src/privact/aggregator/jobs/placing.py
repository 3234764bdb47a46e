"""Late joiners of a released tree: the reports of its users, by leaf, and of everyone else -> the tree with them as leaves.

The reports of a tree's users stay in a file without a name, of which one part is looked at when a newcomer comes to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privact.aggregator.domain.leaf_reports import fill_gaps, tabulate_by_leaf
from privact.aggregator.domain.release import release_path
from privact.aggregator.domain.round_evidence import clamp_reports, evidence_of, own_labels, stored_reports
from privact.aggregator.jobs.series_learning import gather_users
from privact.aggregator.storage.stored_reports import StoredRound, read_all, read_reports, read_round
from privact.protocol.users import user_digest
from privact.tree.hct import HierarchicalClusterTree

if TYPE_CHECKING:
    from privact.learn.evidence.profile import Evidence
    from privact.learn.place_finder import PlaceFinder
    from privact.learn.scale.population import EmbeddedRows

__all__ = ["PlacedTree", "join_late", "open_placed"]


class _Reported(Protocol):
    """Who reported to what a tree was learned from."""

    def early(self, folder: Path) -> EmbeddedRows:
        """The users of the tree, by leaf; folder: for temporary files."""

    def others(self) -> tuple[list[str], EmbeddedRows | None]:
        """Everyone else who reported, in the order of user digests."""


class PlacedTree:
    """A released tree, ready for late joiners.

    tree: as released. reported: who reported. folder: for temporary files.
    """

    def __init__(self, tree: HierarchicalClusterTree, reported: _Reported, folder: Path) -> None:
        from privact.learn.place_finder import PlaceFinder

        self._tree, self._reported = tree, reported
        self._finder = PlaceFinder(tree, reported.early(folder))

    def join_all(self) -> tuple[int, HierarchicalClusterTree | None]:
        """How many joiners there are by now, and the tree with them, if there are any."""
        joiners, newcomers = self._reported.others()
        return len(joiners), None if newcomers is None else join_late(self._tree, self._finder, newcomers, joiners)


def open_placed(url: str, round_id: str, releases: Path, folder: Path) -> PlacedTree:
    """Read what placing joiners of a released round needs.

    url: of the database. releases: the folder of releases. folder: for temporary files, which have no name.
    """
    tree = HierarchicalClusterTree.load(release_path(releases, round_id), memory_map=True)
    stored = read_round(url, round_id)
    if stored.round.series is not None:
        stored = stored._replace(profile=tree.parameters["profile"])
    evidence = evidence_of(url, stored, releases)
    kind = ReportedRound if stored.round.series is None else ReportedRounds
    return PlacedTree(tree, kind(url, stored, tree, evidence), folder)


def join_late(
    tree: HierarchicalClusterTree, finder: PlaceFinder, late: EmbeddedRows, joiners: Sequence[str]
) -> HierarchicalClusterTree:
    """Add late joiners to a released tree as further leaves; nobody who was in it moves, and nothing is learned again.

    Each joiner is placed by its own report alone, so the result depends on who joined and not on when. Of several who belong
    beside one cluster, those with higher digests stand above the others.

    tree: as released. finder: of its users. late, joiners: the joiners and their ids, in the order of user digests.
    """
    from privact.learn.placement import Placement

    return Placement(tree, finder.find(late), joiners).grafted()


class ReportedRound:
    """The users of a tree of one round, and those who reported late.

    url: of the database. stored: the round. tree: as released. evidence: what the reports of its users say.
    """

    def __init__(self, url: str, stored: StoredRound, tree: HierarchicalClusterTree, evidence: Evidence) -> None:
        self._url, self._stored, self._tree, self._evidence = url, stored, tree, evidence

    def early(self, folder: Path) -> EmbeddedRows:
        """The users of the tree, by leaf."""
        from privact.learn.evidence.profile import RoundReports
        from privact.learn.pipeline import embed_rounds
        from privact.learn.reports.report_table import ReportTable

        stored = self._stored
        table, told = tabulate_by_leaf(self._url, stored, self._tree, folder, late=False)
        fill_gaps(self._tree, table, told)
        own = own_labels(self._url, stored, self._tree.users)
        reports = RoundReports(ReportTable(table, None), stored.round.epsilon_report, stored.round.bins == "random", own)
        return embed_rounds(self._evidence, [reports])

    def others(self) -> tuple[list[str], EmbeddedRows | None]:
        """Everyone who reported late, in the order of user digests."""
        from privact.learn.pipeline import embed_rounds

        joiners, late = read_all(self._url, self._stored.round.id, late=True)
        if not joiners:
            return [], None
        return joiners, embed_rounds(self._evidence, [stored_reports(self._url, self._stored, joiners, late)])


class ReportedRounds:
    """The users of the tree of a series, and everyone else who reported to it.

    url: of the database. newest: the round under which the tree was released. tree: as released.
    evidence: what the reports of its users say.
    """

    def __init__(self, url: str, newest: StoredRound, tree: HierarchicalClusterTree, evidence: Evidence) -> None:
        series = newest.round.series
        assert series is not None
        self._url, self._tree, self._evidence = url, tree, evidence
        self._used = [read_round(url, series.round_id(number)) for number in tree.parameters["series_rounds"]]

    def early(self, folder: Path) -> EmbeddedRows:
        """The users of the tree, by leaf."""
        from privact.learn.reports.report_table import JoinedColumns
        from privact.learn.scale.population import EmbeddedRows

        tables = []
        for stored in self._used:
            table, told = tabulate_by_leaf(self._url, stored, self._tree, folder, late=False)
            fill_gaps(self._tree, table, told)
            tables.append(table)
        return EmbeddedRows(tables[0] if len(tables) == 1 else JoinedColumns(tables), self._evidence.embedder)

    def others(self) -> tuple[list[str], EmbeddedRows | None]:
        """Everyone else who reported to a round of the series, in the order of user digests."""
        from privact.learn.evidence.series.missing_reports import fill_missing
        from privact.learn.evidence.series_profile import SERIES_PROFILE, series_posterior
        from privact.learn.scale.population import EmbeddedRows

        users: list[str] = []
        parts = []
        for some, given in gather_users([self._read_others(stored) for stored in self._used], frozenset()):
            several = self._evidence.profile == SERIES_PROFILE
            filled = fill_missing(series_posterior(self._evidence), given) if several else [np.asarray(given[0])]
            users += some
            parts.append(np.hstack(filled))
        if not users:
            return [], None
        order = sorted(range(len(users)), key=lambda place: user_digest(users[place]))
        return [users[place] for place in order], EmbeddedRows(np.concatenate(parts)[order], self._evidence.embedder)

    def _read_others(self, stored: StoredRound) -> tuple[dict[str, int], NDArray[np.integer[Any]]]:
        """Who reported to a round, in time or late, without being in the tree, and what."""
        assert self._tree.users is not None
        users: list[str] = []
        parts = [np.empty((0, stored.round.n_bins), np.int64)]
        for late in (False, True):
            for some, vectors in read_reports(self._url, stored.round.id, late=late):
                new = np.flatnonzero(self._tree.users.leaves_of(some) < 0)
                users += [some[place] for place in new.tolist()]
                parts.append(clamp_reports(stored, vectors[new]))
        return {user: row for row, user in enumerate(users)}, np.concatenate(parts)
