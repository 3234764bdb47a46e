"""Placing late joiners: users who enrolled after a round was opened report later and are placed in its released tree.

The release itself never changes. Beside it, in `<data folder>/joined/<round id>.hct`, lies the same tree with the joiners as
further leaves: the server's queries use that one, clusters count joiners too, and every response marks users who joined late.
The file depends only on who joined: not on the order of arrival, nor on restarts, and it can be deleted at any time to be made
again. A worker process computes it from the stored reports, and stays for a while to place those who come next.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Connection, Row, exists, func, select, true

from privact.aggregator.domain.erasure.erased_names import strike_out
from privact.aggregator.domain.release import count_joiners_in, joined_folder, release_path, remove_drafts
from privact.aggregator.domain.series.running_series import count_others
from privact.aggregator.jobs.process import WorkerProcess, Workers
from privact.aggregator.settings import Settings
from privact.aggregator.storage import schema
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.report_counts import joiner_count, report_count
from privact.aggregator.storage.shared_files import fetch_file

__all__ = ["JoinerJobs"]

_STAY: Final = 60.0  # seconds that a process which knows a round's reports stays for further joiners
_PAUSE: Final = 60.0  # seconds before another attempt
_log = logging.getLogger("privact.aggregator.jobs.joiners")


class JoinerJobs:
    """The placing of late joiners, one round at a time.

    store: the database. settings: where trees are. workers: the processes of this server.
    """

    n_threads: Final = 1

    def __init__(self, store: Store, settings: Settings, workers: Workers) -> None:
        self._store = store
        self._releases = settings.releases_folder
        self._joined = joined_folder(settings.releases_folder)
        self._workers = workers
        self._process: WorkerProcess | None = None
        self._loaded_round = ""  # the round whose reports the process has read
        self._last_used = 0.0
        self._stale = False
        self._erased: set[str] = set()
        self._n_placed: dict[str, int] = {}  # how many joiners the joined tree of a round holds
        self._waiting_in_series: dict[str, tuple[tuple[int, int], int]] = {}  # of a released series: reports, and users to place
        self._not_before: dict[str, float] = {}  # when to try again with a round whose process stopped

    @property
    def process(self) -> int | None:
        """The number of the process that places joiners, if one is running."""
        return None if self._process is None else self._process.pid

    def prepare(self) -> None:
        """Make the folder of trees with joiners and remove unfinished ones."""
        self._joined.mkdir(parents=True, exist_ok=True)
        remove_drafts(self._joined)
        self._n_placed.clear()
        self._not_before.clear()

    def waiting(self) -> list[str]:
        """Released rounds with joiners who are not in the tree yet."""
        if self._stale:
            self._stale = False
            self._n_placed.clear()
            self._end_process()
            self._strike_out_erased()
        rounds = schema.rounds
        late = select(schema.reports.c.user).where(schema.reports.c.round_id == rounds.c.id, schema.reports.c.late.is_(true()))
        with_joiners = select(rounds.c.id, joiner_count().label("n_joiners"), rounds.c.digest).where(
            rounds.c.state == "released", rounds.c.series.is_(None), joiner_count() > 0, exists(late)
        )
        with self._store.read() as connection:
            found = [(row.id, row.n_joiners, row.digest) for row in connection.execute(with_joiners).all()]
            found += [
                (row.id, self._count_in_series(connection, row), row.digest)
                for row in connection.execute(select(rounds).where(rounds.c.state == "released", rounds.c.series.is_not(None)))
            ]
        waiting = []
        for round_id, n_joiners, digest in found:
            if round_id not in self._n_placed:
                self._n_placed[round_id] = count_joiners_in(release_path(self._joined, round_id), digest)
            if self._n_placed[round_id] != n_joiners and time.monotonic() >= self._not_before.get(round_id, 0.0):
                waiting.append(round_id)
        return waiting

    def _count_in_series(self, connection: Connection, row: Row[Any]) -> int:
        """How many users reported to a released series without being in its tree; counted again when there are other reports."""
        rounds, totals = schema.rounds, select(func.sum(report_count()), func.sum(joiner_count()))
        n_reports, n_joiners = connection.execute(totals.where(rounds.c.series == row.series)).one()
        known = self._waiting_in_series.get(row.id)
        if known is None or known[0] != (n_reports, n_joiners):
            known = (n_reports, n_joiners), count_others(connection, row)
            self._waiting_in_series[row.id] = known
        return known[1]

    def forget_users(self, names: Iterable[str]) -> None:
        """Let nothing that was read before be used again: these users were erased, and files were written again."""
        self._erased.update(names)
        self._stale = True

    def _strike_out_erased(self) -> None:
        """Remove erased users from trees that a process, which had read the older files, wrote after they were erased."""
        names = {self._erased.pop() for _ in range(len(self._erased))}
        for path in self._joined.glob("*.hct") if names else ():
            strike_out(path, names)

    def run(self, round_id: str) -> None:
        """Let a process write the joined tree of one round."""
        fetch_file(self._store, self._releases.parent, release_path(self._releases, round_id))  # if another server learned it
        try:
            self._place(round_id)
        except BaseException:
            self._end_process()
            raise

    def rest(self) -> None:
        """End a process that nobody needed for a while."""
        if self._process is not None and time.monotonic() - self._last_used > _STAY:
            self._end_process()

    def finish(self) -> None:
        """End the process."""
        self._end_process()

    def _place(self, round_id: str) -> None:
        if self._process is not None and self._loaded_round == round_id:
            self._process.send({})
        else:
            self._end_process()
            self._process, self._loaded_round = self._workers.start(self._order(round_id)), round_id
        ending = ""
        for result in self._process.results():
            if "joined" in result:
                self._last_used = time.monotonic()
                self._n_placed[round_id] = result["joined"]
                _log.info("placed late joiners", extra={"round": round_id, "joiners": result["joined"]})
                return
            ending = str(result.get("waiting") or result.get("error"))
        ending = ending or self._process.wait_for_end()
        self._end_process()
        if not self._workers.closing.is_set():
            self._not_before[round_id] = time.monotonic() + _PAUSE
            _log.warning("a process that places joiners stopped", extra={"round": round_id, "ending": ending})

    def _order(self, round_id: str) -> dict[str, str]:
        return {
            "task": "place",
            "url": self._store.url.render_as_string(hide_password=False),
            "round": round_id,
            "folder": str(self._releases),
            "joined": str(self._joined),
        }

    def _end_process(self) -> None:
        process, self._process, self._loaded_round = self._process, None, ""
        if process is not None:
            self._workers.end(process)
            remove_drafts(self._joined)
