"""Released trees in other formats: made by a worker process when first asked for, and kept beside the release."""

from __future__ import annotations

import threading
from pathlib import Path

from privact.aggregator.domain.refusals import WrongState
from privact.aggregator.domain.release import remove_drafts
from privact.aggregator.jobs.process import Workers
from privact.tree.formats.registry import FORMATS

__all__ = ["Conversions"]


class Conversions:
    """Files to download; threads may share it.

    folder: where converted trees are kept; they can be deleted at any time.
    workers: the processes of this server.
    """

    def __init__(self, folder: Path, workers: Workers) -> None:
        self._folder = folder
        self._workers = workers
        self._converting = threading.Lock()  # one at a time: each takes a core and the memory of a whole tree
        self._clean = False

    def find_file(self, release: Path, digest: bytes, format: str) -> Path:
        """The file of a released tree in a format; takes seconds for a large tree that nobody asked for before.

        release: the released file. digest: its SHA-256. format: a name in FORMATS.
        """
        if format == "hct":
            return release
        path = self._folder / f"{release.stem}-{digest.hex()[:16]}.{FORMATS[format].suffix}"
        if not path.exists():
            with self._converting:
                if not path.exists():
                    self._convert(release, path, format)
        return path

    def _convert(self, release: Path, path: Path, format: str) -> None:
        """In a process of its own: writing a million users as text would keep the server from responding to anybody else."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if not self._clean:
            remove_drafts(self._folder)
            self._clean = True
        process = self._workers.start({"task": "convert", "source": str(release), "target": str(path), "format": format})
        try:
            for _ in process.results():
                pass
        finally:
            self._workers.end(process)
        if not path.exists():
            raise WrongState(f"the tree of this round cannot be written as {format} now: ask for format=hct and convert it")
