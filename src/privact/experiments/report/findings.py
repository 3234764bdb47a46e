"""What every experiment leaves behind: a JSON file, a Markdown page and a picture, a verdict on each claim by a stated rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from privact.errors import InputError, MissingExtraError
from privact.storage import write_whole

__all__ = ["Claim", "Findings", "Page", "Verdict", "markdown_table", "write_findings"]

Verdict = Literal["holds", "holds with a caveat", "does not hold", "too few runs to tell"]


@dataclass(frozen=True)
class Claim:
    """Something the paper states, and whether our numbers bear it out.

    statement: the claim. rule: how the verdict follows from the numbers. verdict: what the rule gives.
    evidence: the numbers that decided it, in one sentence.
    decided: whether the spread of the numbers is small enough for the verdict; None if that takes more than one run.
    """

    statement: str
    rule: str
    verdict: Verdict
    evidence: str
    decided: bool | None = None

    def as_dict(self) -> dict[str, str]:
        """The claim for a JSON file."""
        return {"statement": self.statement, "rule": self.rule, "verdict": self.verdict, "evidence": self.evidence}


@dataclass(frozen=True)
class Page:
    """How the outcome of an experiment is presented.

    text: the body in Markdown. claims: statements with their verdicts. draw: paints the picture on a matplotlib figure.
    appendix: follows the text on the experiment's own page; the report leaves it out, because it is a section of its own there.
    files: content of further files, by their ending (such as csv).
    runs: how many runs the numbers are means of; None if nothing in them is left to chance.
    """

    text: str
    claims: Sequence[Claim]
    draw: Callable[[Any], None]
    appendix: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    runs: int | None = None

    def with_undecided_claims(self) -> Page:
        """The page, in which a verdict that the spread of the runs does not decide is "too few runs to tell"."""
        enough = self.runs is None or self.runs > 1
        return replace(
            self,
            claims=[
                claim if claim.decided or (claim.decided is None and enough) else _leave_open(claim) for claim in self.claims
            ],
        )


@dataclass(frozen=True)
class Findings:
    """The outcome of one experiment.

    name: of its files. title: of its page. document: for the JSON file. page: how it is presented.
    """

    name: str
    title: str
    document: dict[str, Any]
    page: Page


def _leave_open(claim: Claim) -> Claim:
    evidence = f"{claim.evidence} By these numbers alone: {claim.verdict}."
    return replace(claim, verdict="too few runs to tell", evidence=evidence)


def markdown_table(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [heading, ["---"] * len(heading), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_findings(found: Findings, folder: Path) -> list[Path]:
    """Write NAME.json, NAME.md, NAME.png and further files into a folder, each whole or not at all; return the paths."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "drawing results") from None
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}: make it first")
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    found.page.draw(figure)
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=150, metadata={"Software": None})
    document = {**found.document, "claims": [claim.as_dict() for claim in found.page.claims]}
    contents = {
        "json": (json.dumps(document, indent=1) + "\n").encode(),
        "md": _markdown(found).encode(),
        "png": picture.getvalue(),
        **{ending: text.encode() for ending, text in found.page.files.items()},
    }
    paths = []
    for ending, data in contents.items():
        path = folder / f"{found.name}.{ending}"
        with write_whole(path) as file:
            file.write(data)
        paths.append(path)
    return paths


def _markdown(found: Findings) -> str:
    page = found.page
    parts = [f"# {found.title}", page.text, *([page.appendix] if page.appendix else []), f"![{found.title}]({found.name}.png)"]
    if page.claims:
        parts.append("## What the paper claims")
        for claim in page.claims:
            parts.append(f"**{claim.verdict.capitalize()}**: {claim.statement}\n\n{claim.evidence}\n\nRule: {claim.rule}")
    return "\n\n".join(parts) + "\n"
