"""The whole report as Markdown: a summary of all claims, a section for each table and figure, and how it was made."""

from __future__ import annotations

import re
from collections.abc import Sequence

from privact.experiments.report.findings import Claim, markdown_table
from privact.experiments.report.section_result import SectionResult

__all__ = ["TITLE", "claims_of", "duration", "how_made", "lead", "markdown_report", "section_text", "spent"]

TITLE = "The paper, reproduced"


def markdown_report(done: Sequence[SectionResult], quick: bool) -> str:
    """The report; pictures are linked, they lie beside it."""
    parts = [f"# {TITLE}", lead(done, quick), "## Claims", _summary(done)]
    for each in done:
        parts += [f"## {each.experiment.title}", section_text(each)]
        if each.failure is None:
            parts.append(f"![{each.experiment.title}]({each.experiment.name}.png)")
            for claim in claims_of(each, done):
                parts.append(f"**{claim.verdict.capitalize()}**: {claim.statement}\n\n{claim.evidence}\n\nRule: {claim.rule}")
            parts.append(f"**What is different, and why.** {each.experiment.different}")
    return "\n\n".join([*parts, "## How it was made", how_made(done, quick)]) + "\n"


def lead(done: Sequence[SectionResult], quick: bool) -> str:
    """What this is, in a few sentences."""
    failed = [each for each in done if each.failure is not None]
    text = (
        "Every table and figure of *Private Hierarchical Clustering in Federated Networks* beside what this product "
        "measures, and measurements of our own. Verdicts and numbers are computed, each verdict by the rule beside it; the "
        "notes on what is different are written by hand. Epsilon is the promise per contact over everything that both ends "
        "report about it in one round; rounds add up. Ratings, and a whole list of contacts at once, are not protected by it."
    )
    if quick:
        text += "\n\n**A quick look**: fewer runs, some networks left out. Where the spread of these runs does not "
        text += "decide a claim, the verdict is *too few runs to tell*; standard deviations of one run are 0."
    if failed:
        text += (
            f"\n\n**{len(failed)} of {len(done)} sections failed**: " + ", ".join(each.experiment.name for each in failed) + "."
        )
    return text


def claims_of(each: SectionResult, done: Sequence[SectionResult]) -> list[Claim]:
    """The claims of a section that no earlier section has made."""
    before = {claim.statement for other in done[: list(done).index(each)] for claim in other.claims}
    return [claim for claim in each.claims if claim.statement not in before]


def section_text(each: SectionResult) -> str:
    """The page of a section as a part of the report: headings one level lower."""
    if each.failure is not None:
        return f"**This section failed**: `{each.failure.replace('`', chr(39))}`"
    return re.sub(r"^(#+ )", r"#\1", each.text, flags=re.MULTILINE)


def _summary(done: Sequence[SectionResult]) -> str:
    rows = []
    for each in done:
        if each.failure is not None:
            rows.append([each.experiment.name, "**Failed**", each.failure.replace("|", "\\|")])
        rows += [[each.experiment.name, f"**{claim.verdict.capitalize()}**", claim.statement] for claim in claims_of(each, done)]
    return markdown_table(["section", "verdict", "claim"], rows)


def how_made(done: Sequence[SectionResult], quick: bool) -> str:
    """Versions, seeds, epsilon and time spent."""
    rows = []
    for each in done:
        made = each.experiment
        epsilon, seeds = (made.quick_epsilon or made.epsilon, made.quick_seeds) if quick else (made.epsilon, made.seeds)
        rows.append([made.name, epsilon, seeds, spent(each)])
    rows.append(["all", "", "", duration(sum(each.seconds for each in done))])
    kinds: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for each in done:
        if each.failure is None:
            kinds.setdefault(each.versions, []).append(each.experiment.name)
    parts = [markdown_table(["section", "epsilon", "seeds", "time spent"], rows)]
    for found, names in kinds.items():
        listed = ", ".join(f"{name} {value}" for name, value in found)
        parts.append(f"Computed with {listed}" + ("." if len(kinds) == 1 else f": {', '.join(names)}."))
    return "\n\n".join([*parts, f"Command: `privact reproduce all{' --quick' if quick else ''}`."])


def spent(each: SectionResult) -> str:
    """The time that a section took when it was computed."""
    return "failed" if each.failure is not None else duration(each.seconds)


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if seconds < 100:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
