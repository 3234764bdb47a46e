"""Every experiment in one run: finished sections are kept by the content of what decides them.

A section is computed again if the command's settings, the version of its experiment, or the content of the data files it reads
change. Parts inside a section are kept below the digest of the data, so that an interrupted section resumes.
"""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from privact import __version__
from privact.errors import InputError, PrivaCTError
from privact.experiments.experiment import Experiment
from privact.experiments.report.findings import Claim, write_findings
from privact.experiments.report.section_result import SectionResult
from privact.experiments.running.data_content import DataContent, data_content
from privact.experiments.running.kept_parts import KeptParts
from privact.experiments.running.networks import PaperNetworks
from privact.experiments.running.versions import versions
from privact.network.datasets import DATA_VARIABLE, TABLE_1
from privact.progress import Progress
from privact.storage import write_whole

__all__ = ["reproduce_all"]


def reproduce_all(
    data: str | None, output: Path, quick: bool, progress: Progress, experiments: Iterable[Experiment]
) -> Iterator[SectionResult]:
    """Run or look up each experiment and write its files into a folder; one that fails does not stop the others.

    Without any dataset it raises InputError at once, before anything is made.

    data: folder of the datasets; the environment variable PRIVACT_DATA if absent. output: folder of the results.
    quick: fewer runs and smaller networks. progress: told what is running, how much is done, of how much.
    experiments: the sections, in this order.
    """
    folder = data if data is not None else os.environ.get(DATA_VARIABLE)
    content = data_content(Path(folder)) if folder else None
    if content is None or not content.files:
        where = f"in {folder}" if folder else f"named: give --data DIR or set {DATA_VARIABLE}"
        raise InputError(f"no dataset {where}: fetch {', '.join(TABLE_1)} with privact data get NAME -o DIR")
    return _run_each(list(experiments), folder, output, content, quick, progress)


def _run_each(
    listed: list[Experiment], folder: str | None, output: Path, content: DataContent, quick: bool, progress: Progress
) -> Iterator[SectionResult]:
    """One section after the other."""
    for number, experiment in enumerate(listed, 1):
        stage = f"section {number} of {len(listed)}: {experiment.name}"
        progress(stage, 0, 0)

        def inside(text: str, done: int, total: int, stage: str = stage) -> None:
            progress(f"{stage}, {text}", done, total)

        try:
            result = _run(experiment, folder, output, content, quick, inside)
        except Exception as error:  # whatever it is, hours of other sections are not lost for it
            line = str(error) if isinstance(error, PrivaCTError) else f"{type(error).__name__}: {error}"
            result = SectionResult(experiment, failure=" ".join(line.split()))
        yield result


def _run(
    experiment: Experiment, folder: str | None, output: Path, content: DataContent, quick: bool, progress: Progress
) -> SectionResult:
    """One section, kept or computed now, with its files written."""
    settings = {
        "section": experiment.name,
        "quick": quick,
        "privact": __version__,
        "experiment": experiment.version,
        "data": content.of(experiment.files),
    }
    sections = KeptParts(output / "cells")
    fresh = []

    def compute() -> dict[str, Any]:
        fresh.append(experiment.name)
        with _time(output / "cells", settings) as clock:
            parts = output / "cells" / f"data-{content.digest[:16]}" / "cells"
            found = experiment.run(PaperNetworks(folder), quick=quick, parts=parts, progress=progress)
            with TemporaryDirectory(prefix="privact-") as place:
                paths = write_findings(found, Path(place))
                files = {path.name: b64encode(path.read_bytes()).decode() for path in paths}
            return {
                "text": found.page.text,
                "claims": [claim.as_dict() for claim in found.page.claims],
                "files": files,
                "seconds": round(clock(), 1),
                "versions": list(versions().items()),
            }

    kept = sections.get_or_run(settings, compute)
    paths = []
    for name, encoded in kept["files"].items():
        path = output / name
        _write_changed(path, b64decode(encoded))
        paths.append(path)
    return SectionResult(
        experiment,
        text=kept["text"],
        claims=tuple(Claim(**claim) for claim in kept["claims"]),
        picture=b64decode(kept["files"][f"{experiment.name}.png"]),
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
def _time(folder: Path, settings: dict[str, Any]) -> Iterator[Any]:
    """A clock that continues after an interruption: it gives the seconds that all attempts took together."""
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
