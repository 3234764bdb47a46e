"""The whole report as one HTML page that needs nothing else: pictures inside, light and dark, readable on a telephone."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.util import find_spec

from privact.errors import MissingExtraError
from privact.experiments.report.findings import Claim
from privact.experiments.report.markdown_report import TITLE, claims_of, how_made, lead, section_text
from privact.experiments.report.section_result import SectionResult
from privact.experiments.report.style import STYLE

__all__ = ["html_report", "require_markdown"]

KIND = {"holds": "holds", "holds with a caveat": "caveat", "does not hold": "fails", "too few runs to tell": "open"}


def html_report(done: Sequence[SectionResult], quick: bool) -> str:
    """The report as HTML."""
    contents = "".join(f'<li><a href="#{each.experiment.name}">{escape(each.experiment.title)}</a></li>' for each in done)
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{TITLE}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
            f"<header><h1>{TITLE}</h1>{_html(lead(done, quick))}</header>\n<main>",
            f'<section id="claims"><h2>Claims</h2>{_summary(done)}</section>',
            '<nav aria-label="Contents"><h2>Contents</h2>',
            f'<ol>{contents}<li><a href="#made">How it was made</a></li></ol></nav>',
            *(_section(each, done) for each in done),
            f'<section id="made" class="page"><h2>How it was made</h2>{_html(how_made(done, quick))}</section>',
            "</main>\n</body>\n</html>\n",
        ]
    )


def require_markdown() -> None:
    """Raise MissingExtraError where the report could not be written: before hours of work, not after."""
    for package in ("markdown", "matplotlib"):
        if find_spec(package) is None:
            raise MissingExtraError(package, "plot", "writing the report")


def _summary(done: Sequence[SectionResult]) -> str:
    rows = []
    for each in done:
        link = f'<a href="#{each.experiment.name}">{each.experiment.name}</a>'
        if each.failure is not None:
            rows.append((link, '<span class="verdict fails">failed</span>', escape(each.failure)))
        rows += [(link, _verdict(claim), escape(claim.statement)) for claim in claims_of(each, done)]
    heading = "<thead><tr><th>section</th><th>verdict</th><th>claim</th></tr></thead>"
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<table class="claims">{heading}<tbody>{body}</tbody></table>'


def _section(each: SectionResult, done: Sequence[SectionResult]) -> str:
    title = escape(each.experiment.title)
    heading = f'<section id="{each.experiment.name}" class="page"><h2>{title}</h2>'
    if each.failure is not None:
        return f"{heading}<p><strong>This section failed</strong>: <code>{escape(each.failure)}</code></p></section>"
    picture = f"data:image/png;base64,{b64encode(each.picture).decode()}"
    claims = [
        f'<div class="claim"><p>{_verdict(claim)} {escape(claim.statement)}</p><p>{escape(claim.evidence)}</p>'
        f'<p class="rule">Rule: {escape(claim.rule)}</p></div>'
        for claim in claims_of(each, done)
    ]
    return "\n".join(
        [
            f"{heading}{_html(section_text(each))}",
            f'<figure tabindex="0"><img src="{picture}" alt="{title}: the numbers of this section as a picture"></figure>',
            *claims,
            f"<h3>What is different, and why</h3>{_html(each.experiment.different)}</section>",
        ]
    )


def _verdict(claim: Claim) -> str:
    return f'<span class="verdict {KIND[claim.verdict]}">{claim.verdict}</span>'


def _html(text: str) -> str:
    """Markdown as HTML, each table in a box of its own that scrolls."""
    from markdown import markdown  # type: ignore[import-untyped]

    found: str = markdown(text, extensions=["tables"], output_format="html")
    box = '<div class="scroll" role="group" aria-label="table" tabindex="0"><table>'
    return found.replace("<table>", box).replace("</table>", "</table></div>")
