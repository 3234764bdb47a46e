"""The worker process: `python -m privact.aggregator.jobs.worker`, started by process.py and by nothing else.

The first line of standard input is an order:

    {"task": "learn", "url", "round", "folder", "minimum", "cluster"} learn a round or a series and write its release
    {"task": "infer", "url", "round", "folder", "minimum"} infer groups from the rounds of a series and write them as labels
    {"task": "place", "url", "round", "folder", "joined"}  place late joiners, and again for every further line
    {"task": "convert", "source", "target", "format"}      write a released tree in another format

Lines on standard output: {"stage", "done", "total"}; {"released": SHA-256, "n_users"} and of a series {"evidence"};
{"groups": path of the label table, "evidence"}; {"joined": how many}; {"refused": why},
after which trying again is of no use; {"waiting": why}, if disk or database must be put in order first; {"error": which kind}.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from privact.errors import FileFormatError, InputError, PrivaCTError

if TYPE_CHECKING:
    from privact.aggregator.jobs.series_learning import ReportedSeries
    from privact.aggregator.storage.stored_reports import StoredRound
    from privact.learn.pipeline import Learned
    from privact.learn.reports.report_table import ReportTable
    from privact.learn.scale.task_runner import Engine

__all__ = ["main"]

_BETWEEN: Final = 0.5  # seconds between two reports of progress of one stage
_NICER: Final = 10  # requests to the server go first


class Channel:
    """Standard output as a line of JSON after another; anything else that is printed goes to standard error.

    throttled: progress is told at most twice a second, and whenever a stage begins.
    """

    def __init__(self) -> None:
        self._out: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._stage = ""
        self._told = 0.0

    def send(self, **facts: Any) -> None:
        """Send one line."""
        self._out.write(json.dumps(facts) + "\n")
        self._out.flush()

    def progress(self, stage: str, done: int, total: int) -> None:
        """Send how far a stage has come, unless that was sent just before."""
        now = time.monotonic()
        if stage != self._stage or now - self._told >= _BETWEEN:
            self._stage, self._told = stage, now
            self.send(stage=stage, done=int(done), total=int(total))


def main() -> int:
    """Do what the first line of standard input says."""
    channel = Channel()
    order = json.loads(sys.stdin.readline() or "{}")
    if hasattr(os, "nice"):
        os.nice(_NICER)
    _end_with_parent()
    try:
        if order.get("task") in ("learn", "infer"):
            _learn(order, channel)
        elif order.get("task") == "place":
            _place(order, channel)
        elif order.get("task") == "convert":
            _convert(order)
    except PrivaCTError as error:
        channel.send(waiting=str(error))
        return 1
    except Exception as error:
        channel.send(error=type(error).__name__)
        raise
    return 0


def _learn(order: dict[str, Any], channel: Channel) -> None:
    """Read the reports of a round, or of the series up to it, and do what the order says; files appear whole or not at all."""
    threading.Thread(target=_end_with_input, daemon=True).start()

    from sqlalchemy.exc import DBAPIError

    from privact.aggregator.jobs.learning import read_stored_table
    from privact.aggregator.jobs.series_learning import align_series, read_series
    from privact.aggregator.storage.stored_reports import read_round

    url, round_id, folder = order["url"], order["round"], Path(order["folder"])
    with _empty(folder.parent / "scratch" / round_id) as scratch:
        try:
            stored = read_round(url, round_id)
            if stored.round.series is not None:
                tables = read_series(url, stored, scratch, order["minimum"], channel.progress)
            else:
                table = read_stored_table(url, stored, scratch / "reports", channel.progress)
        except FileFormatError as error:
            channel.send(refused=str(error))
            return
        except DBAPIError as error:
            channel.send(waiting=f"the database does not answer: {type(error.orig).__name__}")
            return
        try:
            if stored.round.series is None:
                write = _learn_round(url, stored, table, order, scratch, channel)
            else:
                series = align_series(url, stored, tables, order["minimum"])
                infer = order["task"] == "infer"
                write = _infer_groups(series, folder, channel) if infer else _learn_series(series, order, scratch, channel)
        except PrivaCTError as error:
            channel.send(refused=str(error))
            return
    channel.send(**write())  # a disk that cannot be written is no reason to refuse the reports


Write = Callable[[], dict[str, Any]]
"""Writes what was learned, and gives the line that says so."""


def _learn_round(
    url: str, stored: StoredRound, table: ReportTable, order: dict[str, Any], scratch: Path, channel: Channel
) -> Write:
    """Learn a round; its release is to be written."""
    from privact.aggregator.jobs.learning import learn_stored_round

    with _open_engine(len(table), order["cluster"], scratch) as engine:
        learned = learn_stored_round(url, stored, table, engine=engine, progress=channel.progress)
    return lambda: _release(learned, stored.round.id, Path(order["folder"]), channel)


def _learn_series(series: ReportedSeries, order: dict[str, Any], scratch: Path, channel: Channel) -> Write:
    """Learn the tree of a series, which is to be written as the release of its newest round."""
    from privact.aggregator.jobs.series_learning import learn_series

    with _open_engine(len(series.users), order["cluster"], scratch) as engine:
        learned, evidence = learn_series(series, engine=engine, progress=channel.progress)
    return lambda: {**_release(learned, series.newest.round.id, Path(order["folder"]), channel), "evidence": evidence}


def _open_engine(n_users: int, cluster: str, scratch: Path) -> AbstractContextManager[Engine]:
    """The configured Dask cluster, or the processes that pay for this number of users."""
    from privact.learn.scale.engines import open_engine, workers_for

    return open_engine(None if cluster else workers_for(n_users), cluster or None, scratch)


def _infer_groups(series: ReportedSeries, folder: Path, channel: Channel) -> Write:
    """Infer the groups of a series, which are to be written as the label table of its next round."""
    from privact.aggregator.jobs.series_learning import infer_labels
    from privact.storage import write_privately

    table, evidence = infer_labels(series, channel.progress)
    path = folder.parent / "groups" / series.newest.round.id

    def write() -> dict[str, Any]:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_privately(path, table.to_bytes())
        return {"groups": str(path), "evidence": evidence}

    return write


def _release(learned: Learned, round_id: str, folder: Path, channel: Channel) -> dict[str, Any]:
    """Write the evidence and the tree of a round, and say so."""
    from privact.aggregator.domain.release import evidence_path, release_path, sha256_of
    from privact.learn.evidence.evidence_file import write_evidence

    channel.progress("writing the release", 0, 0)
    path, evidence = release_path(folder, round_id), evidence_path(folder, round_id)
    evidence.parent.mkdir(mode=0o700, exist_ok=True)
    write_evidence(learned.evidence, evidence)
    learned.tree.save(path)
    return {"released": sha256_of(path).hex(), "n_users": learned.tree.n_users}


@contextmanager
def _empty(folder: Path) -> Iterator[Path]:
    """A folder for temporary files, without what an attempt that was killed left there; removed at the end of the block."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise InputError(f"cannot make {folder}: {(error.strerror or str(error)).lower()}") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _place(order: dict[str, Any], channel: Channel) -> None:
    """Place everyone who joined late, then again for every line that comes; the reports of the round are read once."""
    from privact.aggregator.domain.release import release_path
    from privact.aggregator.jobs.placing import open_placed

    folder, round_id = Path(order["folder"]), order["round"]
    with _empty(folder.parent / "scratch" / f"{round_id}.joiners") as scratch:
        placed = open_placed(order["url"], round_id, folder, scratch)
    while True:
        n_joined, tree = placed.join_all()
        if tree is not None:
            tree.save(release_path(Path(order["joined"]), round_id))
        channel.send(joined=n_joined)
        if not sys.stdin.readline():
            return


def _convert(order: dict[str, Any]) -> None:
    """Write a tree in another format."""
    threading.Thread(target=_end_with_input, daemon=True).start()

    from privact.tree.formats.registry import write_tree
    from privact.tree.hct import HierarchicalClusterTree

    write_tree(HierarchicalClusterTree.load(order["source"], memory_map=True), Path(order["target"]), order["format"])


def _end_with_input() -> None:
    """End this process when the server closes its standard input, as its death does."""
    sys.stdin.buffer.read()
    os._exit(1)


def _end_with_parent() -> None:
    """On Linux, end at the moment the server dies, also in the middle of a compiled loop that lets no other thread run."""
    if sys.platform == "linux":
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


if __name__ == "__main__":
    sys.exit(main())
