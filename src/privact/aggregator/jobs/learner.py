"""Learner: closed rounds are learned in worker processes and released, whatever happens to the processes or to the server.

A round is learned again from the beginning if its process dies or the server stops in the middle, and ends in the same bytes:
the reports are in the database, the seed of the search is in the round. Nothing of an unfinished attempt is left.
"""

from __future__ import annotations

import logging
import threading
from typing import Any, Final

from sqlalchemy import false, func, select, update

from privact.aggregator.domain.release import fail_round, record_release, remove_drafts
from privact.aggregator.domain.rounds import advance
from privact.aggregator.jobs.joiners import JoinerPlacer
from privact.aggregator.jobs.process import WorkerProcess
from privact.aggregator.settings import Settings
from privact.aggregator.storage import schema
from privact.aggregator.storage.database import Store

__all__ = ["ATTEMPTS", "Learner"]

_POLL: Final = 5.0  # seconds after which the database is asked for closed rounds without being told of one
_PAUSES: Final = (1.0, 10.0)  # seconds before another attempt
ATTEMPTS: Final = 1 + len(_PAUSES)
"""How often a round is tried whose process dies, before it is failed."""
_WAITS: Final = 30.0  # seconds until disk or database may have been put in order
_log = logging.getLogger("privact.aggregator.jobs.learner")


