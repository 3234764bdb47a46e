"""The official archives of the datasets, read without extracting them: archive -> contacts and ratings.

Only files of the documented names are opened, and only inside the archive, so that no name in it can reach the disk.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from privact.errors import FileFormatError, InputError
from privact.network.dataset_content import Content
from privact.network.graph import ContactGraph

__all__ = ["Layout", "read_douban", "read_hetrec_delicious", "read_hetrec_lastfm"]

Layout = Callable[[Path], Content]
"""Reads an archive of one layout."""

LARGEST = 256 * 2**20
"""Largest uncompressed size of a file in an archive, in bytes; ten times that of the largest official one."""


def read_hetrec_lastfm(path: Path) -> Content:
    """hetrec2011-lastfm-2k.zip: user_friends.dat (userID, friendID), user_artists.dat (userID, artistID, weight)."""
    with _opened(path) as archive:
        contacts = _drop_directions(_rows(archive, path, "user_friends.dat", 2))
        return Content(contacts, [(user, item, play) for user, item, play in _rows(archive, path, "user_artists.dat", 3)])


def read_hetrec_delicious(path: Path) -> Content:
    """hetrec2011-delicious-2k.zip: user_contacts.dat (userID, contactID), user_taggedbookmarks.dat (userID, bookmarkID, tagID).

    A rating is the number of tags that a user gave a page. As in the copy that the paper's authors used, only users of the
    largest component are rated, and pages are numbered as they first appear.
    """
    with _opened(path) as archive:
        contacts = _drop_directions(_rows(archive, path, "user_contacts.dat", 2))
        connected = set(ContactGraph.from_edges(contacts).largest_component().users) if contacts else set()
        tags: dict[tuple[int, int], int] = {}
        for user, page, _ in _rows(archive, path, "user_taggedbookmarks.dat", 3):
            if user in connected:
                tags[user, page] = tags.get((user, page), 0) + 1
    number: dict[int, int] = {}
    return Content(contacts, [(user, number.setdefault(page, len(number)), count) for (user, page), count in tags.items()])


def read_douban(path: Path) -> Content:
    """douban.zip: trusts.txt (user, friend), ratings.txt (user, item, score), without headers."""
    with _opened(path) as archive:
        contacts = _drop_directions(_rows(archive, path, "trusts.txt", 2))
        return Content(contacts, [(user, item, score) for user, item, score in _rows(archive, path, "ratings.txt", 3)])


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except zipfile.BadZipFile:
        raise FileFormatError(f"{path} is not a zip archive or is cut off: fetch it again") from None
    for name in archive.namelist():
        place = PurePosixPath(name.replace("\\", "/"))
        if place.is_absolute() or ".." in place.parts or ":" in place.parts[0]:
            archive.close()
            raise FileFormatError(f"{path} names a file outside of itself, {name[:60]!r}: it is not the official archive")
    return archive


def _rows(archive: zipfile.ZipFile, path: Path, name: str, columns: int) -> Iterator[tuple[int, ...]]:
    """The first columns of a file of whole numbers; a header is skipped."""
    found = [member for member in archive.infolist() if PurePosixPath(member.filename).name == name and not member.is_dir()]
    if len(found) != 1:
        raise FileFormatError(f"{path} has {len(found) or 'no'} files {name}: it is not the official archive, which has one")
    if found[0].file_size > LARGEST:
        raise FileFormatError(f"{path}: {name} would unpack to {found[0].file_size:,} bytes, more than {LARGEST:,}")
    try:
        data = archive.read(found[0])
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError):  # the last two: locked, packed otherwise
        raise FileFormatError(f"{path}: {name} inside is damaged: fetch the archive again") from None
    for number, line in enumerate(data.splitlines(), 1):
        fields = line.split()
        try:
            yield tuple(_whole(field) for field in fields[:columns]) if len(fields) >= columns else _short(fields)
        except ValueError:
            if line.strip() and number > 1:
                raise FileFormatError(
                    f"{path}: {name}, line {number} is not {columns} whole numbers: {line[:40].decode(errors='replace')!r}"
                ) from None


def _whole(field: bytes) -> int:
    """A whole number, also if it is written 4.0."""
    return int(field.removesuffix(b".0"))


def _short(fields: list[bytes]) -> tuple[int, ...]:
    raise ValueError(f"{len(fields)} columns")


def _drop_directions(pairs: Iterable[tuple[int, ...]]) -> list[tuple[int, int]]:
    """Each contact once, in the order of first appearance, without self-loops."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for one, other in pairs:
        if one != other:
            found.setdefault((min(one, other), max(one, other)), (one, other))
    return list(found.values())
