"""Every link, anchor and picture of the written pages leads somewhere, on the site and in the repository."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown.extensions.toc import slugify

from hook import generated_pages

from .fences import DOCS, PAGES, ROOT, without_fences

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
_HEADING = re.compile(r"(?m)^#{1,6} (.+?)\s*$")


@cache
def made() -> dict[Path, str]:
    """Pages that exist on the site only."""
    return {DOCS / address: text for address, text in generated_pages().items()}


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings."""
    return {slugify(re.sub(r"[`*]", "", heading), "-") for heading in _HEADING.findall(re.sub(r"(?ms)^```.*?^```", "", text))}


def broken(page: Path, link: str) -> str:
    """Why a link of a page leads nowhere; empty if it does lead somewhere."""
    if re.match(r"[a-z]+:", link):
        return "" if link.startswith("https://") else f"{link} is neither https nor of this repository"
    path, _, anchor = unquote(link).partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() and target not in made():
        return f"{link}: there is no {target.relative_to(ROOT) if target.is_relative_to(ROOT) else target}"
    if not anchor:
        return ""
    text = made().get(target) or target.read_text(encoding="utf-8")
    if anchor.startswith("privact."):
        return "" if _is_name(anchor, text) else f"{link}: no such name on that page"
    return "" if anchor in anchors(text) else f"{link}: no such heading"


def _is_name(dotted: str, page: str) -> bool:
    """Whether a page of the reference describes a name."""
    return dotted in re.findall(r"(?m)^::: (\S+)$", page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    problems = [broken(page, link) for link in _LINK.findall(without_fences(page))]
    assert [problem for problem in problems if problem] == []


def test_every_link_of_a_made_page_leads_somewhere() -> None:
    problems = [broken(page, link) for page, text in made().items() for link in _LINK.findall(text)]
    assert [problem for problem in problems if problem] == []


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_of_the_site_link_to_nothing_outside_of_it(page: Path) -> None:
    for link in _LINK.findall(without_fences(page)):
        path = link.partition("#")[0]
        assert "://" in link or not path or (page.parent / path).resolve().is_relative_to(DOCS), link


def test_every_picture_is_shown_somewhere() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES) + (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [picture.name for picture in sorted((DOCS / "images").iterdir()) if picture.name not in text] == []


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("operate.md", False),
        ("operate.md#settings", False),
        ("reference/commands.md#privact-learn", False),
        ("reference/python/tree.md#privact.tree.HierarchicalClusterTree", False),
        ("reference/python/tree.md#privact.tree.Nothing", True),
        ("operate.md#no-such-heading", True),
        ("nowhere.md", True),
        ("images/nothing.png", True),
        ("http://plain.example", True),
    ],
)
def test_a_broken_link_is_found(link: str, problem: bool) -> None:
    assert bool(broken(DOCS / "index.md", link)) is problem
