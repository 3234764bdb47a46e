"""privact reproduce all: every table and figure in one report, as HTML and Markdown."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privact.cli.files import DataFolder
from privact.cli.studies.results import Output, folder_name, ready_folder
from privact.cli.text import Json, print_json, table
from privact.experiments.registry import EXPERIMENTS
from privact.progress import Progress, progress_bar

if TYPE_CHECKING:
    from privact.experiments.report.section_result import SectionResult

Quick = Annotated[bool, typer.Option("--quick", help="A look at everything in minutes: fewer runs, smaller networks.")]

__all__ = ["all_experiments"]

_FAILED = 1


def all_experiments(
    data: DataFolder = None, output: Output = Path("results"), quick: Quick = False, as_json: Json = False
) -> None:
    """Every table and figure of the paper and ours, in one report.

    Writes DIR/report.html and DIR/report.md, and each section as JSON, Markdown and a picture. Finished sections are kept in
    DIR/cells by the content of the data, so that it resumes after an interruption. Exits with 1 if a section failed.
    """
    from privact.experiments.report.html_report import html_report, require_markdown
    from privact.experiments.report.markdown_report import markdown_report
    from privact.experiments.running.reproduce_all import reproduce_all
    from privact.storage import write_whole

    require_markdown()
    with progress_bar(quiet=as_json) as show:
        sections = reproduce_all(folder_name(data), output, quick, _report_sections(show, as_json), EXPERIMENTS)
        ready_folder(output)
        done = list(sections)
    reports = {"report.html": html_report(done, quick), "report.md": markdown_report(done, quick)}
    for name, text in reports.items():
        with write_whole(output / name) as file:
            file.write(text.encode())
    _finish(done, [output / name for name in reports], as_json)
    if any(each.failure is not None for each in done):
        raise typer.Exit(_FAILED)


def _report_sections(show: Progress, quiet: bool) -> Progress:
    """Progress for a terminal; elsewhere a line on stderr when a section starts."""
    if quiet or sys.stderr.isatty():
        return show

    def print_section(stage: str, done: int, total: int) -> None:
        if "," not in stage:
            print(f"privact: {stage}", file=sys.stderr, flush=True)

    return print_section


def _finish(done: list[SectionResult], reports: list[Path], as_json: bool) -> None:
    from privact.experiments.report.markdown_report import claims_of, spent

    if as_json:
        sections = [
            {
                "name": each.experiment.name,
                "failure": each.failure,
                "claims": [claim.as_dict() for claim in each.claims],
                "seconds": each.seconds,
                "kept": each.kept,
                "files": [str(path) for path in each.files],
            }
            for each in done
        ]
        print_json({"sections": sections, "reports": [str(path) for path in reports]})
        return
    rows = []
    for each in done:
        verdicts = ", ".join(claim.verdict for claim in claims_of(each, done))
        rows.append(
            [each.experiment.name, verdicts if each.failure is None else "failed", spent(each), "kept" if each.kept else ""]
        )
    table(["section", "verdicts", "time spent", ""], rows)
    for each in done:
        if each.failure is not None:
            print(f"privact: {each.experiment.name} failed: {each.failure}", file=sys.stderr)
    print("\nWritten: " + ", ".join(str(path) for path in reports))
