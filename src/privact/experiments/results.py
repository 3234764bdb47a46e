"""What every experiment leaves behind: a JSON file, a Markdown page and a picture, and a verdict per claim by a stated rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from privact.errors import InputError, MissingExtraError
from privact.storage import write_whole

Verdict = Literal["holds", "holds with a caveat", "does not hold"]


@dataclass(frozen=True)
class Claim:
    """Something the paper states, and whether our numbers bear it out.

    statement: the claim. rule: how the verdict follows from the numbers. verdict: what the rule gives.
    evidence: the numbers that decided it, in one sentence.
    """

    statement: str
    rule: str
    verdict: Verdict
    evidence: str


@dataclass(frozen=True)
class Findings:
    """The outcome of one experiment.

    name: of the files. title: of the page. document: for the JSON file. text: the body of the page, in Markdown.
    claims: what it says about the paper. draw: paints the picture on a matplotlib figure.
    """

    name: str
    title: str
    document: dict[str, Any]
    text: str
    claims: Sequence[Claim]
    draw: Callable[[Any], None]


def markdown_table(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [heading, ["---"] * len(heading), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_findings(found: Findings, folder: Path) -> list[Path]:
    """Write NAME.json, NAME.md and NAME.png into a folder, each whole or not at all; returns the paths."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "drawing results") from None
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}: make it first")
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    found.draw(figure)
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=150, metadata={"Software": None})
    document = {**found.document, "claims": [asdict(claim) for claim in found.claims]}
    contents = {
        "json": (json.dumps(document, indent=1) + "\n").encode(),
        "md": _page(found).encode(),
        "png": picture.getvalue(),
    }
    paths = []
    for ending, data in contents.items():
        path = folder / f"{found.name}.{ending}"
        with write_whole(path) as file:
            file.write(data)
        paths.append(path)
    return paths


def _page(found: Findings) -> str:
    parts = [f"# {found.title}", found.text, f"![{found.title}]({found.name}.png)"]
    if found.claims:
        parts.append("## What the paper claims")
        for claim in found.claims:
            parts.append(f"**{claim.verdict.capitalize()}**: {claim.statement}\n\n{claim.evidence}\n\nRule: {claim.rule}")
    return "\n\n".join(parts) + "\n"
