"""The page as files: package data -> a folder that any web server can hand out, with the digest of each file."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from privact.errors import InputError
from privact.storage import write_whole

__all__ = ["DIGESTS", "digest_lines", "page_files", "write_page"]

DIGESTS: Final = "SHA256SUMS"
"""The file with the digests, in the form that `sha256sum --check` reads."""


def page_files() -> dict[str, bytes]:
    """The content of every file of the page, by its name relative to the page."""
    found: dict[str, bytes] = {}

    def collect(folder: Traversable, before: str) -> None:
        for each in folder.iterdir():
            if each.is_dir():
                collect(each, f"{before}{each.name}/")
            else:
                found[before + each.name] = each.read_bytes()

    collect(files("privact").joinpath("device", "page", "static"), "")
    return dict(sorted(found.items()))


def digest_lines(contents: dict[str, bytes]) -> str:
    """SHA-256 of each file and its name, one a line."""
    return "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in contents.items())


def write_page(folder: Path) -> dict[str, bytes]:
    """Write the page and its digests; gives the content of each file of the page.

    folder: where to; made if it is missing. Files of another version that are there are replaced.
    """
    contents = page_files()
    for name, content in [*contents.items(), (DIGESTS, digest_lines(contents).encode())]:
        target = folder / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make folder {target.parent}: {(error.strerror or str(error)).lower()}") from None
        with write_whole(target) as stream:
            stream.write(content)
    return contents
