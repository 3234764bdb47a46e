"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from privact.errors import InputError


@contextmanager
def written_whole(path: str | Path) -> Iterator[BinaryIO]:
    """A stream that becomes the file at `path` when the block ends well, and leaves nothing behind otherwise.

    path: where the file shall be; a file that is there stays untouched until the new one is safely on disk.
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing where it does
    if target.exists() and not target.is_file():
        raise InputError(f"cannot write {path}: it is not a regular file")
    draft = target.parent / f".privact-{secrets.token_hex(8)}.tmp"
    try:
        try:
            with open(draft, "xb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(draft, target)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise
        _flush_folder(target.parent)
    except OSError as error:
        raise InputError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None


def _flush_folder(folder: Path) -> None:
    """Make the new name itself survive a power cut, where the system lets a folder be opened."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
