"""How commands that reproduce something end: files in a folder, a table, and a verdict per claim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privact.cli.text import paragraph, print_json
from privact.errors import InputError

if TYPE_CHECKING:
    from privact.experiments.report.findings import Findings

__all__ = ["Output", "finish", "folder_name", "ready_folder"]

Output = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the results; made if missing.")]


def folder_name(data: Path | None) -> str | None:
    """The folder of the datasets as experiments take it."""
    return None if data is None else str(data)


def ready_folder(output: Path) -> Path:
    """The folder for results, made if it is missing."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make folder {output}: {(error.strerror or str(error)).lower()}") from None
    return output


def finish(found: Findings, output: Path, as_json: bool) -> None:
    """Write the files and say what came out."""
    from privact.experiments.report.findings import write_findings

    paths = write_findings(found, ready_folder(output))
    if as_json:
        print_json({"claims": [claim.as_dict() for claim in found.page.claims], "files": [str(path) for path in paths]})
        return
    print(found.page.text)
    if found.page.appendix:
        print("\n" + found.page.appendix)
    for claim in found.page.claims:
        print()
        paragraph(f"{claim.verdict.upper()}: {claim.statement} {claim.evidence}")
    print("\nWritten: " + ", ".join(str(path) for path in paths))