class Learner:
    """Learns closed rounds in the background, `settings.learn_workers` at once, and places late joiners of released ones.

    store: the database; each worker process opens its own connection.
    settings: where releases go, and how many reports a round needs.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._placer = JoinerPlacer(store, settings)
        self._threads: list[threading.Thread] = []
        self._stopping = threading.Event()
        self._news = threading.Condition()
        self._waked = 0
        self._taken: dict[str, WorkerProcess | None] = {}  # rounds being learned here, and their processes

    def start(self) -> None:
        """Begin; rounds that were closed or half learned when the server last stopped are taken up first."""
        self._settings.releases_folder.mkdir(parents=True, exist_ok=True)
        remove_drafts(self._settings.releases_folder)
        self._stopping.clear()
        self._threads = [
            threading.Thread(target=self._run, name=f"learner-{i}", daemon=True) for i in range(self._settings.learn_workers)
        ]
        for thread in self._threads:
            thread.start()
        self._placer.start()

    def wake(self) -> None:
        """Look for work now: a round was closed, or a late report was accepted."""
        with self._news:
            self._waked += 1
            self._news.notify_all()
        self._placer.wake()

    def stop(self) -> None:
        """End every worker process at once and wait until they are gone; rounds in the middle are learned at the next start."""
        self._stopping.set()
        with self._news:
            self._news.notify_all()
            for process in self._taken.values():
                if process is not None:
                    process.kill()
        self._placer.stop()
        for thread in self._threads:
            thread.join()
        self._threads = []
        remove_drafts(self._settings.releases_folder)

    @property
    def processes(self) -> dict[str, int]:
        """The rounds that are being learned, and the number of the process that does it."""
        with self._news:
            return {name: process.pid for name, process in self._taken.items() if process is not None}

    def _run(self) -> None:
        while not self._stopping.is_set():
            waked = self._waked
            round_id = self._next()
            if round_id is None:
                with self._news:
                    self._news.wait_for(lambda: self._waked != waked or self._stopping.is_set(), _POLL)  # noqa: B023
                continue
            try:
                self._learn(round_id)
            except Exception:
                _log.exception("learning a round stopped unexpectedly", extra={"round": round_id})
                self._stopping.wait(_POLL)
            finally:
                with self._news:
                    self._taken.pop(round_id, None)

    def _next(self) -> str | None:
        """A round that waits to be learned, marked as taken by this thread."""
        rounds = schema.rounds
        waiting = select(rounds.c.id).where(rounds.c.state.in_(("closed", "learning"))).order_by(rounds.c.closed, rounds.c.id)
        try:
            with self._store.read() as connection:
                found = list(connection.execute(waiting).scalars())
        except Exception:
            _log.exception("cannot ask the database for closed rounds")
            return None
        with self._news:
            for round_id in found:
                if round_id not in self._taken:
                    self._taken[round_id] = None
                    return str(round_id)
        return None

    def _learn(self, round_id: str) -> None:
        """Learn one round to its end: released, failed, or left as it is because the server stops."""
        n_reports = self._count(round_id)
        if n_reports < self._settings.minimum_users:
            self._fail(round_id, f"{n_reports} reports are fewer than the {self._settings.minimum_users} that a round needs")
            return
        beginning = {"stage": "starting", "done": 0, "total": n_reports}
        with self._store.write() as connection:
            taken = advance(connection, round_id, "closed", "learning", **beginning)
        if not taken:  # it was being learned when the server last stopped
            self._tell(round_id, beginning)
        ending = ""
        for attempt, pause in enumerate((0.0, *_PAUSES), 1):
            if self._stopping.wait(pause):
                return
            _log.info("learning a round", extra={"round": round_id, "attempt": attempt, "reports": n_reports})
            ending, settled = self._attempt(round_id)
            if settled or self._stopping.is_set():
                return
            _log.warning("a learning process stopped", extra={"round": round_id, "attempt": attempt, "ending": ending})
        self._fail(round_id, f"the learning process stopped {ATTEMPTS} times, at last {ending}: see the server's log")

    def _attempt(self, round_id: str) -> tuple[str, bool]:
        """One process. Returns how it ended, and whether nothing is left to do about this round for now."""
        order = {
            "task": "learn",
            "url": self._store.url.render_as_string(hide_password=False),
            "round": round_id,
            "folder": str(self._settings.releases_folder),
        }
        process = WorkerProcess(order)
        try:
            with self._news:
                self._taken[round_id] = process
                if self._stopping.is_set():
                    process.kill()
            ending = ""
            for answer in process.answers():
                if "stage" in answer:
                    self._tell(round_id, answer)
                elif "released" in answer:
                    return "", self._release(round_id, answer)
                elif "refused" in answer:
                    self._fail(round_id, answer["refused"])
                    return "", True
                elif "waiting" in answer:
                    _log.error("a round cannot be learned yet", extra={"round": round_id, "reason": answer["waiting"]})
                    self._tell(round_id, {"stage": "waiting to try again", "done": 0, "total": 0})
                    self._stopping.wait(_WAITS)
                    return "", True
                elif "error" in answer:
                    ending = f"with {answer['error']}"
            return ending or process.ending(), False
        finally:
            with self._news:
                self._taken[round_id] = None
            process.close()
            if not self.processes:  # else a draft may be one that another process is writing
                remove_drafts(self._settings.releases_folder)

    def _release(self, round_id: str, answer: dict[str, Any]) -> bool:
        if record_release(self._store, round_id, bytes.fromhex(answer["released"]), answer["n_users"]):
            _log.info("released a round", extra={"round": round_id, "users": answer["n_users"]})
        return True

    def _fail(self, round_id: str, reason: str) -> None:
        if fail_round(self._store, round_id, reason):
            _log.warning("a round failed", extra={"round": round_id, "reason": reason})

    def _count(self, round_id: str) -> int:
        """How many reports came in time."""
        reports = schema.reports
        rows = select(func.count()).select_from(reports).where(reports.c.round_id == round_id, reports.c.late.is_(false()))
        with self._store.read() as connection:
            return int(connection.execute(rows).scalar_one())

    def _tell(self, round_id: str, progress: dict[str, Any]) -> None:
        """Write down how far a round has come: stage, done and total."""
        rounds = schema.rounds
        with self._store.write() as connection:
            learning = update(rounds).where(rounds.c.id == round_id, rounds.c.state == "learning")
            connection.execute(learning.values(**progress))
