"""Late joiners: users who enrolled after a round was opened answer it later and are placed in its released tree.

The release itself never changes. Beside it, in `<data folder>/joined/<round id>.hct`, lies the same tree with the joiners as
further leaves: the server's questions are asked of that one, clusters count joiners too, and every answer marks users who joined
late. The file depends only on who joined: not on the order of arrival, nor on restarts, and it can be deleted at any time to be
made again. A process computes it from the stored reports, and stays for a while to place those who come next.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

from sqlalchemy import select

from privact.aggregator.domain.release import joined_folder, joiners_in, release_path, remove_drafts
from privact.aggregator.jobs.process import WorkerProcess
from privact.aggregator.settings import Settings
from privact.aggregator.storage import schema
from privact.aggregator.storage.database import Store

__all__ = ["JoinerPlacer"]

_POLL: Final = 5.0  # seconds after which the database is asked for late reports without being told of one
_STAYS: Final = 60.0  # seconds that a process which knows a round's reports stays for further joiners
_PAUSE: Final = 60.0  # seconds before another attempt
_log = logging.getLogger("privact.aggregator.jobs.joiners")


class JoinerPlacer:
    """Places late joiners in the background, one round at a time.

    store: the database; the process opens its own connection.
    settings: where trees are.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._releases = settings.releases_folder
        self._joined = joined_folder(settings.releases_folder)
        self._stopping = threading.Event()
        self._news = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._process: WorkerProcess | None = None
        self._answers_of = ""  # the round whose reports the process knows
        self._used = 0.0
        self._placed: dict[str, int] = {}  # how many joiners the joined tree of a round holds
        self._not_before: dict[str, float] = {}  # when to try again with a round whose process stopped

    def start(self) -> None:
        """Begin."""
        self._joined.mkdir(parents=True, exist_ok=True)
        remove_drafts(self._joined)
        self._placed.clear()
        self._not_before.clear()
        self._stopping.clear()
        self._thread = threading.Thread(target=self._run, name="joiners", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Look for late reports now."""
        self._news.set()

    def stop(self) -> None:
        """End the process, if there is one, and wait until it is gone."""
        self._stopping.set()
        self._news.set()
        with self._lock:
            if self._process is not None:
                self._process.kill()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._news.clear()
            try:
                for round_id in self._waiting():
                    self._place(round_id)
            except Exception:
                _log.exception("placing late joiners stopped unexpectedly")
                self._end_process()
            if self._process is not None and time.monotonic() - self._used > _STAYS:
                self._end_process()
            self._news.wait(_POLL)
        self._end_process()

    def _waiting(self) -> list[str]:
        """Released rounds with joiners who are not in the tree yet."""
        rounds = schema.rounds
        joined = select(rounds.c.id, rounds.c.n_joiners, rounds.c.digest).where(
            rounds.c.state == "released", rounds.c.n_joiners > 0
        )
        with self._store.read() as connection:
            found = connection.execute(joined).all()
        waiting = []
        for row in found:
            if row.id not in self._placed:
                self._placed[row.id] = joiners_in(release_path(self._joined, row.id), row.digest)
            if self._placed[row.id] != row.n_joiners and time.monotonic() >= self._not_before.get(row.id, 0.0):
                waiting.append(row.id)
        return waiting

    def _place(self, round_id: str) -> None:
        """Let a process write the joined tree of one round."""
        if self._stopping.is_set():
            return
        if self._process is not None and self._answers_of == round_id:
            self._process.tell({})
        else:
            self._end_process()
            self._start_process(round_id)
        assert self._process is not None
        ending = ""
        for answer in self._process.answers():
            if "joined" in answer:
                self._used = time.monotonic()
                self._placed[round_id] = answer["joined"]
                _log.info("placed late joiners", extra={"round": round_id, "joiners": answer["joined"]})
                return
            ending = str(answer.get("waiting") or answer.get("error"))
        ending = ending or self._process.ending()
        self._end_process()
        if not self._stopping.is_set():
            self._not_before[round_id] = time.monotonic() + _PAUSE
            _log.warning("a process that places joiners stopped", extra={"round": round_id, "ending": ending})

    def _start_process(self, round_id: str) -> None:
        order = {
            "task": "place",
            "url": self._store.url.render_as_string(hide_password=False),
            "round": round_id,
            "folder": str(self._releases),
            "joined": str(self._joined),
        }
        process = WorkerProcess(order)
        with self._lock:
            self._process, self._answers_of = process, round_id
            if self._stopping.is_set():
                process.kill()

    def _end_process(self) -> None:
        with self._lock:
            process, self._process, self._answers_of = self._process, None, ""
        if process is not None:
            process.close()
            remove_drafts(self._joined)
