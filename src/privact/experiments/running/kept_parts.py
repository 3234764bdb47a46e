"""Finished parts of a long experiment, kept as files so that it resumes after an interruption."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from privact.errors import InputError
from privact.storage import write_whole

__all__ = ["KeptParts"]


class KeptParts:
    """A folder with one JSON file for each finished part, named by the content of the part's settings.

    Other settings are another file, so nothing that was computed otherwise is ever reused. Deleting the folder discards them all.

    folder: made if it is missing; None keeps nothing.
    version: part of the settings of every part: raise it when the code that computes parts changes what they hold.
    """

    def __init__(self, folder: Path | None, version: int = 1) -> None:
        self.folder = folder
        self.version = version
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"cannot make folder {folder}: {(error.strerror or str(error)).lower()}") from None

    def get_or_run(self, settings: Mapping[str, Any], run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The finished part with these settings, computed now if it is not there.

        settings: everything that decides the outcome; it must fit in JSON, as the outcome must.
        run: computes the part.
        """
        if self.folder is None:
            return run()
        described = json.dumps({**settings, "version": self.version}, sort_keys=True)
        path = self.folder / f"{hashlib.blake2b(described.encode(), digest_size=12).hexdigest()}.json"
        kept = _read(path)
        if kept is not None and kept.get("settings") == json.loads(described):
            return dict(kept["found"])
        found = run()
        with write_whole(path) as file:
            file.write(json.dumps({"settings": json.loads(described), "found": found}).encode())
        return dict(json.loads(json.dumps(found)))


def _read(path: Path) -> dict[str, Any] | None:
    """What a file holds, or None if it is not there or not whole."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) and isinstance(document.get("found"), dict) else None
