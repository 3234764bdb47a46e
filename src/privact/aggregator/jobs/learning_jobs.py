"""Learning closed rounds: each is learned in a worker process and released, whatever happens to the process or the server.

A round is learned again from the beginning if its process dies or the server stops in the middle, and ends in the same bytes:
the reports are in the database, the seed of the search is in the round. Nothing of an unfinished attempt is left.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from sqlalchemy import false, func, select, update

from privact.aggregator.domain.release import fail_round, record_release, remove_drafts
from privact.aggregator.domain.rounds import advance
from privact.aggregator.jobs.process import WorkerProcess, Workers
from privact.aggregator.settings import Settings
from privact.aggregator.storage import schema
from privact.aggregator.storage.database import Store

__all__ = ["ATTEMPTS", "LearningJobs"]

_PAUSES: Final = (1.0, 10.0)  # seconds before another attempt
ATTEMPTS: Final = 1 + len(_PAUSES)
"""How often a round is tried whose process dies, before it is failed."""
_RETRY: Final = 30.0  # seconds until disk or database may have been put in order
_log = logging.getLogger("privact.aggregator.jobs.learning")


class LearningJobs:
    """The learning of closed rounds.

    store: the database. settings: where releases go, how many reports a round needs. workers: the processes of this server.
    """

    def __init__(self, store: Store, settings: Settings, workers: Workers) -> None:
        self._store = store
        self._settings = settings
        self._workers = workers
        self._processes: dict[str, WorkerProcess] = {}
        self.n_threads: Final = settings.learn_workers

    @property
    def processes(self) -> dict[str, int]:
        """The rounds that are being learned here, and the number of the process that does it."""
        return {round_id: process.pid for round_id, process in list(self._processes.items())}

    def prepare(self) -> None:
        """Make the folder of releases and remove unfinished ones."""
        self._settings.releases_folder.mkdir(parents=True, exist_ok=True)
        remove_drafts(self._settings.releases_folder)

    def waiting(self) -> list[str]:
        """Rounds that are closed, or that a server left half learned; the longest closed first."""
        rounds = schema.rounds
        wanted = select(rounds.c.id).where(rounds.c.state.in_(("closed", "learning"))).order_by(rounds.c.closed, rounds.c.id)
        with self._store.read() as connection:
            return list(connection.execute(wanted).scalars())

    def run(self, round_id: str) -> None:
        """Learn one round to its end: released, failed, or left as it is because the server stops."""
        n_reports = self._count_reports(round_id)
        if n_reports < self._settings.minimum_users:
            self._fail(round_id, f"{n_reports} reports are fewer than the {self._settings.minimum_users} that a round needs")
            return
        beginning = {"stage": "starting", "done": 0, "total": n_reports}
        with self._store.write() as connection:
            taken = advance(connection, round_id, "closed", "learning", **beginning)
        if not taken:  # it was being learned when the server last stopped
            self._record_progress(round_id, beginning)
        ending = ""
        for attempt, pause in enumerate((0.0, *_PAUSES), 1):
            if self._workers.closing.wait(pause):
                return
            _log.info("learning a round", extra={"round": round_id, "attempt": attempt, "reports": n_reports})
            ending, settled = self._attempt(round_id)
            if settled or self._workers.closing.is_set():
                return
            _log.warning("a learning process stopped", extra={"round": round_id, "attempt": attempt, "ending": ending})
        self._fail(round_id, f"the learning process stopped {ATTEMPTS} times, at last {ending}: see the server's log")

    def rest(self) -> None:
        """Nothing is kept between rounds."""

    def finish(self) -> None:
        """Remove what killed processes were writing."""
        remove_drafts(self._settings.releases_folder)

    def _attempt(self, round_id: str) -> tuple[str, bool]:
        """One process. Returns how it ended, and whether nothing is left to do about this round for now."""
        order = {
            "task": "learn",
            "url": self._store.url.render_as_string(hide_password=False),
            "round": round_id,
            "folder": str(self._settings.releases_folder),
        }
        process = self._processes[round_id] = self._workers.start(order)
        try:
            ending = ""
            for result in process.results():
                if "stage" in result:
                    self._record_progress(round_id, result)
                elif "released" in result:
                    self._release(round_id, result)
                    return "", True
                elif "refused" in result:
                    self._fail(round_id, result["refused"])
                    return "", True
                elif "waiting" in result:
                    _log.error("a round cannot be learned yet", extra={"round": round_id, "reason": result["waiting"]})
                    self._record_progress(round_id, {"stage": "waiting to try again", "done": 0, "total": 0})
                    self._workers.closing.wait(_RETRY)
                    return "", True
                elif "error" in result:
                    ending = f"with {result['error']}"
            return ending or process.wait_for_end(), False
        finally:
            self._workers.end(process)
            del self._processes[round_id]
            if not self._processes:  # else a draft may be one that another process is writing
                remove_drafts(self._settings.releases_folder)

    def _release(self, round_id: str, result: dict[str, Any]) -> None:
        if record_release(self._store, round_id, bytes.fromhex(result["released"]), result["n_users"]):
            _log.info("released a round", extra={"round": round_id, "users": result["n_users"]})

    def _fail(self, round_id: str, reason: str) -> None:
        if fail_round(self._store, round_id, reason):
            _log.warning("a round failed", extra={"round": round_id, "reason": reason})

    def _count_reports(self, round_id: str) -> int:
        """How many reports came in time."""
        reports = schema.reports
        rows = select(func.count()).select_from(reports).where(reports.c.round_id == round_id, reports.c.late.is_(false()))
        with self._store.read() as connection:
            return int(connection.execute(rows).scalar_one())

    def _record_progress(self, round_id: str, progress: dict[str, Any]) -> None:
        """Write down how far a round has come: stage, done and total."""
        rounds = schema.rounds
        with self._store.write() as connection:
            learning = update(rounds).where(rounds.c.id == round_id, rounds.c.state == "learning")
            connection.execute(learning.values(**progress))
