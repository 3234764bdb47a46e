"""The files of the device for a browser, which this server hands out unchanged at /join/.

They are package data of privact.device, read by their path: no module of the device is imported, so no server code can count a
contact. A device that does not want to trust this server takes the same files from elsewhere: docs/attack-model.md.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

__all__ = ["JOIN_KINDS", "JOIN_POLICY", "read_join_file"]

JOIN_KINDS: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}
"""Media types of the files, by suffix."""

JOIN_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; "
    "worker-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
"""What the page may load and do where this server hands it out: its own files, and questions to this server."""


def read_join_file(name: str) -> tuple[bytes, str] | None:
    """The content of a file of the page and its tag, or None if there is none with this name.

    name: relative to the page, such as core/noise.js; index.html if it is empty.
    """
    return _read_files().get(name or "index.html")


@cache
def _read_files() -> dict[str, tuple[bytes, str]]:
    """Every file by its name: what is not in here cannot be asked for, however its name is written."""
    found: dict[str, tuple[bytes, str]] = {}

    def collect(folder: Traversable, before: str) -> None:
        for each in folder.iterdir():
            if each.is_dir():
                collect(each, f"{before}{each.name}/")
            elif any(each.name.endswith(suffix) for suffix in JOIN_KINDS):
                content = each.read_bytes()
                found[before + each.name] = content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'

    collect(files("privact").joinpath("device", "page", "static"), "")
    return found
