"""The worker process: `python -m privact.aggregator.jobs.worker`, started by process.py and by nothing else.

The first line of standard input is an order:

    {"task": "learn", "url", "round", "folder"}            learn a round and write its release
    {"task": "place", "url", "round", "folder", "joined"}  place late joiners, and again for every further line
    {"task": "convert", "source", "target", "format"}      write a released tree in another format

Lines on standard output: {"stage", "done", "total"}; {"released": SHA-256, "n_users"}; {"joined": how many}; {"refused": why},
after which trying again is of no use; {"waiting": why}, if disk or database must be put in order first; {"error": which kind}.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TextIO

from privact.errors import FileFormatError, InputError, PrivaCTError

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
        if order.get("task") == "learn":
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
    """Learn a round and write its release, whole or not at all."""
    threading.Thread(target=_end_with_input, daemon=True).start()

    from sqlalchemy.exc import DBAPIError

    from privact.aggregator.domain.release import release_path, sha256_of
    from privact.aggregator.domain.round_evidence import evidence_path
    from privact.aggregator.jobs.learning import learn_stored_round, read_stored_table
    from privact.aggregator.storage.stored_reports import read_round
    from privact.learn.evidence.evidence_file import write_evidence
    from privact.learn.scale.engines import open_engine, workers_for

    url, round_id, folder = order["url"], order["round"], Path(order["folder"])
    with _emptied(folder.parent / "scratch" / round_id) as scratch:
        try:
            stored = read_round(url, round_id)
            table = read_stored_table(url, stored, scratch / "reports", channel.progress)
        except FileFormatError as error:
            channel.send(refused=str(error))
            return
        except DBAPIError as error:
            channel.send(waiting=f"the database does not answer: {type(error.orig).__name__}")
            return
        try:
            with open_engine(workers_for(len(table)), scratch=scratch) as engine:
                learned = learn_stored_round(url, stored, table, engine=engine, progress=channel.progress)
        except PrivaCTError as error:
            channel.send(refused=str(error))
            return
    channel.progress("writing the release", 0, 0)
    path = release_path(folder, round_id)
    evidence = evidence_path(folder, round_id)
    evidence.parent.mkdir(mode=0o700, exist_ok=True)
    write_evidence(learned.evidence, evidence)
    learned.tree.save(path)
    channel.send(released=sha256_of(path).hex(), n_users=learned.tree.n_users)


@contextmanager
def _emptied(folder: Path) -> Iterator[Path]:
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
    from privact.aggregator.domain.round_evidence import evidence_of, stored_reports
    from privact.aggregator.jobs.learning import align_reports, join_late
    from privact.aggregator.storage.stored_reports import read_all, read_round
    from privact.learn.pipeline import embed_rounds
    from privact.tree.hct import HierarchicalClusterTree

    url, round_id = order["url"], order["round"]
    tree = HierarchicalClusterTree.load(release_path(Path(order["folder"]), round_id), memory_map=True)
    stored = read_round(url, round_id)
    evidence = evidence_of(url, stored, Path(order["folder"]))
    early = embed_rounds(evidence, [stored_reports(url, stored, *align_reports(tree, *read_all(url, round_id)))])
    while True:
        joiners, late = read_all(url, round_id, late=True)
        if joiners:
            newcomers = embed_rounds(evidence, [stored_reports(url, stored, joiners, late)])
            joined = join_late(tree, early, newcomers, joiners)
            joined.save(release_path(Path(order["joined"]), round_id))
        channel.send(joined=len(joiners))
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
