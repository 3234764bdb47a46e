"""What the files of the datasets hold, as digests: what is kept of an experiment belongs to this content and no other."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from dataclasses import dataclass
from pathlib import Path

from privact.network.datasets import TABLE_1

__all__ = ["DataContent", "data_content", "file_digest"]

KINDS = ("social", "ratings")


@dataclass(frozen=True)
class DataContent:
    """The content of a folder of datasets.

    files: digest by name of the file, such as lastfm/social; files that are not there are left out.
    """

    files: dict[str, str]

    @property
    def digest(self) -> str:
        """One digest of all files."""
        return hashlib.sha256(repr(sorted(self.files.items())).encode()).hexdigest()

    def of(self, kinds: tuple[str, ...]) -> dict[str, str]:
        """The digests of files of some kinds: social, ratings."""
        return {name: digest for name, digest in self.files.items() if name.split("/")[1] in kinds}


def data_content(folder: Path) -> DataContent:
    """Read every file of the datasets once; how a file was compressed does not count."""
    found = {}
    for name in TABLE_1:
        for kind in KINDS:
            path = folder / name / f"{kind}.tsv.gz"
            if path.is_file():
                found[f"{name}/{kind}"] = file_digest(path)
    return DataContent(found)


def file_digest(path: Path) -> str:
    """The digest of what a gzipped file holds; how it was compressed does not count."""
    try:
        with gzip.open(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, EOFError, zlib.error):  # damaged: whoever reads it will say so
        return hashlib.sha256(path.read_bytes()).hexdigest()
