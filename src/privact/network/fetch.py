"""fetch_dataset: from the official archive, or a copy of it on this machine, to the files that experiments read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from privact.errors import InputError, PrivaCTError
from privact.network.dataset_content import read_content, write_content
from privact.network.downloads import download
from privact.network.sources import Source
from privact.progress import Progress

__all__ = ["Fetched", "check_files", "explain_manual_download", "fetch_dataset", "import_dataset"]


@dataclass(frozen=True)
class Fetched:
    """A dataset that was fetched.

    files: that were written. n_contacts, n_ratings: how many they hold. archive_sha256: of the archive that was read.
    same_archive: whether that is the checksum that is known; None if none is. same_ratings: whether the ratings are those that
    the published numbers were measured with; contacts always are.
    """

    files: list[Path]
    n_contacts: int
    n_ratings: int
    archive_sha256: str
    same_archive: bool | None
    same_ratings: bool


def fetch_dataset(source: Source, folder: Path, progress: Progress) -> Fetched:
    """Download a dataset, verify it and convert it; the archive itself is always deleted.

    source: which. folder: of all datasets; the files go to its subfolder of the dataset's name. progress: told what is done.
    """
    if source.address is None:
        raise InputError(explain_manual_download(source, folder))
    with TemporaryDirectory(prefix="privact-") as place:
        archive = Path(place) / source.archive
        try:
            found = download(source.address, archive, progress, source.archive_sha256)
        except PrivaCTError as error:
            raise PrivaCTError(f"{error}; {explain_manual_download(source, folder)}") from None
        progress("reading the archive", 0, 0)
        return _convert(source, archive, found, folder)


def import_dataset(source: Source, archive: Path, folder: Path) -> Fetched:
    """Convert a copy of the official archive that is on this machine already.

    A repacked copy is accepted too: the content is verified. Arguments as in `fetch_dataset`.
    """
    try:
        with archive.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {archive}: {(error.strerror or str(error)).lower()}") from None
    return _convert(source, archive, found, folder)


def _convert(source: Source, archive: Path, sha256: str, folder: Path) -> Fetched:
    content = source.layout(archive)
    if content.contacts_sha256 != source.contacts_sha256:
        raise InputError(
            f"{archive.name} holds {len(content.contacts):,} contacts that are not those of {source.name} (SHA-256 "
            f"{content.contacts_sha256[:16]}... instead of {source.contacts_sha256[:16]}...): it is not the official archive"
        )
    same = content.ratings_sha256 == source.ratings_sha256
    if not same and source.ratings_certain:
        raise InputError(
            f"{archive.name} holds {len(content.ratings):,} ratings that are not those of {source.name} (SHA-256 "
            f"{content.ratings_sha256[:16]}... instead of {source.ratings_sha256[:16]}...): it is not the official archive"
        )
    files = write_content(content, folder / source.name)
    known = None if source.archive_sha256 is None else source.archive_sha256 == sha256
    return Fetched(files, len(content.contacts), len(content.ratings), sha256, known, same)


def check_files(source: Source, folder: Path) -> bool | None:
    """Whether a folder's files of a dataset have the right content; None if there are none."""
    if not (folder / source.name / "social.tsv.gz").exists():
        return None
    content = read_content(folder / source.name)
    if content is None or content.contacts_sha256 != source.contacts_sha256:
        return False
    return content.ratings_sha256 == source.ratings_sha256 or not source.ratings_certain


def explain_manual_download(source: Source, folder: Path) -> str:
    """How to download a dataset by hand and import it."""
    where = source.address or source.page
    command = f"privact data get {source.name} --from {source.archive} -o {folder}"
    return f"get {source.archive} by hand from {where} and run: {command}"
