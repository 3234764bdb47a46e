"""Supervisor: the one place that runs work beside the server: learning rounds, placing late joiners, converting trees, fetching
what other servers made.

Each kind of work says which rounds or files wait and how one of them is done; threads, waking, polling and stopping are the
same for all. What takes long runs in worker processes, which end when the server does.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from privact.aggregator.jobs.conversions import Conversions
from privact.aggregator.jobs.file_jobs import FileJobs
from privact.aggregator.jobs.joiner_jobs import JoinerJobs
from privact.aggregator.jobs.learning_jobs import LearningJobs
from privact.aggregator.jobs.process import Workers
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store

__all__ = ["Jobs", "Supervisor"]

_POLL: Final = 5.0  # seconds after which the database is asked for work without being told of any
_log = logging.getLogger("privact.aggregator.jobs")


class Jobs(Protocol):
    """One kind of work.

    n_threads: how many rounds are worked on at once.
    """

    @property
    def n_threads(self) -> int:
        """How many rounds are worked on at once."""

    def prepare(self) -> None:
        """Make folders and remove what an earlier server left unfinished."""

    def waiting(self) -> list[str]:
        """Ids of the rounds that wait for this work, the most urgent first."""

    def run(self, round_id: str) -> None:
        """Do the work of one round, to its end or until the server stops."""

    def rest(self) -> None:
        """Nothing waits: let go of what is kept for the next round, if it was kept long enough."""

    def finish(self) -> None:
        """Every thread has ended: clean up."""


class Supervisor:
    """The work of one server.

    store: the database; each worker process opens its own connection.
    settings: where trees are, how many rounds are learned at once, how many reports a round needs.
    now: the clock, UTC seconds, by which rounds of a series are opened.
    """

    def __init__(self, store: Store, settings: Settings, now: Callable[[], float] = time.time) -> None:
        self._workers = Workers()
        self.learning: Final = LearningJobs(store, settings, self._workers, now)
        self.joiners: Final = JoinerJobs(store, settings, self._workers)
        self.files: Final = FileJobs(store, settings, self.forget_users)
        self.conversions: Final = Conversions(settings.data_folder / "downloads", self._workers)
        self._threads: list[threading.Thread] = []
        self._news = threading.Condition()
        self._n_wakes = 0
        self._taken: set[tuple[Jobs, str]] = set()

    def start(self) -> None:
        """Begin; rounds that were closed or half learned when the server last stopped are taken up first."""
        self._workers.open()
        kinds: tuple[Jobs, ...] = (self.files, self.learning, self.joiners)
        for jobs in kinds:
            jobs.prepare()
        self._threads = [
            threading.Thread(target=self._work, args=(jobs,), name=f"{type(jobs).__name__}-{number}", daemon=True)
            for jobs in kinds
            for number in range(jobs.n_threads)
        ]
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Look for work now: a round was closed, or a late report was accepted."""
        with self._news:
            self._n_wakes += 1
            self._news.notify_all()

    def forget_users(self, names: Iterable[str]) -> None:
        """Read reports again before joiners are placed next, because these users were erased, or all reports of old rounds."""
        self.joiners.forget_users(names)
        self.wake()

    def stop(self) -> None:
        """End every worker process at once and wait until they are gone; unfinished rounds are taken up at the next start."""
        self._workers.close()
        self.wake()
        for thread in self._threads:
            thread.join()
        self._threads = []
        self.learning.finish()
        self.joiners.finish()

    def _work(self, jobs: Jobs) -> None:
        """What each thread does: one round after the other, for as long as the server runs."""
        while not self._workers.closing.is_set():
            n_wakes = self._n_wakes
            round_id = self._take(jobs)
            if round_id is None:
                jobs.rest()
                with self._news:
                    self._news.wait_for(lambda: self._n_wakes != n_wakes or self._workers.closing.is_set(), _POLL)  # noqa: B023
                continue
            try:
                jobs.run(round_id)
            except Exception:
                _log.exception("work on a round stopped unexpectedly", extra={"round": round_id})
                self._workers.closing.wait(_POLL)
            finally:
                with self._news:
                    self._taken.discard((jobs, round_id))

    def _take(self, jobs: Jobs) -> str | None:
        """A round that waits and that no other thread works on, marked as taken by this one."""
        try:
            waiting = jobs.waiting()
        except Exception:
            _log.exception("cannot ask the database for work")
            return None
        with self._news:
            for round_id in waiting:
                if (jobs, round_id) not in self._taken:
                    self._taken.add((jobs, round_id))
                    return round_id
        return None
