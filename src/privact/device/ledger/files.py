"""Files of a device: readable by their owner only, and on disk whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from privact.errors import InputError

__all__ = ["clear_drafts", "flush_folder", "private_folder", "written_once", "written_privately"]


def private_folder(path: Path) -> Path:
    """A folder that only its owner can look into, made if it is missing, its name safely on disk when this returns."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in missing:
            flush_folder(folder.parent)
    except OSError as error:
        raise InputError(f"cannot make folder {path}: {(error.strerror or str(error)).lower()}: choose another") from None
    with suppress(OSError):
        path.chmod(0o700)
    return path


def written_privately(path: Path, data: bytes, reached: Callable[[str], None] = lambda point: None) -> None:
    """Replace a file by one with other content, both safely on disk when this returns.

    The draft always has the same name, so that a kill leaves at most one, and the next call uses it up.

    path: the file; data: its content.
    reached: called with a name at each point between two writes.
    """
    draft = path.with_name(f".{path.name}.tmp")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        reached(f"{path.name} drafted")
        os.replace(draft, path)
        reached(f"{path.name} named")
        flush_folder(path.parent)
    except OSError as error:
        raise InputError(f"cannot write {path}: {(error.strerror or str(error)).lower()}: make room for it") from None


def written_once(path: Path, data: bytes, reached: Callable[[str], None] = lambda point: None) -> None:
    """Write a file that is not there yet, safely on disk when this returns; one that is there is never replaced.

    path, data, reached: as for written_privately.
    """
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}.tmp")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        reached(f"{path.name} drafted")
        try:
            os.link(draft, path)
        except (PermissionError, NotImplementedError):  # a file system without links
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            os.replace(draft, path)
        reached(f"{path.name} named")
        flush_folder(path.parent)
    except OSError as error:
        raise InputError(f"cannot write {path}: {(error.strerror or str(error)).lower()}: look into its folder") from None
    finally:
        draft.unlink(missing_ok=True)


def clear_drafts(path: Path) -> None:
    """Remove what a process that was killed while it wrote the file left behind."""
    for draft in path.parent.glob(f".{path.name}-*.tmp"):
        draft.unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut, where the system lets a folder be opened."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
