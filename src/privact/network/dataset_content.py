"""The content of a dataset (contacts and ratings), its digests, and the two files that store it."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from privact.errors import InputError

__all__ = ["Content", "read_content", "write_content"]


@dataclass(frozen=True)
class Content:
    """Contacts and ratings of a dataset.

    contacts: pairs of user ids, each contact once. ratings: user id, item id, rating.
    """

    contacts: list[tuple[int, int]]
    ratings: list[tuple[int, int, int]]

    @property
    def contacts_sha256(self) -> str:
        """SHA-256 of the contacts in a canonical order: smaller id first, a line each, sorted."""
        return _sha256(f"{min(pair)}\t{max(pair)}\n" for pair in sorted(tuple(sorted(pair)) for pair in self.contacts))

    @property
    def ratings_sha256(self) -> str:
        """SHA-256 of the ratings in a canonical order that does not depend on how items are numbered.

        An item is the line of its raters and their ratings, sorted by user; the lines are sorted.
        """
        raters: dict[int, list[tuple[int, int]]] = {}
        for user, item, rating in self.ratings:
            raters.setdefault(item, []).append((user, rating))
        lines = sorted(" ".join(f"{user}:{rating}" for user, rating in sorted(rated)) for rated in raters.values())
        return _sha256(f"{line}\n" for line in lines)


def _sha256(lines: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode())
    return digest.hexdigest()


def write_content(content: Content, folder: Path) -> list[Path]:
    """Write social.tsv.gz and ratings.tsv.gz into a new folder, both or neither; returns their paths.

    folder: must not be there yet, or be empty.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty: remove it first, or choose another folder with -o")
    texts = {
        "social.tsv.gz": ["user\tfriend\n", *(f"{one}\t{other}\n" for one, other in content.contacts)],
        "ratings.tsv.gz": ["user\titem\trating\n", *(f"{user}\t{item}\t{rating}\n" for user, item, rating in content.ratings)],
    }
    draft: str | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = tempfile.mkdtemp(prefix=".privact-", dir=folder.parent)
        for name, lines in texts.items():
            (Path(draft) / name).write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
        os.chmod(draft, 0o755)
        if folder.is_dir():
            folder.rmdir()
        os.rename(draft, folder)
    except OSError as error:
        raise InputError(f"cannot write {folder}: {(error.strerror or str(error)).lower()}") from None
    finally:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)
    return [folder / name for name in texts]


def read_content(folder: Path) -> Content | None:
    """The content of a folder's two files; None if they are missing or not in the format of `write_content`."""
    try:
        contacts = [(int(one), int(other)) for one, other in _lines(folder / "social.tsv.gz")]
        ratings = [(int(user), int(item), int(rating)) for user, item, rating in _lines(folder / "ratings.tsv.gz")]
    except (OSError, EOFError, zlib.error, ValueError):
        return None
    return Content(contacts, ratings)


def _lines(path: Path) -> Iterable[list[bytes]]:
    with gzip.open(path) as file:
        next(file, None)
        for line in file:
            yield line.split()
