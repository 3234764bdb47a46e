"""Every table and figure in one run: sections that are finished are kept by the content of what decides them.

A section is computed again if the command's settings, the version of its experiment, or the content of the data files it reads
change. Parts inside a section are kept below the digest of the data, so that an interrupted section goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from privact import __version__
from privact.errors import InputError, PrivaCTError
from privact.experiments.data_content import DataContent, data_content
from privact.experiments.kept_parts import Cells
from privact.experiments.results import Claim, write_findings
from privact.experiments.sections import SECTIONS, Section, Tell
from privact.experiments.versions import versions
from privact.network.datasets import DATA_VARIABLE, TABLE_1
from privact.storage import write_whole

__all__ = ["Done", "reproduce_everything"]


@dataclass(frozen=True)
class Done:
    """What became of a section.

    section: which. failure: why there is nothing, in one line; None if it went well.
    text: its page in Markdown. claims: what it says. picture: the PNG. files: what was written.
    seconds: spent when it was computed, all attempts together. versions: of what computed it. kept: whether it was there before.
    """

    section: Section
    failure: str | None = None
    text: str = ""
    claims: tuple[Claim, ...] = ()
    picture: bytes = b""
    files: tuple[Path, ...] = ()
    seconds: float = 0.0
    versions: tuple[tuple[str, str], ...] = ()
    kept: bool = False


def reproduce_everything(
    data: str | None, output: Path, quick: bool, tell: Tell, sections: Iterable[Section] = SECTIONS
) -> Iterator[Done]:
    """Compute or look up each section and write its files into a folder; a section that fails does not stop the others.

    Without any dataset it raises InputError at once, before anything is made.

    data: folder of the datasets; the environment variable PRIVACT_DATA if absent. output: folder of the results.
    quick: fewer runs and smaller networks. tell: is told what is running, how much is done, of how much.
    """
    folder = data if data is not None else os.environ.get(DATA_VARIABLE)
    content = data_content(Path(folder)) if folder else None
    if content is None or not content.files:
        where = f"in {folder}" if folder else f"named: give --data DIR or set {DATA_VARIABLE}"
        raise InputError(f"no dataset {where}: fetch {', '.join(TABLE_1)} with privact data get NAME -o DIR")
    return _each(list(sections), folder, output, content, quick, tell)


def _each(
    listed: list[Section], folder: str | None, output: Path, content: DataContent, quick: bool, tell: Tell
) -> Iterator[Done]:
    """One section after the other."""
    for number, section in enumerate(listed, 1):
        stage = f"section {number} of {len(listed)}: {section.name}"
        tell(stage, 0, 0)
        try:
            done = _done(section, folder, output, content, quick, lambda text, part, of, s=stage: tell(f"{s}, {text}", part, of))  # type: ignore[misc]
        except Exception as error:  # whatever it is, hours of other sections are not lost for it
            told = str(error) if isinstance(error, PrivaCTError) else f"{type(error).__name__}: {error}"
            done = Done(section, failure=" ".join(told.split()))
        yield done


def _done(section: Section, folder: str | None, output: Path, content: DataContent, quick: bool, tell: Tell) -> Done:
    """One section, from what is kept or computed now, with its files written."""
    settings = {
        "section": section.name,
        "quick": quick,
        "privact": __version__,
        "experiment": section.version,
        "data": content.of(section.files),
    }
    cells = Cells(output / "cells")
    fresh = []

    def compute() -> dict[str, Any]:
        fresh.append(section.name)
        with _timed(output / "cells", settings) as clock:
            parts = output / "cells" / f"data-{content.digest[:16]}"
            found = section.run(folder, parts, quick, tell)
            with TemporaryDirectory(prefix="privact-") as place:
                paths = write_findings(found, Path(place))
                files = {path.name: b64encode(path.read_bytes()).decode() for path in paths}
            if section.name == "figure5":
                from privact.experiments.figure5 import as_csv

                files["figure5.csv"] = b64encode(as_csv(found.document["rows"]).encode()).decode()
            claims = [asdict(claim) for claim in found.claims]
            return {
                "text": found.text,
                "claims": claims,
                "files": files,
                "seconds": round(clock(), 1),
                "versions": list(versions().items()),
            }

    kept = cells.get_or_run(settings, compute)
    paths = []
    for name, encoded in kept["files"].items():
        path = output / name
        _write_changed(path, b64decode(encoded))
        paths.append(path)
    return Done(
        section,
        text=kept["text"],
        claims=tuple(Claim(**claim) for claim in kept["claims"]),
        picture=b64decode(kept["files"][f"{section.name}.png"]),
        files=tuple(paths),
        seconds=kept["seconds"],
        versions=tuple((name, value) for name, value in kept["versions"]),
        kept=not fresh,
    )


def _write_changed(path: Path, content: bytes) -> None:
    """Write a file unless it is there with this content."""
    if not path.is_file() or path.read_bytes() != content:
        with write_whole(path) as file:
            file.write(content)


@contextmanager
def _timed(folder: Path, settings: dict[str, Any]) -> Iterator[Any]:
    """A clock that goes on after an interruption: it gives the seconds that all attempts took together."""
    name = hashlib.blake2b(json.dumps(settings, sort_keys=True).encode(), digest_size=12).hexdigest()
    path = folder / f"{name}.spent"
    try:
        before = float(path.read_text())
    except (OSError, ValueError):
        before = 0.0
    begin = monotonic()
    try:
        yield lambda: before + monotonic() - begin
    except KeyboardInterrupt:
        with write_whole(path) as file:
            file.write(f"{before + monotonic() - begin:.1f}".encode())
        raise
    path.unlink(missing_ok=True)
