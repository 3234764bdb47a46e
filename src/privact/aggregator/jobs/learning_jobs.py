"""Learning closed rounds: each is learned in a worker process and released, whatever happens to the process or the server.

Of a round of a series that is not its last, the process infers groups, and the next round is opened with them.

A round is learned again from the beginning if its process dies or the server stops in the middle, and ends in the same bytes:
the reports are in the database, the seed of the search is in the round. Nothing of an unfinished attempt is left. Of several
servers on one database, the one that holds the round's lease learns it (domain/leases.py).
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import false, func, select
from sqlalchemy.exc import SQLAlchemyError

from privact.aggregator.domain.erasure.erased_names import strike_out
from privact.aggregator.domain.erasure.pending_erasures import read_pending
from privact.aggregator.domain.leases import BEAT_SECONDS, LEASE_SECONDS, is_free, prolong_lease, take_lease
from privact.aggregator.domain.release import fail_round, record_release, release_path, remove_drafts, sha256_of
from privact.aggregator.domain.series.running_series import is_last, open_next
from privact.aggregator.domain.signed_rounds import read_signing_key
from privact.aggregator.jobs.process import WorkerProcess, Workers
from privact.aggregator.settings import Settings
from privact.aggregator.storage import schema
from privact.aggregator.storage.database import Store
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round
from privact.storage import write_once

__all__ = ["ATTEMPTS", "LearningJobs", "read_server_name"]

_PAUSES: Final = (1.0, 10.0)  # seconds before another attempt
ATTEMPTS: Final = 1 + len(_PAUSES)
"""How often a round is tried whose process dies, before it is failed."""
_RETRY: Final = 30.0  # seconds until disk or database may have been put in order
_log = logging.getLogger("privact.aggregator.jobs.learning")


class LearningJobs:
    """The learning of closed rounds.

    store: the database. settings: where releases go, how many reports a round needs. workers: the processes of this server.
    now: the clock, UTC seconds.
    """

    def __init__(self, store: Store, settings: Settings, workers: Workers, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._now = now
        self._settings = settings
        self._workers = workers
        self._processes: dict[str, WorkerProcess] = {}
        self._lost: set[str] = set()  # rounds that another server took over while they were learned here
        self._slow: set[str] = set()  # rounds whose process was killed because it took too long
        self._holder = ""
        self.n_threads: Final = settings.learn_workers

    @property
    def processes(self) -> dict[str, int]:
        """The rounds that are being learned here, and the number of the process that does it."""
        return {round_id: process.pid for round_id, process in list(self._processes.items())}

    def prepare(self) -> None:
        """Make the folder of releases and remove unfinished ones; learn by which name this server holds rounds."""
        self._holder = read_server_name(self._settings.data_folder)
        self._settings.releases_folder.mkdir(parents=True, exist_ok=True)
        remove_drafts(self._settings.releases_folder)

    def waiting(self) -> list[str]:
        """Rounds that are closed or that a server left half learned, and that no other server holds; the longest closed first."""
        rounds = schema.rounds
        wanted = select(rounds.c.id).where(rounds.c.state.in_(("closed", "learning"))).order_by(rounds.c.closed, rounds.c.id)
        wanted = wanted.where(rounds.c.evidence.is_(None))  # else the next round of the series was opened
        with self._store.read() as connection:
            now = self._store.seconds(connection)
            return list(connection.execute(wanted.where(is_free(self._holder, now))).scalars())

    def run(self, round_id: str) -> None:
        """Learn one round to its end: released, failed, or left as it is because the server stops."""
        n_reports = self._count_reports(round_id)
        if reason := self._find_shortage(round_id, n_reports):
            self._fail(round_id, reason)
            return
        if reason := self._find_obstacle(round_id):
            self._fail(round_id, reason)
            return
        beginning = {"stage": "starting", "done": 0, "total": n_reports}
        if not take_lease(self._store, round_id, self._holder, **beginning):
            return  # another server was faster
        with self._keep_lease(round_id):
            self._try_repeatedly(round_id, n_reports)

    def _find_shortage(self, round_id: str, n_reports: int) -> str:
        """Why too few have reported; empty if enough have. The last round of a series may be left out of its tree."""
        if n_reports >= self._settings.minimum_users:
            return ""
        rounds = schema.rounds
        with self._store.read() as connection:
            row = connection.execute(select(rounds.c.series, rounds.c.series_number).where(rounds.c.id == round_id)).one()
        few = f"{n_reports} reports are fewer than the {self._settings.minimum_users} that a round needs"
        if row.series is None or row.series_number == 1:
            return few
        if is_last(self._store, round_id):
            return ""
        return f"{few}: privact series stop {row.series} learns the tree from the rounds before it"

    def _find_obstacle(self, round_id: str) -> str:
        """Why a round is not learned at all; empty if nothing is in the way."""
        rounds = schema.rounds
        with self._store.read() as connection:
            parameters = connection.execute(select(rounds.c.parameters).where(rounds.c.id == round_id)).scalar_one()
        epsilon, least = Round.from_bytes(parameters).epsilon, self._settings.minimum_epsilon
        if epsilon >= least:
            return ""
        return f"epsilon {epsilon:g} is below minimum_epsilon {least:g}: its noise hides everything, open a round with more"

    def _try_repeatedly(self, round_id: str, n_reports: int) -> None:
        ending = ""
        for attempt, pause in enumerate((0.0, *_PAUSES), 1):
            if self._workers.closing.wait(pause):
                return
            _log.info("learning a round", extra={"round": round_id, "attempt": attempt, "reports": n_reports})
            ending, settled = self._attempt(round_id)
            if settled or self._workers.closing.is_set() or round_id in self._lost:
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
            "task": "learn" if is_last(self._store, round_id) else "infer",
            "url": self._store.url.render_as_string(hide_password=False),
            "round": round_id,
            "folder": str(self._settings.releases_folder),
            "minimum": self._settings.minimum_users,
            "cluster": self._settings.learn_cluster,
        }
        process = self._processes[round_id] = self._workers.start(order)
        limit = threading.Timer(self._settings.learn_seconds, self._stop_slow, (round_id, process))
        limit.daemon = True
        limit.start()
        try:
            ending = ""
            for result in process.results():
                if "stage" in result:
                    self._record_progress(round_id, result)
                elif "released" in result:
                    self._release(round_id, result)
                    return "", True
                elif "groups" in result:
                    self._open_next(round_id, result)
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
            if round_id in self._slow:
                way_out = f"raise it, then privact round learn {round_id}"
                self._fail(round_id, f"learning took longer than learn_seconds {self._settings.learn_seconds}: {way_out}")
                return "", True
            return ending or process.wait_for_end(), False
        finally:
            limit.cancel()
            self._slow.discard(round_id)
            self._workers.end(process)
            del self._processes[round_id]
            if not self._processes:  # else a draft may be one that another process is writing
                remove_drafts(self._settings.releases_folder)

    def _stop_slow(self, round_id: str, process: WorkerProcess) -> None:
        self._slow.add(round_id)
        process.kill()

    def _release(self, round_id: str, result: dict[str, Any]) -> None:
        digest, evidence = bytes.fromhex(result["released"]), result.get("evidence")
        digest = self._strike_out_erased(round_id) or digest
        folder = self._settings.releases_folder
        if record_release(self._store, round_id, digest, result["n_users"], self._holder, evidence, folder):
            _log.info("released a round", extra={"round": round_id, "users": result["n_users"]})

    def _strike_out_erased(self, round_id: str) -> bytes | None:
        """Take out of a tree, before it is released, users who were erased while it was learned; the file's new SHA-256."""
        with self._store.read() as connection:
            names = set(read_pending(connection))
        path = release_path(self._settings.releases_folder, round_id)
        return sha256_of(path) if strike_out(path, names) else None

    def _open_next(self, round_id: str, result: dict[str, Any]) -> None:
        """Open the next round of a series, whose bins are the groups that a process has written."""
        path = Path(result["groups"])
        table = LabelTable.from_bytes(path.read_bytes())
        key, now = read_signing_key(self._settings.data_folder), int(self._now())
        opened = open_next(self._store, round_id, self._holder, key, result["evidence"], table, now)
        path.unlink(missing_ok=True)
        if opened is not None:
            _log.info("opened the next round of a series", extra={"round": opened, "evidence": result["evidence"]["figure"]})

    def _fail(self, round_id: str, reason: str) -> None:
        if fail_round(self._store, round_id, reason, self._holder):
            _log.warning("a round failed", extra={"round": round_id, "reason": reason})

    def _count_reports(self, round_id: str) -> int:
        """How many reports came in time."""
        reports = schema.reports
        rows = select(func.count()).select_from(reports).where(reports.c.round_id == round_id, reports.c.late.is_(false()))
        with self._store.read() as connection:
            return int(connection.execute(rows).scalar_one())

    def _record_progress(self, round_id: str, progress: dict[str, Any]) -> None:
        """Write down how far a round has come: stage, done and total; a round that was lost is given up."""
        if not prolong_lease(self._store, round_id, self._holder, **progress):
            self._give_up(round_id)

    @contextmanager
    def _keep_lease(self, round_id: str) -> Iterator[None]:
        """Prolong the lease of a round for as long as the block runs; if it is lost, kill the process."""
        ended = threading.Event()

        def beat() -> None:
            last = time.monotonic()
            while not ended.wait(BEAT_SECONDS):
                try:
                    held = prolong_lease(self._store, round_id, self._holder)
                    last = time.monotonic()
                except SQLAlchemyError:
                    held = time.monotonic() - last < LEASE_SECONDS  # the database is away; another server may have the round
                if not held and not ended.is_set():
                    self._give_up(round_id)

        heart = threading.Thread(target=beat, name=f"lease-{round_id}", daemon=True)
        heart.start()
        try:
            yield
        finally:
            ended.set()
            heart.join()
            self._lost.discard(round_id)

    def _give_up(self, round_id: str) -> None:
        """Another server has the round, or it is settled: what this server computes is worth nothing."""
        self._lost.add(round_id)
        _log.warning("another server took a round over", extra={"round": round_id})
        process = self._processes.get(round_id)
        if process is not None:
            process.kill()


def read_server_name(folder: Path) -> str:
    """The name by which the server of a data folder holds rounds, the same after a restart; made if there is none."""
    path = folder / "server-name"
    if not path.exists():
        write_once(path, secrets.token_hex(16).encode())
    return path.read_text(encoding="ascii")
