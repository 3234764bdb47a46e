"""The outcome of one section of the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from privact.experiments.experiment import Experiment
from privact.experiments.report.findings import Claim

__all__ = ["SectionResult"]


@dataclass(frozen=True)
class SectionResult:
    """The outcome of one section.

    experiment: which. failure: why there is no outcome, in one line; None if there is one.
    text: its page in Markdown, without the appendix. claims: with their verdicts. picture: the PNG. files: what was written.
    seconds: spent when it was computed, all attempts together. versions: of what computed it.
    kept: whether it was computed by an earlier run.
    """

    experiment: Experiment
    failure: str | None = None
    text: str = ""
    claims: tuple[Claim, ...] = ()
    picture: bytes = b""
    files: tuple[Path, ...] = ()
    seconds: float = 0.0
    versions: tuple[tuple[str, str], ...] = ()
    kept: bool = False
