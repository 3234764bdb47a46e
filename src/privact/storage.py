"""Files that are on disk whole or not at all, and files and folders that only their owner can read."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from privact.errors import InputError

__all__ = ["clear_drafts", "make_private_folder", "write_once", "write_privately", "write_whole"]


@contextmanager
def write_whole(path: str | Path) -> Iterator[BinaryIO]:
    """A stream that becomes the file at `path` when the block ends well, and leaves nothing behind otherwise.

    path: where the file is to be; a file that is there stays untouched until the new one is safely on disk.
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


def write_privately(path: Path, data: bytes, reached: Callable[[str], None] = lambda point: None) -> None:
    """Replace a file by one of mode 0600 with other content, both safely on disk when this returns.

    The draft always has the same name, so that a kill leaves at most one, and the next call uses it up.

    path: the file; data: its content.
    reached: called with a name at each point between two writes.
    """
    draft = path.with_name(f".{path.name}.tmp")
    try:
        _write_draft(draft, data, os.O_TRUNC)
        reached(f"{path.name} drafted")
        os.replace(draft, path)
        reached(f"{path.name} named")
        _flush_folder(path.parent)
    except OSError as error:
        raise InputError(f"cannot write {path}: {(error.strerror or str(error)).lower()}: make room for it") from None


def write_once(path: Path, data: bytes, reached: Callable[[str], None] = lambda point: None) -> None:
    """Write a file of mode 0600 that is not there yet, safely on disk when this returns; one that is there is never replaced.

    path, data, reached: as for write_privately.
    """
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}.tmp")
    try:
        _write_draft(draft, data, os.O_EXCL)
        reached(f"{path.name} drafted")
        try:
            os.link(draft, path)
        except (PermissionError, NotImplementedError):  # a file system without links
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            os.replace(draft, path)
        reached(f"{path.name} named")
        _flush_folder(path.parent)
    except OSError as error:
        raise InputError(f"cannot write {path}: {(error.strerror or str(error)).lower()}: look into its folder") from None
    finally:
        draft.unlink(missing_ok=True)


def clear_drafts(path: Path) -> None:
    """Remove what a process that was killed in write_once left behind."""
    for draft in path.parent.glob(f".{path.name}-*.tmp"):
        draft.unlink(missing_ok=True)


def make_private_folder(path: Path) -> Path:
    """A folder that only its owner can look into, made if it is missing, its name safely on disk when this returns."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in missing:
            _flush_folder(folder.parent)
    except OSError as error:
        raise InputError(f"cannot make folder {path}: {(error.strerror or str(error)).lower()}: choose another") from None
    with suppress(OSError):
        path.chmod(0o700)
    return path


def _write_draft(draft: Path, data: bytes, flag: int) -> None:
    """Write a new file of mode 0600 and flush it to disk; flag says what happens to one that is there."""
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | flag, 0o600), "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _flush_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut, where the system lets a folder be opened."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
